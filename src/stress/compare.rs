//! Measures a server against the do-nothing server, in rounds that alternate between the two.
//!
//! Machines change their speed from one second to the next. So the rounds are short, the two servers take turns at
//! going first, and the ratio is the median of the ratios of neighbouring rounds, not the ratio of two medians. Its
//! lowest and highest are shown: where they lie far apart, measure longer or on a quieter machine.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::args::CompareArgs;
use super::do_nothing::LISTENING;
use super::report::{self, number, object};
use super::run::{self, Outcome, Plan};
use super::workload::Operation;

/// What is compared.
const OPERATIONS: [(&str, Operation); 7] = [
    ("insert", Operation::Insert),
    ("get", Operation::Read),
    ("slice_first", Operation::Slice),
    ("slice_last", Operation::SliceReversed),
    ("batch", Operation::Batch),
    ("cql_insert", Operation::CqlInsert),
    ("cql_select", Operation::CqlSelect),
];

/// Fills the server, runs the rounds and prints the table.
pub fn compare(args: &CompareArgs) -> Result<(), String> {
    let do_nothing = DoNothing::start(args)?;
    if !args.no_populate {
        let filled = run::execute(&args.plan(Operation::Populate)?.populating())?;
        eprint!("{}", report::populated(&filled));
    }
    let mut rows = Vec::new();
    for (name, operation) in OPERATIONS {
        let server_plan = args.plan(operation)?;
        if !server_plan.is_possible() {
            continue;
        }
        let do_nothing_plan = Plan { address: do_nothing.address, ..server_plan.clone() };
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
        rows.push(Row { name, limit, server });
    }
    match args.json {
        true => println!("{}", object(rows.iter().map(|row| (row.name, row.json())))),
        false => print!("{}", table(&rows)),
    }
    Ok(())
}

/// A do-nothing server in a child process, which ends with this value.
struct DoNothing {
    child: Child,
    address: SocketAddr,
}

impl DoNothing {
    fn start(args: &CompareArgs) -> Result<DoNothing, String> {
        let said = |error: std::io::Error| format!("start the do-nothing server: {error}");
        let mut child = Command::new(std::env::current_exe().map_err(said)?)
            .args(["stress", "do-nothing-server", "--listen", "127.0.0.1:0", "--exit-with-stdin"])
            .args(["--columns", &args.columns_per_slice().to_string()])
            .args(["--value-size", &args.data.value_size.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(said)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(said)?;
        }
        let address = line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
        match address {
            Some(address) => Ok(DoNothing { child, address }),
            None => {
                stop(&mut child);
                Err(format!("the do-nothing server said '{}' instead of its address", line.trim_end()))
            }
        }
    }
}

impl Drop for DoNothing {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

/// Ends the child and waits for it. It may have ended by itself, which is as good.
fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The rounds of one operation against one server.
#[derive(Debug, Default)]
struct Rounds {
    rates: Vec<f64>,
    p50_us: Vec<f64>,
    p99_us: Vec<f64>,
    columns_per_call: f64,
    failed: u64,
    first_failure: Option<String>,
}

impl Rounds {
    fn add(&mut self, outcome: &Outcome) {
        self.rates.push(outcome.rate());
        for call in outcome.tally.calls.values() {
            self.p50_us.push(call.percentile_us(50.0));
            self.p99_us.push(call.percentile_us(99.0));
            self.columns_per_call = call.columns_per_call();
        }
        self.failed += outcome.tally.failed();
        if let (None, Some((kind, failure))) = (&self.first_failure, outcome.tally.failures.iter().next()) {
            self.first_failure = Some(format!("{kind}: {}", failure.first));
        }
    }

    fn json(&self) -> String {
        object([
            ("ops_per_second", number(median(&self.rates))),
            ("p50_us", number(median(&self.p50_us))),
            ("p99_us", number(median(&self.p99_us))),
            ("columns_per_call", number(self.columns_per_call)),
            ("failed", self.failed.to_string()),
        ])
    }
}

/// One operation against both servers.
struct Row {
    name: &'static str,
    limit: Rounds,
    server: Rounds,
}

impl Row {
    /// The server's rate as a share of the do-nothing server's, of each pair of rounds.
    fn ratios(&self) -> Vec<f64> {
        self.server.rates.iter().zip(&self.limit.rates).map(|(server, limit)| server / limit).collect()
    }

    fn json(&self) -> String {
        let ratios = self.ratios();
        object([
            ("do_nothing", self.limit.json()),
            ("server", self.server.json()),
            ("ratio", number(median(&ratios))),
            ("ratio_lowest", number(lowest(&ratios))),
            ("ratio_highest", number(highest(&ratios))),
        ])
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<12}{:>14}{:>12}{:>8}{:>14}{:>14}{:>10}{:>10}{:>14}\n",
        "operation",
        "do-nothing/s",
        "server/s",
        "ratio",
        "from - to",
        "limit p50 us",
        "p50 us",
        "p99 us",
        "columns/call"
    );
    for row in rows {
        let ratios = row.ratios();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<12}{:>14.0}{:>12.0}{:>8.2}{:>14}{:>14.1}{:>10.1}{:>10.1}{:>14.1}",
            row.name,
            median(&row.limit.rates),
            median(&row.server.rates),
            median(&ratios),
            format!("{:.2} - {:.2}", lowest(&ratios), highest(&ratios)),
            median(&row.limit.p50_us),
            median(&row.server.p50_us),
            median(&row.server.p99_us),
            row.server.columns_per_call
        );
    }
    for row in rows {
        for (who, rounds) in [("do-nothing", &row.limit), ("server", &row.server)] {
            if let Some(first) = &rounds.first_failure {
                let _ =
                    writeln!(text, "error: {} x {} at {who}, the first: {first}", rounds.failed, row.name);
            }
        }
    }
    text
}

/// The middle value, not a number when there is none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => f64::NAN,
        Some(value) if sorted.len() % 2 == 1 => *value,
        Some(upper) => (sorted.get(middle.wrapping_sub(1)).unwrap_or(upper) + upper) / 2.0,
    }
}

/// The lowest value, not a number when there is none.
fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// The highest value, not a number when there is none.
fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!((lowest(&[2.0, 1.0]), highest(&[1.0, 2.0])), (1.0, 2.0));
        assert!(lowest(&[]).is_nan());
    }
}
