//! Runs many connections until the run ends.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::LocalSet;

use super::connection::{self, StressConnection};
use super::dialect::{StressTarget, ThriftDialect};
use super::tally::ReplyTally;
use super::workload::{StressOperation, WorkloadShape};
use wire::thrift::frame::Transport;

/// The parameters of a run.
#[derive(Debug, Clone)]
pub(crate) struct StressPlan {
    pub address: SocketAddr,
    pub transport: Transport,
    pub target: StressTarget,
    pub shape: WorkloadShape,
    pub operation: StressOperation,
    pub connections: usize,
    /// Threads of the connections.
    pub threads: usize,
    /// Concurrent requests of each connection.
    pub pipeline: usize,
    pub seed: u64,
    pub stop: Stop,
}

/// When a run ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stop {
    Operations(u64),
    After(Duration),
}

impl StressPlan {
    /// Returns whether the calls exist: CQL 3 has no super columns, and needs set_keyspace.
    pub(crate) fn is_possible(&self) -> bool {
        let is_cql = self.operation.statement().is_some();
        !is_cql || (self.target.dialect == ThriftDialect::Session && self.target.super_column.is_none())
    }

    /// Returns the same plan, but writing every column of every row once.
    pub(crate) fn populating(&self) -> StressPlan {
        let stop = Stop::Operations(self.shape.populate_requests());
        StressPlan { operation: StressOperation::Populate, stop, ..self.clone() }
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    /// From the first request to the last reply.
    pub elapsed: Duration,
    pub tally: ReplyTally,
}

impl RunOutcome {
    /// Returns successful operations a second.
    pub(crate) fn rate(&self) -> f64 {
        self.tally.succeeded() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Counts the requests of a run until their number or the time is used up.
#[derive(Debug)]
pub(crate) struct Budget {
    issued: AtomicU64,
    limit: u64,
    deadline: Option<Instant>,
}

impl Budget {
    pub(crate) fn starting(stop: Stop, start: Instant) -> Budget {
        let (limit, deadline) = match stop {
            Stop::Operations(count) => (count, None),
            Stop::After(duration) => (u64::MAX, Some(start + duration)),
        };
        Budget { issued: AtomicU64::new(0), limit, deadline }
    }

    /// Returns the number of the next request; `None` if the budget is used up.
    pub(crate) fn take(&self, now: Instant) -> Option<u64> {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return None;
        }
        let number = self.issued.fetch_add(1, Ordering::Relaxed);
        (number < self.limit).then_some(number)
    }
}

/// Opens the connections and runs them until the plan's end.
pub(crate) fn execute(plan: &StressPlan) -> Result<RunOutcome, String> {
    let streams = (0..plan.connections).map(|_| connection::open(plan)).collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    let plan = Arc::new(plan.clone());
    let budget = Arc::new(Budget::starting(plan.stop, start));
    let mut shares: Vec<Vec<(usize, TcpStream)>> = (0..plan.threads).map(|_| Vec::new()).collect();
    for (index, stream) in streams.into_iter().enumerate() {
        shares[index % plan.threads].push((index, stream));
    }
    let mut threads = Vec::new();
    for share in shares {
        let (plan, budget) = (Arc::clone(&plan), Arc::clone(&budget));
        let name = thread::Builder::new().name("stress".to_owned());
        let thread = name.spawn(move || drive_share(&plan, &budget, share));
        threads.push(thread.map_err(|error| format!("start a thread: {error}"))?);
    }
    if std::io::stderr().is_terminal() {
        show_progress(&plan, &budget, start, || threads.iter().all(thread::JoinHandle::is_finished));
    }
    let mut tally = ReplyTally::default();
    for thread in threads {
        tally.merge(thread.join().map_err(|_| "a client thread panicked".to_owned())??)?;
    }
    Ok(RunOutcome { elapsed: start.elapsed(), tally })
}

/// Runs some of the connections on this thread.
fn drive_share(
    plan: &Arc<StressPlan>,
    budget: &Arc<Budget>,
    share: Vec<(usize, TcpStream)>,
) -> Result<ReplyTally, String> {
    let failed = |error: std::io::Error| format!("start a client: {error}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let tally = Rc::new(RefCell::new(ReplyTally::default()));
    let tasks = LocalSet::new();
    let _inside = runtime.enter();
    for (index, stream) in share {
        let stream = tokio::net::TcpStream::from_std(stream).map_err(failed)?;
        let (plan, budget, tally) = (Arc::clone(plan), Arc::clone(budget), Rc::clone(&tally));
        tasks.spawn_local(
            async move { StressConnection::new(&plan, index).drive(stream, &budget, &tally).await },
        );
    }
    runtime.block_on(tasks);
    Ok(tally.take())
}

/// Displays a progress bar until the run ends.
fn show_progress(plan: &StressPlan, budget: &Budget, start: Instant, finished: impl Fn() -> bool) {
    let total = match plan.stop {
        Stop::Operations(count) => count,
        Stop::After(duration) => duration.as_millis() as u64,
    };
    let bar = ProgressBar::new(total);
    if let Ok(style) =
        ProgressStyle::with_template("{wide_bar} {percent}% {msg}, {elapsed} elapsed, {eta} left")
    {
        bar.set_style(style);
    }
    while !finished() {
        thread::sleep(Duration::from_millis(100));
        let issued = budget.issued.load(Ordering::Relaxed).min(budget.limit);
        bar.set_position(match plan.stop {
            Stop::Operations(_) => issued,
            Stop::After(_) => (start.elapsed().as_millis() as u64).min(total),
        });
        bar.set_message(format!("{:.0} ops/s", issued as f64 / start.elapsed().as_secs_f64()));
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::do_nothing;
    use crate::workload::StressCall;

    fn plan(address: SocketAddr, operation: StressOperation) -> StressPlan {
        StressPlan {
            address,
            transport: Transport::Unframed,
            target: StressTarget {
                dialect: ThriftDialect::Keyed,
                keyspace: "Keyspace1".to_owned(),
                column_family: "Standard1".to_owned(),
                super_column: None,
                consistency: 1,
            },
            shape: WorkloadShape {
                rows: 10,
                columns: 250,
                batch_columns: 5,
                value_bytes: 34,
                slice_count: 10,
            },
            operation,
            connections: 3,
            threads: 2,
            pipeline: 1,
            seed: 1,
            stop: Stop::Operations(500),
        }
    }

    #[test]
    fn all_operations_succeed_in_all_dialects() {
        let address = do_nothing::tests::start(10, 34);
        for operation in [
            StressOperation::Insert,
            StressOperation::Read,
            StressOperation::Slice,
            StressOperation::SliceReversed,
            StressOperation::Batch,
            StressOperation::CqlInsert,
            StressOperation::CqlSelect,
            StressOperation::Mixed,
        ] {
            for (dialect, transport, pipeline) in [
                (ThriftDialect::Keyed, Transport::Unframed, 1),
                (ThriftDialect::Keyed, Transport::Framed, 8),
                (ThriftDialect::Session, Transport::Framed, 1),
                (ThriftDialect::Session, Transport::Unframed, 8),
            ] {
                let mut plan = StressPlan { transport, pipeline, ..plan(address, operation) };
                plan.target.dialect = dialect;
                if !plan.is_possible() {
                    continue;
                }
                let outcome = execute(&plan).unwrap();
                assert_eq!(outcome.tally.succeeded(), 500, "{plan:?}: {outcome:?}");
                assert_eq!(outcome.tally.failed(), 0);
                if let Some(slices) = outcome.tally.calls.get(&StressCall::GetSlice) {
                    assert_eq!(slices.columns_per_call(), 10.0);
                }
            }
        }
    }

    #[test]
    fn populating_writes_each_batch_of_each_row_once() {
        let outcome =
            execute(&plan(do_nothing::tests::start(10, 34), StressOperation::Read).populating()).unwrap();
        assert_eq!(outcome.tally.succeeded(), 10 * 3);
    }

    #[test]
    fn a_run_ends_after_its_time() {
        let plan = StressPlan {
            stop: Stop::After(Duration::from_millis(50)),
            ..plan(do_nothing::tests::start(10, 34), StressOperation::Read)
        };
        let outcome = execute(&plan).unwrap();
        assert!(outcome.elapsed >= Duration::from_millis(50));
        assert!(outcome.tally.succeeded() > 0);
    }

    #[test]
    fn a_server_that_closes_connections_is_an_error() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || listener.incoming().for_each(drop));
        let outcome = execute(&plan(address, StressOperation::Insert)).unwrap();
        assert_eq!(outcome.tally.connections_lost, 3);
        assert_eq!(outcome.tally.succeeded(), 0);
        assert_eq!(outcome.tally.failed(), 3);
    }
}
