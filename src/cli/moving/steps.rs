//! `move backfill` and `move verify`: copies and comparisons while the proxy runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::super::copy::{rate, stop_at_signals};
use super::super::data;
use super::control;
use super::control::ProxyOrder;
use super::plan::MovePlan;
use base::marshal::Types;
use base::schema::CfDef;
use base::util::output::print_line;
use traffic::handover::Answering;
use traffic::queue::OTHER_TABLES;
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
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(..=3600))]
    repair_after: u64,
}

/// Copies the rows of the old server. Those that were written since `start` are there already, or come by the queue.
pub(super) fn backfill(args: &StepArgs, types: &Types) -> Result<(), String> {
    let progress_file = Some(args.directory.join("backfill.json"));
    let options = CopyOptions { task: Task::Copy, progress_file, ..CopyOptions::default() };
    let _lock = control::lock_steps(&args.directory)?;
    if control::running(&args.directory)?.answering != Answering::Old {
        return Err("the new server answers already: its rows are newer than those of the old one".to_owned());
    }
    run(args, types, options)?;
    control::note(&args.directory, "backfilled")
}

/// Compares both servers, and repairs the one that does not answer.
pub(super) fn verify(args: &VerifyArgs, types: &Types) -> Result<(), String> {
    let directory = &args.step.directory;
    let proxy = directory.clone();
    let pause = RepairPause {
        time: Duration::from_secs(args.repair_after),
        // A write that is in the queue would be added to a counter twice.
        have_arrived: Arc::new(move |ago| {
            control::running(&proxy).map(|status| status.queue().oldest_s < ago.as_secs().max(1))
        }),
    };
    let options = CopyOptions { task: Task::Verify, repair_after: Some(pause), ..CopyOptions::default() };
    let _lock = control::lock_steps(directory)?;
    // A write that is listed later may be in a table that was compared before it.
    let again = control::running(directory)?.queue().again.clone();
    let families = run(&args.step, types, options)?;
    let compared = again.into_iter().filter(|table| is_compared(&table.table, &families)).collect();
    control::order(directory, ProxyOrder::ClearAgain(compared), false, Duration::from_secs(10))?;
    control::note(directory, "verified")?;
    print_line!("both servers have the same data");
    Ok(())
}

/// Returns whether a table of a queue is one of these, or may be any table: the names are those that a call has.
fn is_compared(table: &str, families: &[Arc<CfDef>]) -> bool {
    table.is_empty()
        || table == OTHER_TABLES
        || families.iter().any(|cf| {
            table == cf.name || table == cf.keyspace || table == format!("{}.{}", cf.keyspace, cf.name)
        })
}

/// Copies or compares, from the server that answers to the other one. Returns the column families.
fn run(args: &StepArgs, types: &Types, options: CopyOptions) -> Result<Vec<Arc<CfDef>>, String> {
    let plan = MovePlan::read(&args.directory)?;
    let status = control::running(&args.directory)?;
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
        Ok(compared.families)
    })
}
