//! `thriftstore export`: writes rows into files that other programs open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::cluster::ClusterArgs;
use super::copy::{of_directory, stop_at_signals};
use super::export_report::{report_exported, report_start};
use super::import::check_definitions;
use super::message::load_config;
use super::old_files::{OldFiles, OldFilesArgs};
use super::{data, import_found};
use crate::cli::Result;
use base::marshal::Types;
use base::util::Clock;
use base::util::output::report_line;
use transfer::copy::Selection;
use transfer::endpoint;
use transfer::endpoint::{Location, NativeAddress, OpenOptions};
use transfer::export::{ExportFormat, ExportOptions, ExportSource, Exported, LeftOutTable};
use transfer::import::{AsOf, FileRows, ImportOptions};
use transfer::native::NativeSource;

/// The reason why writes are missing.
const UNDEFINED_WRITES: &str =
    "writes in commit logs of column families without a definition: --config or --schema can give it";

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    files: OldFilesArgs,
    /// The directory for the files: a new one, an empty one, or that of the same command that was stopped
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The format: `csv`, `json` (lines that `import --from json:DIR` reads back), `sqlite` or `postgresql` (SQL), or
    /// `parquet`
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: ExportFormat,
    /// Only this keyspace [default: all but the servers' own]
    #[arg(long, value_name = "NAME")]
    keyspace: Option<String>,
    /// Only the table or column family of this name [default: all]
    #[arg(long, value_name = "NAME", alias = "column-family")]
    table: Option<String>,
    /// Only these columns, separated by commas, and the columns of the key [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// At most so many lines of each table
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Write everything that is stored, cell by cell: with timestamps, expired cells and deletions
    #[arg(long)]
    cells: bool,
    /// Look at the data as if it were this date, or date and time: columns with a time to live that had not expired are
    /// there [default: now]
    #[arg(long, value_name = "DATE")]
    as_of: Option<AsOf>,
    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn export(args: &ExportArgs, types: &Types) -> Result<()> {
    if args.limit == Some(0) {
        return Err("--limit 0 would write nothing".to_owned());
    }
    match args.files.from.location() {
        Some(Ok(Location::Native(address))) => data::run(of_server(args, types, &address)),
        Some(place) => data::run(of_place(args, types, place?)),
        None => {
            let keyspace = args.keyspace.as_deref();
            let files = OldFiles::of(&args.files, keyspace, args.table.as_deref(), types)?;
            data::run(of_files(args, types, files))
        }
    }
}

impl ExportArgs {
    fn options(&self, types: &Types, clock: &Clock) -> Result<ExportOptions> {
        Ok(ExportOptions {
            format: self.format,
            selection: Selection {
                keyspace: self.keyspace.clone(),
                column_family: self.table.clone(),
                ..Selection::default()
            },
            columns: self.columns.clone(),
            limit: self.limit,
            all_cells: self.cells,
            now_s: self.as_of.map_or_else(|| clock.now_s(), AsOf::second),
            as_of_s: self.as_of.map(AsOf::second),
            snapshot: self.files.snapshot.clone(),
            types: types.clone(),
            skips_damage: self.files.skip_damaged,
            interruption: stop_at_signals()?,
        })
    }

    async fn write(
        &self,
        source: &ExportSource<'_>,
        options: &ExportOptions,
        known: Exported,
    ) -> Result<Exported> {
        report_start(source.name(), &self.to, options);
        let exported = transfer::export::export(source, &self.to, options, known).await;
        exported.map_err(|error| error.to_string())
    }
}

