//! `thriftstore copy`: copies column families from one store to another, and compares both.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::cluster::ClusterArgs;
use super::data;
use super::message::load_config;
use super::process::StopSignals;
use crate::cli::Result;
use base::marshal::Types;
use base::partitioner;
use base::schema::{Catalog, FamilyName};
use base::util::Clock;
use base::util::output::{print_line, report_line};
use config::Config;
use embedded::inspect;
use transfer::copy::{CopyOptions, DEFAULT_PARALLEL, RepairPause, Selection, Task};
use transfer::endpoint::{DEFAULT_ROWS, Endpoint, Location, OpenOptions};
use transfer::{Interruption, RateLimit, TransferError, copy, endpoint};

#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// The source: `data:DIRECTORY` (its server must not be running), `thrift:HOST:PORT` (any Thrift server; `?framed`,
    /// `?unframed` and `?version=0.6` may follow) or `cluster:HOST:PORT,HOST:PORT`; `cluster` alone is the
    /// configuration's
    #[arg(long, value_name = "WHERE")]
    from: Location,
    /// The target: `data:DIRECTORY`, which is created if it does not exist, `thrift:HOST:PORT` for a running server,
    /// `cluster:HOST:PORT,HOST:PORT`, or `sstables:DIRECTORY` for SSTables that Cassandra 3.11, 4 and 5 load
    #[arg(long, value_name = "WHERE")]
    to: Location,
    /// The configuration of both sides: its column families and, for a data directory, its Partitioner [default: as for
    /// `serve`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The partitioner of a data directory that does not exist yet [default: the configuration's; without a configuration,
    /// the source's]
    #[arg(long, value_name = "CLASS")]
    partitioner: Option<String>,
    /// The configuration of the target, if it has another
    #[arg(long, value_name = "FILE")]
    to_config: Option<PathBuf>,
    /// Only this keyspace [default: all]
    #[arg(long, value_name = "NAME")]
    keyspace: Option<String>,
    /// Only the column family of this name [default: all]
    #[arg(long, value_name = "NAME")]
    column_family: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Skip tables created by CQL if the target is a cluster, which cannot store them
    #[arg(long)]
    skip_cql_tables: bool,
    /// Record the progress in this file; the same command with the same file continues there
    #[arg(long, value_name = "FILE", conflicts_with = "verify_only")]
    progress_file: Option<PathBuf>,
    /// Compare both sides after copying
    #[arg(long)]
    verify: bool,
    /// Copy nothing, only compare both sides
    #[arg(long, conflicts_with = "verify")]
    verify_only: bool,
    /// Look at each difference again, and repair in the target what still differs: by the timestamps, and counters by their
    /// totals. The source is right: the target loses what the source does not have
    #[arg(long)]
    repair: bool,
    /// The pause before differences are looked at again, in seconds: writes to both sides must have arrived within it
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "repair", value_parser = clap::value_parser!(u64).range(..=3600))]
    repair_after: u64,
    /// Maximum number of rows of a page from a Thrift server or a cluster; fewer if rows are large
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ROWS, value_parser = clap::value_parser!(u16).range(2..=10_000))]
    rows_at_a_time: u16,
    /// Pieces of about 128 KiB that are written or looked up concurrently
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PARALLEL, value_parser = clap::value_parser!(u16).range(1..=256))]
    parallel: u16,
    /// Read at most so many megabytes per second from the source, such as 0.5 or 20; comparing, from each side [default: no
    /// limit]
    #[arg(long, value_name = "MB", value_parser = rate)]
    rate: Option<f64>,
}

/// Bytes of the unit of `--rate`.
const MB: f64 = 1_000_000.0;

pub(super) fn rate(text: &str) -> Result<f64> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.map(|rate| rate * MB).ok_or_else(|| format!("{text:?} is not a number of megabytes above 0"))
}

pub(super) fn copy(args: &CopyArgs, types: &Types) -> Result<()> {
    if args.from.to_string() == args.to.to_string() {
        return Err(format!("{} is both the source and the target", args.from));
    }
    if args.repair && !args.verify && !args.verify_only {
        return Err("--repair repairs what a comparison finds: add --verify or --verify-only".to_owned());
    }
    if matches!(args.to, Location::Sstables(_))
        && (args.verify || args.verify_only || args.progress_file.is_some())
    {
        return Err(
            "SSTables are written in one run and not compared: leave out --progress-file and --verify"
                .to_owned(),
        );
    }
    let mut config = load_config(args.config.as_deref(), types)?;
    let has_file = args.config.is_some() || Path::new(config::FILE_NAME).exists();
    if !has_file {
        config = of_directory(config, &args.from);
    }
    let to_config = match &args.to_config {
        Some(file) => load_config(Some(file), types)?,
        None => {
            let named = args.partitioner.as_deref().map(data::partitioner_named).transpose()?;
            let partitioner = named.unwrap_or_else(|| config.partitioner.clone());
            let to_config = Config { partitioner, ..config.clone() };
            if has_file { to_config } else { of_directory(to_config, &args.to) }
        }
    };
    data::run(copy_between(args, types, &config, &to_config))
}

