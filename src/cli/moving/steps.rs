//! `move backfill` and `move verify`: copies and comparisons while the proxy runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;

use super::super::copy::{rate, stop_at_signals};
use super::super::data;
use super::control;
use super::control::{MoveStatus, ProxyOrder};
use super::plan::MovePlan;
use crate::cli::Result;
use base::marshal::Types;
use base::schema::{CfDef, FamilyName};
use base::util::listed;
use base::util::output::print_line;
use traffic::handover::Answering;
use traffic::queue::{OTHER_TABLES, QueueStatus, QueueTable};
use transfer::copy::{CopyOptions, DEFAULT_PARALLEL, RepairPause, Selection, Task, compare_schemas};
use transfer::endpoint::DEFAULT_ROWS;
use transfer::{RateLimit, copy};

#[derive(Debug, Args)]
pub(super) struct StepArgs {
    /// The directory of the move
    directory: PathBuf,
    /// Read at most so many megabytes per second from each server, such as 0.5 or 20 [default: no limit]
    #[arg(long, value_name = "MB", value_parser = rate)]
    rate: Option<f64>,
    /// Maximum number of rows of a page; fewer if rows are large
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ROWS, value_parser = clap::value_parser!(u16).range(2..=10_000))]
    rows_at_a_time: u16,
    /// Pieces of about 128 KiB that are written or looked up concurrently
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PARALLEL, value_parser = clap::value_parser!(u16).range(1..=256))]
    parallel: u16,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    step: StepArgs,
    /// The pause before differences are looked at again, in seconds; longer if the queue has older writes
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    repair_after: u64,
    /// Compare even if the server that answers lacks writes of the other server, and delete them there
    #[arg(long)]
    force: bool,
}

/// The time without any progress of a queue after which a comparison does not wait for it any more.
const STUCK: Duration = Duration::from_secs(60);

/// Waits for the writes of a queue.
#[derive(Default)]
struct QueueArrival {
    /// The number of sent writes when it last changed, and the time of that change.
    progress: Mutex<Option<(u64, Instant)>>,
}

impl QueueArrival {
    /// Returns whether the queue has sent all writes that are older than `ago`. `age` is the age of the status.
    fn look(&self, queue: &QueueStatus, age: Duration, ago: Duration) -> Result<bool> {
        // Whole seconds: the oldest write may be nearly a second older.
        let oldest = if queue.unsent == 0 { 0 } else { queue.oldest_s + 1 };
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if age + Duration::from_secs(oldest) < ago {
            *progress = None;
            return Ok(true);
        }
        match &*progress {
            Some((sent, since)) if *sent == queue.sent => {
                if since.elapsed() < STUCK {
                    return Ok(false);
                }
                let why = queue.trouble.as_deref().unwrap_or("the other server acknowledges none");
                Err(format!("{} writes wait in the queue and are not sent: {why}", queue.unsent))
            }
            _ => {
                *progress = Some((queue.sent, Instant::now()));
                Ok(false)
            }
        }
    }
}

/// Refuses a comparison that would delete writes which the server that answers lacks.
fn check_other_list(other: &[QueueTable], directory: &Path) -> Result<()> {
    let Some(first) = other.first() else { return Ok(()) };
    let directory = directory.display();
    Err(format!(
        "the server that answers lacks writes from before the switch, first in {} ({}): a comparison would delete them from \
         the other server. Switch back with --force, run `thriftstore move verify {directory}`, and switch again; or use \
         --force to give them up",
        first.shown(),
        first.reason.text()
    ))
}

/// Copies the rows of the old server. Those that were written since `start` are there already, or come by the queue.
pub(super) fn backfill(args: &StepArgs, types: &Types) -> Result<()> {
    let progress_file = Some(args.directory.join("backfill.json"));
    let options = CopyOptions { task: Task::Copy, progress_file, ..CopyOptions::default() };
    let _lock = control::lock_steps(&args.directory)?;
    let status = control::running(&args.directory)?;
    if status.answering != Answering::Old {
        return Err("the new server answers already: its rows are newer than those of the old one".to_owned());
    }
    run(args, types, &status, options)?;
    control::note(&args.directory, "backfilled")
}

/// Compares both servers, and repairs the one that does not answer.
pub(super) fn verify(args: &VerifyArgs, types: &Types) -> Result<()> {
    let directory = &args.step.directory;
    let (proxy, arrival) = (directory.clone(), QueueArrival::default());
    let pause = RepairPause {
        time: Duration::from_secs(args.repair_after),
        // A write that is in the queue would be added to a counter twice.
        have_arrived: Arc::new(move |ago| {
            let status = control::running(&proxy)?;
            arrival.look(status.queue(), status.age(), ago)
        }),
    };
    let options = CopyOptions { task: Task::Verify, repair_after: Some(pause), ..CopyOptions::default() };
    let _lock = control::lock_steps(directory)?;
    // A write that is listed later may be in a table that was compared before it.
    let status = control::running(directory)?;
    let mut again = status.queue().again.clone();
    if args.force {
        again.extend_from_slice(&status.other_queue().again);
    } else {
        check_other_list(&status.other_queue().again, directory)?;
    }
    let compared = run(&args.step, types, &status, options)?;
    if !compared.left_out.is_empty() && again.iter().any(|table| is_any(&table.table)) {
        let names = listed(&compared.left_out, LEFT_OUT_MAX);
        print_line!("not compared, because the other server lacks them: {names}; so any table stays listed");
    }
    let compared = again.into_iter().filter(|table| compared.has(&table.table)).collect();
    control::order(directory, ProxyOrder::ClearAgain(compared), false, Duration::from_secs(10))?;
    control::note(directory, "verified")?;
    print_line!("both servers have the same data");
    Ok(())
}

