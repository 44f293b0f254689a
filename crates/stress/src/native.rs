//! Measures the CQL native protocol against a do-nothing server: prepared INSERT and SELECT of one row.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;

use tokio::task::LocalSet;

use super::args::NativeLoadArgs;
use super::do_nothing_child::DoNothingChild;
use super::native_client::{LoadStatement, NativeClient, NativeLoad};
use super::report;
use super::rounds::{self, RoundRow, Rounds};
use super::run::{Budget, RunOutcome, Stop};
use super::tally::ReplyTally;
use super::workload::StressCall;
use base::util::output::report_text;

const KEYSPACE: &str = "CREATE KEYSPACE IF NOT EXISTS stress_native \
                        WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS stress_native.standard (key text PRIMARY KEY, value blob)";
const INSERT: &str = "INSERT INTO stress_native.standard (key, value) VALUES (?, ?)";
const SELECT: &str = "SELECT value FROM stress_native.standard WHERE key = ?";

/// Fills the server, runs the rounds and prints the table.
pub(crate) fn compare(args: &NativeLoadArgs) -> Result<(), String> {
    let words = ["--native", "--value-size", &args.value_size.to_string()];
    let do_nothing = DoNothingChild::start(&words, args.busy_poll)?;
    let server = args.address()?;
    let mut client = NativeClient::open(server)?;
    client.query(KEYSPACE)?;
    client.query(TABLE)?;
    let filling = LoadStatement { in_order: true, ..statement(args, server, StressCall::CqlInsert)? };
    report_text!("{}", report::populated(&execute(args, server, &filling, Stop::Operations(args.rows))?));
    let mut rows = Vec::new();
    for (name, call) in [("insert", StressCall::CqlInsert), ("select", StressCall::CqlSelect)] {
        let of_limit = statement(args, do_nothing.address, call)?;
        let of_server = statement(args, server, call)?;
        let stop = Stop::After(args.round()?);
        let (mut limit, mut measured) = (Rounds::default(), Rounds::default());
        for round in 0..args.rounds {
            let is_limit_first = round % 2 == 0;
            for is_limit in [is_limit_first, !is_limit_first] {
                if is_limit {
                    limit.add(&execute(args, do_nothing.address, &of_limit, stop)?);
                } else {
                    measured.add(&execute(args, server, &of_server, stop)?);
                }
            }
        }
        rows.push(RoundRow { name, limit, server: measured });
    }
    rounds::print("do-nothing", &rows, args.json);
    Ok(())
}

/// Prepares the statement of a run.
fn statement(args: &NativeLoadArgs, address: SocketAddr, call: StressCall) -> Result<LoadStatement, String> {
    let is_insert = call == StressCall::CqlInsert;
    let id = NativeClient::open(address)?.prepare(if is_insert { INSERT } else { SELECT })?;
    let value_bytes = is_insert.then_some(args.value_size);
    Ok(LoadStatement { call, id, rows: args.rows, value_bytes, in_order: false })
}

/// Makes one run on one thread, because it shares the processors with the server.
fn execute(
    args: &NativeLoadArgs,
    address: SocketAddr,
    statement: &LoadStatement,
    stop: Stop,
) -> Result<RunOutcome, String> {
    let failed = |error: std::io::Error| format!("start a client: {error}");
    let mut streams = Vec::new();
    for _ in 0..args.connections {
        streams.push(NativeClient::open(address)?.into_stream().map_err(failed)?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let tally = Rc::new(RefCell::new(ReplyTally::default()));
    let statement = Rc::new(statement.clone());
    let tasks = LocalSet::new();
    let start = Instant::now();
    let budget = Rc::new(Budget::starting(stop, start));
    let inside = runtime.enter();
    for (index, stream) in streams.into_iter().enumerate() {
        let stream = tokio::net::TcpStream::from_std(stream).map_err(failed)?;
        let (statement, budget, tally) = (Rc::clone(&statement), Rc::clone(&budget), Rc::clone(&tally));
        let pipeline = args.pipeline;
        tasks.spawn_local(async move {
            NativeLoad::new(&statement, pipeline, index).drive(stream, &budget, &tally).await;
        });
    }
    drop(inside);
    runtime.block_on(tasks);
    Ok(RunOutcome { elapsed: start.elapsed(), tally: tally.take() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::do_nothing;
    use crate::native_nothing::{Bodies, NativeResponder};

    /// Starts a do-nothing server on a thread, which runs until the tests end.
    fn nothing() -> SocketAddr {
        let bodies = Arc::new(Bodies::new(34));
        do_nothing::tests::serve(move || NativeResponder::new(bodies.clone()))
    }

    #[test]
    fn every_request_is_answered() {
        let address = nothing();
        let args = NativeLoadArgs::of(&address.to_string());
        for call in [StressCall::CqlInsert, StressCall::CqlSelect] {
            let statement = statement(&args, address, call).unwrap();
            let outcome = execute(&args, address, &statement, Stop::Operations(5_000)).unwrap();
            assert_eq!((outcome.tally.succeeded(), outcome.tally.failed()), (5_000, 0), "{call:?}");
        }
    }
}
