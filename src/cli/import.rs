//! `thriftstore import`: imports the data directories of old servers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use super::cluster::ClusterArgs;
use super::copy::stop_at_signals;
use super::import_definitions::Definitions;
use super::import_report::{HOW_TO_DEFINE, report_found, report_imported, report_verified};
use super::import_target::TargetLocation;
use super::old_files::{OldFiles, OldFilesArgs};
use super::{data, import_found, import_json};
use crate::cli::Result;
use base::marshal::Types;
use base::util::output::report_line;
use base::util::{Clock, listed};
use config::Config;
use transfer::endpoint::{Endpoint, Location, OpenOptions};
use transfer::import::{
    AsOf, CHECKPOINT_EVERY, FamilyName, ImportError, ImportOptions, Inventory, LoggedCounts,
    SourcePartitioner, TargetComparison,
};
use transfer::{endpoint, import as importing};

/// Column families that an error names.
const NAMES_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    #[command(flatten)]
    pub(super) files: OldFilesArgs,
    /// The target: `data:DIRECTORY`, which is created if it does not exist, or `cluster:HOST:PORT,HOST:PORT`
    #[arg(long, value_name = "WHERE", required_unless_present = "dry_run")]
    pub(super) to: Option<Location>,
    /// Only this keyspace [default: all but the servers' own]
    #[arg(long, value_name = "NAME")]
    pub(super) keyspace: Option<String>,
    /// Only the column family of this name [default: all]
    #[arg(long, value_name = "NAME")]
    pub(super) column_family: Option<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
    /// Write nothing: read everything, and report what is there and what is damaged
    #[arg(long, conflicts_with_all = ["to", "progress_file"])]
    pub(super) dry_run: bool,
    /// Leave out column families that the target does not define, instead of refusing to import; also those that are in
    /// commit logs only, which are an error at the end otherwise
    #[arg(long)]
    skip_undefined: bool,
    /// Record in this file what is imported; the same command with the same file goes on there
    #[arg(long, value_name = "FILE")]
    pub(super) progress_file: Option<PathBuf>,
    /// The interval at which the progress is recorded
    #[arg(long, value_name = "SECONDS", requires = "progress_file", default_value_t = CHECKPOINT_EVERY.as_secs())]
    progress_seconds: u64,
    /// After the import, read the files and the target again, and report each difference
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) verify: bool,
    /// Only compare the files with the target, and write nothing
    #[arg(long, conflicts_with_all = ["verify", "dry_run"])]
    pub(super) verify_only: bool,
    /// Import as if it were this date, or date and time, by the clock of the old servers: columns with a time to live
    /// that had not expired then live for the rest of their time from now on, and gc_grace begins then
    #[arg(long, value_name = "DATE")]
    pub(super) as_of: Option<AsOf>,
}

pub(super) fn import(args: &ImportArgs, types: &Types) -> Result<()> {
    if let Some(directory) = args.files.from.json() {
        return import_json::import_json(args, &directory, types);
    }
    let source = OldFiles::of(&args.files, args.keyspace.as_deref(), args.column_family.as_deref(), types)?;
    data::run(import_all(args, types, source))
}