/// Exports a data directory, a server or a cluster.
async fn of_place(args: &ExportArgs, types: &Types, place: Location) -> Result<()> {
    args.files.check_no_files(&place)?;
    let mut config = load_config(args.files.config.as_deref(), types)?;
    let has_file = args.files.config.is_some() || Path::new(config::FILE_NAME).exists();
    if !has_file {
        config = of_directory(config, &place);
    }
    let clock = Arc::new(Clock::system());
    let cluster = args.cluster.options_of(&place, config.cluster.as_ref())?;
    let open = OpenOptions {
        config: &config,
        types,
        clock: clock.clone(),
        cluster: cluster.as_ref(),
        keyspace: args.keyspace.as_deref(),
        creates: false,
    };
    let from = Arc::new(endpoint::open(&place, &open).await.map_err(|error| error.to_string())?);
    let options = args.options(types, &clock)?;
    let exported = args.write(&ExportSource::Endpoint(from.clone()), &options, Exported::default()).await;
    let closed = from.close().await.map_err(|error| error.to_string());
    let exported = exported?;
    closed?;
    report_exported(&exported, &args.to, &options)
}

/// Exports a server of the native protocol.
async fn of_server(args: &ExportArgs, types: &Types, address: &NativeAddress) -> Result<()> {
    args.files.check_no_files(&"a server")?;
    let clock = Arc::new(Clock::system());
    let options = args.options(types, &clock)?;
    let server = NativeSource::open(address, types, &clock).await?;
    server.left_out.iter().for_each(|what| report_line!("not exported: {what}"));
    let unreadable = server.unreadable().into_iter().filter(|table| options.selection.has(table));
    let supers = unreadable.map(|table| LeftOutTable {
        table: table.to_string(),
        why: "CQL shows no super columns: use thrift:HOST:PORT, or the data directory".to_owned(),
        is_selected_so: false,
    });
    let known = Exported { left_out: supers.collect(), ..Exported::default() };
    let exported = args.write(&ExportSource::Native(server), &options, known).await?;
    report_exported(&exported, &args.to, &options)
}

/// Exports the files of old servers.
async fn of_files(args: &ExportArgs, types: &Types, files: OldFiles) -> Result<()> {
    let clock = Arc::new(Clock::system());
    let mut known = Exported::default();
    let inventory = &files.inventory;
    let unreadable = inventory.unreadable.iter().map(ToString::to_string);
    let not_read: Vec<String> = unreadable.chain(import_found::left_out(inventory)).collect();
    not_read.iter().for_each(|line| report_line!("not read: {line}"));
    inventory.notes.iter().for_each(|note| report_line!("note: {note}"));
    let partitioner = files.partitioner(&args.files)?;
    let options = args.options(types, &clock)?;
    let reading = ImportOptions {
        skips_damage: options.skips_damage,
        interruption: options.interruption.clone(),
        restores_overflow: args.files.recover_expired.is_some(),
        shows_progress: true,
        ..ImportOptions::new(partitioner.partitioner.clone())
    };
    let definitions = files.definitions(&args.files);
    definitions.print_gaps();
    let side = Arc::new(definitions.in_memory(&files.config, types, &clock).await?);
    for name in definitions.missing(inventory, &side) {
        let why = "its definition was not found: --config or --schema can give it".to_owned();
        known.left_out.push(LeftOutTable { table: name.to_string(), why, is_selected_so: false });
    }
    let OldFiles { mut inventory, .. } = files;
    check_definitions(&mut inventory, &side, types, &reading).await?;
    let failed = |error: transfer::import::ImportError| error.to_string();
    let rows = FileRows::open(&inventory, side, &reading).await.map_err(failed)?;
    let (losses, unfound) = rows.log_report(&reading).await.map_err(failed)?;
    known.losses = losses;
    let undefined = unfound.undefined().into_iter().chain(unfound.unnamed());
    known.left_out.extend(undefined.map(|table| LeftOutTable {
        table,
        why: UNDEFINED_WRITES.to_owned(),
        is_selected_so: false,
    }));
    let source = ExportSource::Files(rows);
    let exported = args.write(&source, &options, known).await?;
    drop(source);
    let reported = report_exported(&exported, &args.to, &options);
    match inventory.unreadable.len() {
        0 => reported,
        count => reported.and(Err(format!("{count} files cannot be read (see above)"))),
    }
}