/// Names of column families that are printed; further ones are counted.
const LEFT_OUT_MAX: usize = 20;

/// Returns whether an entry of a queue may be any table.
fn is_any(table: &str) -> bool {
    table.is_empty() || table == OTHER_TABLES
}

/// The column families that a step has copied or compared.
struct ComparedFamilies {
    families: Vec<Arc<CfDef>>,
    /// `KEYSPACE.FAMILY` of those that the other server lacks.
    left_out: Vec<String>,
}

impl ComparedFamilies {
    /// Returns whether a table of a queue is compared. The names are those that a call has.
    fn has(&self, table: &str) -> bool {
        if is_any(table) {
            return self.left_out.is_empty();
        }
        self.families
            .iter()
            .any(|cf| table == cf.name || table == cf.keyspace || table == FamilyName::of(cf).to_string())
    }
}

/// Copies or compares, from the server that answers to the other one.
fn run(
    args: &StepArgs,
    types: &Types,
    status: &MoveStatus,
    options: CopyOptions,
) -> Result<ComparedFamilies> {
    let plan = MovePlan::read(&args.directory)?;
    if let Some(trouble) = &status.queue().trouble {
        return Err(format!("the writes are not sent: {trouble}"));
    }
    data::run(async {
        let servers = plan.open(types).await?;
        let options = CopyOptions {
            rate: RateLimit(args.rate),
            rows_at_a_time: args.rows_at_a_time.into(),
            parallel: args.parallel.into(),
            interruption: stop_at_signals()?,
            // The old server may lack those that only the new one needs.
            selection: Selection {
                skips_missing: status.answering == Answering::New,
                ..Selection::default()
            },
            ..options
        };
        let (from, to) = match status.answering {
            Answering::Old => (servers.from, servers.to),
            Answering::New => (servers.to, servers.from),
        };
        let ended = copy::run(from.clone(), to.clone(), servers.clock, &options).await;
        ended.map_err(|error| error.to_string())?;
        let compared = compare_schemas(&from, &to, &options.selection).map_err(|error| error.to_string())?;
        let keyspaces = from.keyspaces();
        let families = keyspaces.iter().flat_map(|keyspace| keyspace.column_families.values());
        let left_out = families.filter(|cf| to.column_family(&cf.keyspace, &cf.name).is_none());
        Ok(ComparedFamilies {
            left_out: left_out.map(|cf| FamilyName::of(cf).to_string()).collect(),
            families: compared.families,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::queue::AgainReason;

    #[test]
    fn writes_have_arrived_once_the_status_is_newer_than_the_oldest() {
        let mut queue = QueueStatus {
            unsent: 3,
            sent: 9,
            bytes: 100,
            oldest_s: 3,
            trouble: Some("no server".to_owned()),
            again: Vec::new(),
        };
        let (arrival, ms) = (QueueArrival::default(), Duration::from_millis);
        assert_eq!(arrival.look(&queue, ms(900), ms(4900)), Ok(false));
        assert_eq!(arrival.look(&queue, ms(900), ms(4901)), Ok(true));
        queue.unsent = 0;
        assert_eq!(arrival.look(&queue, ms(900), ms(900)), Ok(false));
        assert_eq!(arrival.look(&queue, ms(900), ms(901)), Ok(true));
        *arrival.progress.lock().unwrap() = Instant::now().checked_sub(STUCK).map(|since| (9, since));
        assert!(arrival.look(&queue, ms(900), ms(900)).unwrap_err().ends_with("no server"));
        queue.sent = 10;
        assert_eq!(arrival.look(&queue, ms(900), ms(900)), Ok(false));
    }

    #[test]
    fn a_list_of_the_other_direction_refuses_a_comparison() {
        let table = QueueTable {
            table: "k.a".to_owned(),
            reason: AgainReason::Full,
            error: String::new(),
            writes: 1,
            first_us: 1,
            last_us: 1,
        };
        assert_eq!(check_other_list(&[], Path::new("moving")), Ok(()));
        assert!(
            check_other_list(&[table], Path::new("moving")).unwrap_err().contains("k.a (the queue was full)")
        );
    }

    #[test]
    fn any_table_is_compared_only_if_none_was_left_out() {
        let mut compared = ComparedFamilies { families: Vec::new(), left_out: Vec::new() };
        assert!(compared.has("") && compared.has(OTHER_TABLES) && !compared.has("k.a"));
        compared.left_out.push("k.a".to_owned());
        assert!(!compared.has("") && !compared.has(OTHER_TABLES));
    }
}
