//! The load tool: clients that keep a Thrift server busy and measure it, and a server that does nothing.
//!
//! `workload` decides what to ask, `dialect` writes it down, `connection` sends it and reads the answers, `run`
//! drives many connections until the time or the operations are used up, `tally` counts and `report` prints.
//! `do_nothing` answers without storing: what it reaches is the limit that the loopback and the client set, and
//! `compare` measures a server against it. `native` does the same over the CQL native protocol, and
//! `gateway` measures a server before a cluster against the cluster itself.

mod args;
mod compare;
mod connection;
mod cql;
mod dialect;
mod do_nothing;
mod do_nothing_child;
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

/// Runs what the command line asks for, until it is done.
pub fn run(args: StressArgs) -> Result<(), String> {
    match args.command {
        None => load(&args.load),
        Some(StressCommand::DoNothingServer(args)) => do_nothing::serve(&args),
        Some(StressCommand::Compare(args)) => compare::compare(&args),
        Some(StressCommand::Native(args)) => native::compare(&args),
        Some(StressCommand::Gateway(args)) => gateway::compare(&args),
    }
}

/// One load run: fills the rows first if asked to, then measures.
fn load(args: &LoadArgs) -> Result<(), String> {
    let plan = args.plan()?;
    if args.populate {
        let filled = run::execute(&plan.populating())?;
        eprint!("{}", report::populated(&filled));
    }
    let outcome = run::execute(&plan)?;
    match args.json {
        true => println!("{}", report::json(&plan, &outcome)),
        false => print!("{}", report::text(&plan, &outcome)),
    }
    match outcome.tally.succeeded() {
        0 => Err("no operation succeeded".to_owned()),
        _ => Ok(()),
    }
}
