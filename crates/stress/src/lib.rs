//! The load tool: clients that put a load on a Thrift server and measure it, and a server that does nothing.
//!
//! `workload` chooses the requests, `dialect` encodes them, `connection` sends them and reads the replies, and `run`
//! runs many connections until the time or the number of operations is used up. `tally` counts and `report` prints.
//! `do_nothing` replies without storing anything: its rate is the limit of the loopback interface and the client, and
//! `compare` measures a server against it. `native` does the same over the CQL native protocol, and `gateway` measures
//! a gateway against its cluster.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod args;
mod compare;
mod connection;
mod cql;
mod dialect;
mod do_nothing;
mod do_nothing_child;
#[cfg(feature = "driver")]
mod gateway;
#[cfg(not(feature = "driver"))]
#[path = "without_driver.rs"]
mod gateway;
mod native;
mod native_client;
mod native_nothing;
mod reply;
mod report;
mod rounds;
mod run;
mod tally;
mod workload;

pub use args::StressArgs;

use args::{LoadArgs, StressCommand};
use base::util::output::{print_line, print_text, report_text};

/// Runs the command.
///
/// # Errors
///
/// The reason why it could not run, or the failed requests, in words.
pub fn run(args: StressArgs) -> Result<(), String> {
    match args.command {
        None => load(&args.load),
        Some(StressCommand::DoNothingServer(args)) => do_nothing::serve(&args),
        Some(StressCommand::Compare(args)) => compare::compare(&args),
        Some(StressCommand::Native(args)) => native::compare(&args),
        Some(StressCommand::Gateway(args)) => gateway::compare(&args),
    }
}

/// Runs one load: fills the rows first if requested, then measures.
fn load(args: &LoadArgs) -> Result<(), String> {
    let plan = args.plan()?;
    if args.populate {
        let filled = run::execute(&plan.populating())?;
        report_text!("{}", report::populated(&filled));
    }
    let outcome = run::execute(&plan)?;
    if args.json {
        print_line!("{}", report::json(&plan, &outcome));
    } else {
        print_text!("{}", report::text(&plan, &outcome));
    }
    match outcome.tally.succeeded() {
        0 => Err("no operation succeeded".to_owned()),
        _ => Ok(()),
    }
}
