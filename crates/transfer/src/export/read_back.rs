//! Reads an export in JSON back into a store.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ExportFormat;
use super::manifest::{MANIFEST, Manifest};
use crate::copy::{DEFAULT_PARALLEL, Pair, Selection, prepare};
use crate::endpoint::{Endpoint, RowWriter};
use crate::import::{BatchSender, ImportError, ReadThread, RowBatcher};
use crate::rows::{Delivered, Pump, RateLimit, Tally, WalkMeter};
use crate::{Interruption, TransferError};
use base::marshal::Types;
use base::model::{CellKind, Change, DeletionTime};
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef, keyspace_from_json};
use base::util::Clock;
use base::util::output::report_line;
use json_rows::{JsonRow, LoadTime, RowOrigin};
use store::StoreError;

/// Longest accepted line, in bytes. A row of CQL is a line.
const LINE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The counts of the data that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadBack {
    /// The number of tables.
    pub tables: u64,
    /// The number of rows; those of a CQL table are its partitions.
    pub rows: u64,
    /// Cells and deletions.
    pub cells: u64,
}

/// Reads the tables of an export in JSON that are selected, and creates those that the target does not have.
///
/// # Errors
///
/// If the directory has no export in JSON, if a line is not one of an export, or if the target fails.
pub async fn read_back(
    directory: &Path,
    to: Arc<Endpoint>,
    selection: &Selection,
    clock: Arc<Clock>,
    interruption: Interruption,
) -> Result<ReadBack, ImportError> {
    let manifest = manifest_of(directory)?;
    let types = to.writable()?.types().clone();
    let partitioner = to.writable()?.partitioner().clone();
    let from = definitions(directory, &manifest, &types, partitioner, &clock)?;
    let pairs = prepare(&from, &to, selection).await?;
    // A data directory makes all rows durable at the end.
    let bulk = to.writable()?.store().capabilities().bulk_load;
    let failed = |error: StoreError| TransferError::of(&to, error);
    bulk.map_or(Ok(()), |bulk| bulk.begin_load()).map_err(failed)?;
    let read = read_tables(directory, &manifest, &pairs, &Target { to: &to, clock, interruption }).await;
    if let Some(bulk) = bulk {
        bulk.end_load().await.map_err(failed)?;
    }
    read
}

/// The target of an import.
struct Target<'a> {
    to: &'a Arc<Endpoint>,
    clock: Arc<Clock>,
    interruption: Interruption,
}

async fn read_tables(
    directory: &Path,
    manifest: &Manifest,
    pairs: &[Pair],
    target: &Target<'_>,
) -> Result<ReadBack, ImportError> {
    let Target { to, clock, interruption } = target;
    let mut sums = ReadBack::default();
    for (number, Pair { from, to: cf }) in pairs.iter().enumerate() {
        let Some(table) = manifest.written(&from.keyspace, &from.name) else { continue };
        let title = format!("{}.{} ({} of {})", from.keyspace, from.name, number + 1, pairs.len());
        let mut meter = WalkMeter::new(title, None, Tally::default());
        let lines = TableLines {
            path: directory.join(file_name(directory, &table.file)?),
            defined: from.clone(),
            now: now(clock),
            lines: table.lines,
        };
        for note in &table.notes {
            report_line!("{}: {note}", table.file);
        }
        let family = cf.clone();
        let thread = ReadThread::start(move |sender| lines.send_all(&family, sender));
        let writer = Arc::new(RowWriter::new(Arc::clone(to), clock.clone())?);
        // Two parts of a counter's row must not be written at the same time.
        let parallel = if cf.is_counter() { 1 } else { DEFAULT_PARALLEL.into() };
        let pump = Pump { parallel, interruption: interruption.clone(), rate: RateLimit::default() };
        let delivered = async |batch: Delivered<()>| {
            meter.add(batch.tally, None);
            Ok(())
        };
        thread.pump(&pump, &writer, delivered).await?;
        if interruption.is_stopped() {
            return Err(ImportError::Interrupted(format!("{} is read in part", table.file)));
        }
        let tally = meter.finish();
        sums = ReadBack {
            tables: sums.tables + 1,
            rows: sums.rows + tally.rows,
            cells: sums.cells + tally.cells,
        };
    }
    Ok(sums)
}

