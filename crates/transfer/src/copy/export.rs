//! Writes column families as SSTables, which Cassandra 3.11, 4 and 5 load.
//!
//! ```text
//!   DIRECTORY/schema.cql                       the keyspaces and tables
//!   DIRECTORY/<keyspace>/<table>/me-1-big-*    an SSTable, and further ones
//! ```
//!
//! The tables are those that a gateway would create on the cluster. Rows come in the ring order of the source, which
//! may belong to another partitioner, so they are collected up to a size and sorted: each SSTable has all of the ring.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use bytes::Bytes;
use parking_lot::Mutex;

use super::partitions::Partitioned;
use super::run::CopyOptions;
use super::selection::{SelectedFamilies, selected_families};
use crate::TransferError;
use crate::endpoint::{Endpoint, StoreWalk};
use crate::rows::{Delivered, Pump, RowBatch, RowTarget, Tally, WalkMeter, ring_position};
use base::model::Change;
use base::partitioner::{Murmur3Partitioner, PartitionerRef};
use base::util::output::report_line;
use cluster::{ClusterTable, keyspace_statement};
use sstable::{SstableWriter, WrittenColumns};
use store::weight;

/// Approximate size of the rows of an SSTable in bytes. They are in memory, and so are the files.
const TABLE_BYTES: usize = 64 * 1024 * 1024;

/// The counts of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Column families, also those without rows.
    pub families: u64,
    /// SSTables that were written, each of several files.
    pub sstables: u64,
    /// Rows that were read from the endpoint.
    pub rows: u64,
    /// Cells and tombstones that were read.
    pub cells: u64,
}

/// Writes the selected column families of an endpoint into a directory, which must be empty or missing.
///
/// # Errors
///
/// If the directory has files, if a cluster cannot store a column family, or if an endpoint fails.
pub async fn export(
    from: &Arc<Endpoint>,
    directory: &Path,
    options: &CopyOptions,
) -> Result<Exported, TransferError> {
    let name = format!("sstables:{}", directory.display());
    let selected = selected_families(from, &options.selection)?;
    let mut tables = Vec::new();
    let mut script = String::new();
    for SelectedFamilies { keyspace, families } in &selected {
        script.push_str(&keyspace_statement(keyspace));
        script.push_str(";\n");
        for cf in families {
            if cf.table.is_some() && options.selection.skips_tables {
                report_line!("{}.{} is left out: CQL created it", cf.keyspace, cf.name);
                continue;
            }
            let table = ClusterTable::of(cf).map_err(|error| {
                let hint = if cf.table.is_some() { "; --skip-cql-tables leaves it out" } else { "" };
                TransferError::Schema(format!("{error}{hint}"))
            })?;
            for class in table.encoded_classes() {
                report_line!(
                    "note: {}.{}: names of {class} are written as blobs that sort as the names do, which thriftstore reads and \
                     other programs do not",
                    cf.keyspace,
                    cf.name
                );
            }
            for statement in table.statements() {
                script.push_str(&statement);
                script.push_str(";\n");
            }
            tables.push((cf.clone(), Partitioned::new(cf, table)));
        }
    }
    begin(directory, &script).map_err(|error| TransferError::named(&name, error))?;
    let mut exported = Exported::default();
    let count = tables.len();
    // SSTables are written one after the other.
    let pump = Pump { parallel: 1, ..options.pump() };
    for (number, (cf, partitioned)) in tables.into_iter().enumerate() {
        let title = format!("{}.{} ({} of {count})", cf.keyspace, cf.name, number + 1);
        let mut meter = WalkMeter::new(title, from.partitioner.as_ref(), Tally::default());
        let folder = directory.join(&cf.keyspace).join(&cf.name);
        let sstables = Arc::new(FamilySstables::new(name.clone(), partitioned, folder));
        let mut walk = StoreWalk::new(from.clone(), cf.clone(), None, options.rows_at_a_time);
        let delivered = async |batch: Delivered<()>| {
            meter.add(batch.tally, batch.last_key.as_ref());
            Ok(())
        };
        pump.run(&mut walk, &sstables, delivered).await?;
        let tally = meter.finish();
        if options.interruption.is_stopped() {
            let written =
                format!("{}.{} is written only in part; remove the directory", cf.keyspace, cf.name);
            return Err(TransferError::Interrupted(written));
        }
        exported.families += 1;
        exported.sstables += sstables.finish()?;
        exported.rows += tally.rows;
        exported.cells += tally.cells;
    }
    Ok(exported)
}

/// Creates the directory with its script.
fn begin(directory: &Path, script: &str) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    if fs::read_dir(directory)?.next().is_some() {
        return Err(io::Error::other("the directory is not empty; use another one"));
    }
    fs::write(directory.join("schema.cql"), script)
}

/// The SSTables of a column family.
struct FamilySstables {
    /// The name of the directory, for errors.
    name: String,
    partitioned: Partitioned,
    partitioner: PartitionerRef,
    folder: PathBuf,
    collected: Mutex<CollectedRows>,
}

/// The rows of the next SSTable, and the writer of all SSTables.
struct CollectedRows {
    rows: Vec<(Bytes, Vec<Change>)>,
    bytes: usize,
    writer: SstableWriter,
    sstables: u64,
}

impl RowTarget for FamilySstables {
    type Outcome = ();

    fn name(&self) -> &str {
        &self.name
    }

    async fn take(&self, batch: RowBatch) -> Result<(), TransferError> {
        let mut collected = self.collected.lock();
        for row in batch.rows {
            collected.bytes += row.key.len() + row.changes.iter().map(weight).sum::<usize>();
            match collected.rows.last_mut() {
                Some((key, changes)) if *key == row.key => changes.extend(row.changes),
                _ => collected.rows.push((row.key, row.changes)),
            }
            if collected.bytes >= TABLE_BYTES {
                self.flush(&mut collected)?;
            }
        }
        Ok(())
    }
}

impl FamilySstables {
    fn new(name: String, partitioned: Partitioned, folder: PathBuf) -> FamilySstables {
        let partitioner: PartitionerRef = Arc::new(Murmur3Partitioner);
        let (key, clustering, value) = partitioned.table().classes();
        let columns = WrittenColumns { key, clustering, value };
        let writer = SstableWriter::new(&folder, columns, partitioner.clone());
        let collected = Mutex::new(CollectedRows { rows: Vec::new(), bytes: 0, writer, sstables: 0 });
        FamilySstables { name, partitioned, partitioner, folder, collected }
    }

    /// Writes the last rows. Returns the number of SSTables.
    fn finish(&self) -> Result<u64, TransferError> {
        let mut collected = self.collected.lock();
        self.flush(&mut collected)?;
        Ok(collected.sstables)
    }

    /// Writes the rows that are collected as an SSTable.
    fn flush(&self, collected: &mut CollectedRows) -> Result<(), TransferError> {
        collected.bytes = 0;
        let rows = std::mem::take(&mut collected.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let placed = rows.into_iter().map(|(key, changes)| (ring_position(&self.partitioner, key), changes));
        let mut placed: Vec<_> = placed.collect();
        placed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let partitions: Vec<_> =
            placed.into_iter().map(|((_, key), changes)| self.partitioned.partition(key, changes)).collect();
        fs::create_dir_all(&self.folder).map_err(|error| TransferError::named(&self.name, error))?;
        let written = collected.writer.write(&partitions);
        written.map_err(|error| TransferError::named(&self.name, error))?;
        collected.sstables += 1;
        Ok(())
    }
}
