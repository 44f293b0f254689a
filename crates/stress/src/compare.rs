//! Measures a server against the do-nothing server, in rounds that alternate between the two.
//!
//! The speed of machines changes from second to second. So rounds are short, the two servers alternate in going first,
//! and the ratio is the median of the ratios of neighbouring rounds, not the ratio of two medians. The lowest and
//! highest ratio are shown: if they are far apart, measure longer or on a quieter machine.

use super::args::CompareArgs;
use super::do_nothing_child::DoNothingChild;
use super::report;
use super::rounds::{self, RoundRow, Rounds};
use super::run::{self, StressPlan};
use super::workload::StressOperation;
use base::util::output::report_text;

/// The compared operations.
const OPERATIONS: [(&str, StressOperation); 7] = [
    ("insert", StressOperation::Insert),
    ("get", StressOperation::Read),
    ("slice_first", StressOperation::Slice),
    ("slice_last", StressOperation::SliceReversed),
    ("batch", StressOperation::Batch),
    ("cql_insert", StressOperation::CqlInsert),
    ("cql_select", StressOperation::CqlSelect),
];

/// Fills the server, runs the rounds and prints the table.
pub(crate) fn compare(args: &CompareArgs) -> Result<(), String> {
    let (columns, value_size) = (args.columns_per_slice().to_string(), args.data.value_size.to_string());
    let words = ["--columns", &columns, "--value-size", &value_size];
    let do_nothing = DoNothingChild::start(&words, args.busy_poll)?;
    if !args.no_populate {
        let filled = run::execute(&args.plan(StressOperation::Populate)?.populating())?;
        report_text!("{}", report::populated(&filled));
    }
    let mut rows = Vec::new();
    for (name, operation) in OPERATIONS {
        let server_plan = args.plan(operation)?;
        if !server_plan.is_possible() {
            continue;
        }
        let do_nothing_plan = StressPlan { address: do_nothing.address, ..server_plan.clone() };
        let (mut limit, mut server) = (Rounds::default(), Rounds::default());
        for round in 0..args.rounds {
            if round % 2 == 0 {
                limit.add(&run::execute(&do_nothing_plan)?);
                server.add(&run::execute(&server_plan)?);
            } else {
                server.add(&run::execute(&server_plan)?);
                limit.add(&run::execute(&do_nothing_plan)?);
            }
        }
        rows.push(RoundRow { name, limit, server });
    }
    rounds::print("do-nothing", &rows, args.json);
    Ok(())
}