async fn import_all(args: &ImportArgs, types: &Types, source: OldFiles) -> Result<()> {
    for unreadable in &source.inventory.unreadable {
        report_line!("not read: {unreadable}");
    }
    if !args.dry_run {
        import_found::left_out(&source.inventory).iter().for_each(|line| report_line!("not read: {line}"));
        source.inventory.notes.iter().for_each(|note| report_line!("note: {note}"));
    }
    let partitioner = source.partitioner(&args.files)?;
    let OldFiles { mut inventory, found, config, config_file } = source;
    let clock = Arc::new(Clock::system());
    if let Some(as_of) = args.as_of
        && as_of.second() > clock.now_s()
    {
        return Err("the date of --as-of is in the future".to_owned());
    }
    let options = ImportOptions {
        // A dry run shows everything that is there and all damage.
        skips_damage: args.files.skip_damaged || args.dry_run,
        progress_file: args.progress_file.clone(),
        checkpoint_every: Duration::from_secs(args.progress_seconds),
        interruption: stop_at_signals()?,
        as_of: args.as_of,
        restores_overflow: args.files.recover_expired.is_some(),
        shows_progress: true,
        ..ImportOptions::new(partitioner.partitioner.clone())
    };
    let definitions =
        Definitions { scripts: &args.files.schema, found: found.as_ref().map_err(String::as_str) };
    let Some(place) = &args.to else {
        import_found::print_sources(&inventory, definitions.found, config_file.as_deref(), &partitioner);
        return look(types, &config, &mut inventory, &definitions, clock, &options).await;
    };
    let target = TargetLocation::of(place);
    if !args.verify_only {
        target.check_progress(args.progress_file.as_deref())?;
        inventory.check_doubts(&options).map_err(|error| error.to_string())?;
    }
    let config = if config_file.is_some() { config } else { target.fitting(config, &partitioner) };
    let to = Arc::new(open(args, types, &config, place, &clock).await?);
    let mut prepared = prepare(args, &to, &inventory, &definitions, &partitioner).await;
    if prepared.is_ok() {
        prepared = check_definitions(&mut inventory, &to, types, &options).await;
    }
    if let Err(error) = prepared {
        to.close().await.map_err(|error| error.to_string())?;
        target.remove();
        return Err(error);
    }
    let outcome = run(args, &inventory, to.clone(), clock, &options).await;
    let closed = to.close().await.map_err(|error| error.to_string());
    outcome.and(closed)
}

/// Checks the target, and defines the column families, before anything is imported.
async fn prepare(
    args: &ImportArgs,
    to: &Arc<Endpoint>,
    inventory: &Inventory,
    definitions: &Definitions<'_>,
    source: &SourcePartitioner,
) -> Result<()> {
    if args.verify {
        let comparison = importing::check_comparable(to).map_err(|error| error.to_string())?;
        let files = source.partitioner.class_name();
        if let TargetComparison::Dumps(partitioner) = comparison
            && partitioner.class_name() != files
        {
            return Err(format!(
                "--verify needs a target with the partitioner of the files, {files}, and it has {}",
                partitioner.class_name()
            ));
        }
    }
    if args.verify_only { Ok(()) } else { define(args, to, inventory, definitions).await }
}

/// Adds a doubt for each SSTable that cannot be of the column family that the target defines.
pub(super) async fn check_definitions(
    inventory: &mut Inventory,
    to: &Endpoint,
    types: &Types,
    options: &ImportOptions,
) -> Result<()> {
    let misfits = importing::misfits(inventory, to, types).await.map_err(|error| error.to_string())?;
    inventory.doubts.extend(misfits);
    inventory.check_doubts(options).map_err(|error| error.to_string())
}

/// Imports, compares, or both, and prints the results.
async fn run(
    args: &ImportArgs,
    inventory: &Inventory,
    to: Arc<Endpoint>,
    clock: Arc<Clock>,
    options: &ImportOptions,
) -> Result<()> {
    let failed = |error: ImportError| error.to_string();
    let (mut shift, mut imported) = (None, Ok(()));
    if !args.verify_only {
        let summary = importing::import(inventory, Some(to.clone()), clock.clone(), options).await;
        let summary = summary.map_err(failed)?;
        imported = report_imported(inventory, &summary, args.skip_undefined);
        shift = Some(summary.shift);
    }
    if args.verify || args.verify_only {
        let verified = importing::verify(inventory, to, clock, options, shift).await.map_err(failed);
        // Losses were printed already; the error at the end is the first one.
        imported = imported.and(verified.and_then(|verified| report_verified(&verified)));
    }
    imported
}