/// Returns a configuration without a file for a side: with the partitioner that a data directory has, and without the column
/// families of the built-in configuration that it does not have.
pub(super) fn of_directory(config: Config, side: &Location) -> Config {
    let mut config = config;
    let Location::Data(directory) = side else { return config };
    // A damaged or missing directory is reported when it is opened.
    let Ok(found) = inspect(directory, None) else { return config };
    if let Some(partitioner) = partitioner::resolve(&found.partitioner) {
        config.partitioner = partitioner;
    }
    let mut catalog = Catalog::default();
    for keyspace in config.catalog.keyspaces.values() {
        let mut keyspace = keyspace.clone();
        keyspace.column_families.retain(|_, cf| found.families.contains(&FamilyName::of(cf)));
        if !keyspace.column_families.is_empty() {
            catalog.keyspaces.insert(keyspace.name.clone(), keyspace);
        }
    }
    config.catalog = catalog;
    config
}

async fn copy_between(args: &CopyArgs, types: &Types, config: &Config, to_config: &Config) -> Result<()> {
    let clock = Arc::new(Clock::system());
    let interruption = stop_at_signals()?;
    let options = CopyOptions {
        task: match (args.verify, args.verify_only) {
            (_, true) => Task::Verify,
            (true, false) => Task::CopyAndVerify,
            (false, false) => Task::Copy,
        },
        selection: Selection {
            keyspace: args.keyspace.clone(),
            column_family: args.column_family.clone(),
            skips_tables: args.skip_cql_tables,
            ..Selection::default()
        },
        progress_file: args.progress_file.clone(),
        rows_at_a_time: args.rows_at_a_time.into(),
        parallel: args.parallel.into(),
        repair_after: args.repair.then(|| RepairPause::of(Duration::from_secs(args.repair_after))),
        rate: RateLimit(args.rate),
        interruption,
    };
    let message = |error: TransferError| error.to_string();
    let creates = options.task != Task::Verify;
    let from_cluster = args.cluster.options_of(&args.from, config.cluster.as_ref())?;
    let to_cluster = args.cluster.options_of(&args.to, to_config.cluster.as_ref())?;
    let open = |config, cluster, creates| OpenOptions {
        config,
        types,
        clock: clock.clone(),
        cluster,
        keyspace: args.keyspace.as_deref(),
        creates,
    };
    let from =
        endpoint::open(&args.from, &open(config, from_cluster.as_ref(), false)).await.map_err(message)?;
    let from = Arc::new(from);
    if let Location::Sstables(directory) = &args.to {
        let exported = export(&from, directory, &options).await;
        return exported.and(close(&[&from]).await);
    }
    let to = match endpoint::open(&args.to, &open(to_config, to_cluster.as_ref(), creates)).await {
        Ok(to) => Arc::new(to),
        Err(error) => {
            close(&[&from]).await?;
            return Err(error.to_string());
        }
    };
    let outcome = copy::run(from.clone(), to.clone(), clock.clone(), &options).await;
    let closed = close(&[&to, &from]).await;
    outcome.map_err(message)?;
    closed
}

/// Writes SSTables, and prints how many.
async fn export(from: &Arc<Endpoint>, directory: &Path, options: &CopyOptions) -> Result<()> {
    if !from.can_dump() {
        report_line!("{} only returns live columns: no tombstones are written", from.name);
    }
    let exported = copy::export(from, directory, options).await.map_err(|error| error.to_string())?;
    print_line!(
        "written: {} column families, {} rows, {} cells in {} SSTables; schema.cql creates their tables",
        exported.families,
        exported.rows,
        exported.cells,
        exported.sstables
    );
    Ok(())
}

async fn close(sides: &[&Endpoint]) -> Result<()> {
    let mut outcome = Ok(());
    for side in sides {
        outcome = outcome.and(side.close().await.map_err(|error| error.to_string()));
    }
    outcome
}

/// Makes the first Ctrl-C stop the copy cleanly, and the second end the program.
pub(super) fn stop_at_signals() -> Result<Interruption> {
    let mut signals = StopSignals::listen()?;
    let interruption = Interruption::default();
    let stop = interruption.clone();
    tokio::spawn(async move {
        loop {
            signals.wait().await;
            if stop.is_stopped() {
                std::process::exit(1);
            }
            report_line!("stopping as soon as the current pieces are written");
            stop.stop();
        }
    });
    Ok(interruption)
}
