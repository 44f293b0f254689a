//! Writes column families as SSTables, which Cassandra 3.11, 4 and 5 load.
//!
//! ```text
//!   DIRECTORY/schema.cql                       the keyspaces and tables
//!   DIRECTORY/<keyspace>/<table>/me-1-big-*    an SSTable, and further ones
//! ```
//!
//! The tables are those that a gateway would create on the cluster. Rows come in the ring order of the source, which
//! may belong to another partitioner, so they are collected up to a size and sorted: each SSTable has all of the ring.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::meter::Meter;
use super::partitions::Partitioned;
use super::selection::{SelectedFamilies, Selection, selected_families};
use crate::endpoint::{Endpoint, StoreWalk};
use crate::rows::Tally;
use crate::{Interruption, TransferError};
use base::model::Change;
use base::partitioner::{Murmur3Partitioner, PartitionerRef};
use base::schema::CfDef;
use base::util::output::report_line;
use cluster::{ClusterTable, keyspace_statement};
use sstable::{SstableWriter, WrittenColumns};
use store::weight;

/// Approximate size of the rows of an SSTable in bytes. They are in memory, and so are the files.
const TABLE_BYTES: usize = 64 * 1024 * 1024;

/// The options of an export.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    pub selection: Selection,
    /// Maximum number of rows of a page.
    pub rows_at_a_time: usize,
    pub interruption: Interruption,
}

/// The counts of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    pub families: u64,
    pub sstables: u64,
    pub rows: u64,
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
    options: &ExportOptions,
) -> Result<Exported, TransferError> {
    let target = ExportDirectory { name: format!("sstables:{}", directory.display()) };
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
            for statement in table.statements() {
                script.push_str(&statement);
                script.push_str(";\n");
            }
            tables.push((cf.clone(), Partitioned::new(cf, table)));
        }
    }
    target.begin(directory, &script)?;
    let mut exported = Exported::default();
    let count = tables.len();
    for (number, (cf, partitioned)) in tables.into_iter().enumerate() {
        let title = format!("{}.{} ({} of {count})", cf.keyspace, cf.name, number + 1);
        let folder = directory.join(&cf.keyspace).join(&cf.name);
        let mut family = FamilySstables::new(partitioned, &folder, &target);
        let tally = family.read(from, &cf, title, options).await?;
        exported.families += 1;
        exported.sstables += family.sstables;
        exported.rows += tally.rows;
        exported.cells += tally.cells;
    }
    Ok(exported)
}

/// The directory, for errors.
#[derive(Debug)]
struct ExportDirectory {
    name: String,
}

impl ExportDirectory {
    fn failed(&self, why: &dyn std::fmt::Display) -> TransferError {
        TransferError::Endpoint { endpoint: self.name.clone(), why: why.to_string() }
    }

    /// Creates the directory with its script.
    fn begin(&self, directory: &Path, script: &str) -> Result<(), TransferError> {
        fs::create_dir_all(directory).map_err(|error| self.failed(&error))?;
        let mut entries = fs::read_dir(directory).map_err(|error| self.failed(&error))?;
        if entries.next().is_some() {
            return Err(self.failed(&"the directory is not empty; use another one"));
        }
        fs::write(directory.join("schema.cql"), script).map_err(|error| self.failed(&error))
    }
}

/// The SSTables of a column family.
struct FamilySstables<'a> {
    partitioned: Partitioned,
    partitioner: PartitionerRef,
    writer: SstableWriter,
    folder: PathBuf,
    target: &'a ExportDirectory,
    /// The rows of the next SSTable.
    rows: Vec<(Bytes, Vec<Change>)>,
    bytes: usize,
    sstables: u64,
}

impl<'a> FamilySstables<'a> {
    fn new(partitioned: Partitioned, folder: &Path, target: &'a ExportDirectory) -> FamilySstables<'a> {
        let partitioner: PartitionerRef = Arc::new(Murmur3Partitioner);
        let (key, clustering, value) = partitioned.table().classes();
        let columns = WrittenColumns { key, clustering, value };
        let writer = SstableWriter::new(folder, columns, partitioner.clone());
        let folder = folder.to_owned();
        FamilySstables {
            partitioned,
            partitioner,
            writer,
            folder,
            target,
            rows: Vec::new(),
            bytes: 0,
            sstables: 0,
        }
    }

    /// Reads the column family, and writes it.
    async fn read(
        &mut self,
        from: &Arc<Endpoint>,
        cf: &Arc<CfDef>,
        title: String,
        options: &ExportOptions,
    ) -> Result<Tally, TransferError> {
        let mut meter = Meter::new(title, from.partitioner.clone(), Tally::default());
        let mut walk = StoreWalk::new(from.clone(), cf.clone(), None, options.rows_at_a_time);
        while let Some(batch) = walk.next().await? {
            if options.interruption.is_stopped() {
                meter.finish();
                let name = format!("{}.{}", cf.keyspace, cf.name);
                return Err(TransferError::Interrupted(format!(
                    "{name} is written only in part; remove the directory"
                )));
            }
            meter.add(
                Tally::of(&batch.rows, batch.rows_begun),
                batch.rows.last().map(|row| row.key.clone()).as_ref(),
            );
            for row in batch.rows {
                self.bytes += row.key.len() + row.changes.iter().map(weight).sum::<usize>();
                match self.rows.last_mut() {
                    Some((key, changes)) if *key == row.key => changes.extend(row.changes),
                    _ => self.rows.push((row.key, row.changes)),
                }
                if self.bytes >= TABLE_BYTES {
                    self.flush()?;
                }
            }
        }
        self.flush()?;
        let total = meter.total();
        meter.finish();
        Ok(total)
    }

    /// Writes the rows that are collected as an SSTable.
    fn flush(&mut self) -> Result<(), TransferError> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let mut placed: Vec<_> = rows
            .into_iter()
            .map(|(key, changes)| {
                let mut token = Vec::new();
                self.partitioner.token(&key, &mut token);
                ((token, key), changes)
            })
            .collect();
        fs::create_dir_all(&self.folder).map_err(|error| self.target.failed(&error))?;
        placed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let partitions: Vec<_> =
            placed.into_iter().map(|((_, key), changes)| self.partitioned.partition(key, changes)).collect();
        self.writer.write(&partitions).map_err(|error| self.target.failed(&error))?;
        self.sstables += 1;
        Ok(())
    }
}