/// Checks that a file of the manifest is in the directory itself: the export may come from another machine.
fn file_name<'f>(directory: &Path, file: &'f str) -> Result<&'f str, TransferError> {
    if Path::new(file).file_name().is_some_and(|name| name == file) {
        return Ok(file);
    }
    Err(TransferError::named(
        &directory.join(MANIFEST).display().to_string(),
        format!("{file:?} is not the name of a file"),
    ))
}

fn now(clock: &Clock) -> LoadTime {
    LoadTime { micros: i64::from(clock.now_s()) * 1_000_000, now_s: clock.now_s() }
}

fn manifest_of(directory: &Path) -> Result<Manifest, TransferError> {
    let failed = |why: String| TransferError::named(&format!("json:{}", directory.display()), why);
    let Some(manifest) = Manifest::read(&directory.join(MANIFEST))? else {
        return Err(failed(format!("it has no {MANIFEST}: is it the directory of an export?")));
    };
    match (&manifest.format, manifest.is_complete) {
        (format, _) if *format != ExportFormat::Json.to_string() => {
            Err(failed(format!("the export is in {format}; only an export in JSON can be read back")))
        }
        (_, false) => Err(failed("the export is not complete: run it again".to_owned())),
        (_, true) => Ok(manifest),
    }
}

/// Returns a store in memory with the definitions of an export.
fn definitions(
    directory: &Path,
    manifest: &Manifest,
    types: &Types,
    partitioner: PartitionerRef,
    clock: &Arc<Clock>,
) -> Result<Endpoint, TransferError> {
    let name = format!("json:{}", directory.display());
    let mut catalog = Catalog::default();
    for definition in &manifest.definitions {
        let keyspace = keyspace_from_json(definition.get().as_bytes(), types)
            .map_err(|why| TransferError::named(&name, why))?;
        catalog.keyspaces.insert(keyspace.name.clone(), keyspace);
    }
    Endpoint::in_memory(&name, catalog, types, partitioner, clock)
}

/// The file of a table.
struct TableLines {
    path: PathBuf,
    /// The column family as the export defines it: the types of texts.
    defined: Arc<CfDef>,
    now: LoadTime,
    /// The number of lines by the manifest.
    lines: u64,
}

impl TableLines {
    /// Sends all rows, until the target takes no more.
    fn send_all(&self, cf: &Arc<CfDef>, sender: BatchSender) -> Result<(), ImportError> {
        let failed =
            |why: String| ImportError::from(TransferError::named(&self.path.display().to_string(), why));
        let file = File::open(&self.path).map_err(|error| failed(error.to_string()))?;
        let mut reader = BufReader::new(file);
        let mut batcher = RowBatcher::new(cf.clone(), sender);
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            let length = read.map_err(|error| failed(error.to_string()))?;
            if length == 0 {
                if number - 1 != self.lines {
                    let (found, expected) = (number - 1, self.lines);
                    return Err(failed(format!("it has {found} lines, and {expected} by {MANIFEST}")));
                }
                break;
            }
            if length as u64 == LINE_BYTES_MAX {
                return Err(failed(format!("line {number} has more than {LINE_BYTES_MAX} bytes")));
            }
            let (key, changes) =
                self.changes(&line).map_err(|why| failed(format!("line {number}: {why}")))?;
            let is_taken = batcher.begin(key, DeletionTime::LIVE)
                && changes.into_iter().all(|change| batcher.add(as_total(change)));
            if !is_taken {
                break;
            }
        }
        batcher.send(None);
        Ok(())
    }

    fn changes(&self, line: &[u8]) -> Result<(bytes::Bytes, Vec<Change>), String> {
        let row: JsonRow = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        row.changes(&self.defined, RowOrigin::Stored(self.now)).map_err(|error| error.to_string())
    }
}

/// Makes a counter the total that it was.
fn as_total(change: Change) -> Change {
    match change {
        Change::Cell { super_column, mut cell } if cell.kind == CellKind::Increment => {
            cell.kind = CellKind::Counter;
            Change::Cell { super_column, cell }
        }
        change => change,
    }
}