pub(super) async fn open(
    args: &ImportArgs,
    types: &Types,
    config: &Config,
    place: &Location,
    clock: &Arc<Clock>,
) -> Result<Endpoint> {
    match place {
        Location::Sstables(_) => {
            return Err(
                "cannot import into SSTables: import into data:DIRECTORY, and copy from there".to_owned()
            );
        }
        Location::Thrift(_) => {
            return Err("cannot import into a Thrift server: import into its data directory".to_owned());
        }
        Location::Native(_) => {
            return Err("cannot import into a server of CQL: use cluster:HOST:PORT".to_owned());
        }
        Location::Cluster(_) | Location::Data(_) => {}
    }
    let cluster = args.cluster.options_of(place, config.cluster.as_ref())?;
    let options = OpenOptions {
        config,
        types,
        clock: clock.clone(),
        cluster: cluster.as_ref(),
        keyspace: args.keyspace.as_deref(),
        creates: !args.verify_only,
    };
    endpoint::open(place, &options).await.map_err(|error| error.to_string())
}

/// Defines the column families, and checks that the target has all.
async fn define(
    args: &ImportArgs,
    to: &Arc<Endpoint>,
    inventory: &Inventory,
    definitions: &Definitions<'_>,
) -> Result<()> {
    let database = to.writable().map_err(|error| error.to_string())?;
    definitions.print_gaps();
    definitions.create(database).await?;
    check_selection(inventory, to)?;
    let missing = definitions.missing(inventory, to);
    if missing.is_empty() || args.skip_undefined {
        return Ok(());
    }
    let flat = missing.iter().find_map(|name| inventory.flat_directory(name));
    let layout = flat.map_or_else(String::new, |directory| {
        format!(
            ". The names of files of 2.2 and later do not have their table, and {} is not named like the directory of one: put \
             the files of each table into KEYSPACE/TABLE or KEYSPACE/TABLE-ID, as servers do",
            directory.display()
        )
    });
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    Err(format!(
        "neither the target nor the system tables in {} define {}. {HOW_TO_DEFINE}. --skip-undefined leaves them out{layout}",
        args.files.from.shown(),
        listed(&names, NAMES_SHOWN)
    ))
}

/// Checks that the column families of `--keyspace` and `--column-family` exist, in SSTables or in a target.
fn check_selection(inventory: &Inventory, to: &Endpoint) -> Result<()> {
    let keyspaces = to.keyspaces();
    let families = keyspaces.iter().flat_map(|keyspace| keyspace.column_families.values());
    let defined = families.map(|cf| FamilyName::of(cf));
    inventory.check_selection(defined).map_err(|error| error.to_string())
}

/// Reads everything, and prints the contents.
async fn look(
    types: &Types,
    config: &Config,
    inventory: &mut Inventory,
    definitions: &Definitions<'_>,
    clock: Arc<Clock>,
    options: &ImportOptions,
) -> Result<()> {
    let failed = |error: ImportError| error.to_string();
    let started = Instant::now();
    let side = definitions.in_memory(config, types, &clock).await?;
    check_definitions(inventory, &side, types, options).await?;
    let mut summary = importing::import(inventory, None, clock.clone(), options).await.map_err(failed)?;
    let mut logged = LoggedCounts::default();
    if !inventory.commit_logs.is_empty() {
        check_selection(inventory, &side)?;
        logged = LoggedCounts::of(inventory, &side, options).await.map_err(failed)?;
    }
    for (name, family) in &logged.families {
        summary.families.entry(name.clone()).or_default().add(family);
    }
    summary.doubts.append(logged.doubts);
    summary.losses.append(logged.losses);
    summary.unfound.append(logged.unfound);
    import_found::print_families(inventory, definitions.found, &summary, &logged.families);
    let found = report_found(inventory, &summary);
    import_found::print_next(inventory, found.is_err(), started.elapsed());
    found
}
