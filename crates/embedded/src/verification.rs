//! Reads every byte of a data directory and compares it with its checksums.
//!
//! ```text
//!   MANIFEST, MANIFEST.N     checksums of their own
//!     |--> log/N.log         each record has a checksum; no segment is missing
//!     `--> tables/1.2/v7     its checksum is in the manifest
//!            `--> tables/3   the checksum of the whole file is in v7
//! ```
//!
//! Like a backup, the verification works from outside: it changes nothing and contacts no server, and a server may be
//! using the directory. Such a server removes tables and segments that it has replaced. So if a file is missing or
//! differs, the manifest is read again: if it names other files now, these are read instead.

use std::collections::HashSet;
use std::fmt::{self, Display};
use std::path::Path;

use super::backup::complete_records;
use super::format;
use super::key::RowPrefix;
use super::log::{path_of, segments_of};
use super::manifest::{Contents, LogSpan, Manifest, TreeRecord};
use super::pace::{PacedProgress, Progress, megabytes};
use super::recovery::replay_newest;
use super::table_folders::table_folders;
use super::tables::{ListedTable, TreeName, TreeVersion, check_table, key_range_of};
use crate::disk::Disk;
use base::partitioner;
use base::partitioner::PartitionerRef;
use store::{Result, StoreError};

/// Bytes of a key that are shown.
const SHOWN_BYTES: usize = 100;

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Verified {
    /// Tables without damage.
    pub tables: u64,
    /// The bytes of all tables.
    pub table_bytes: u64,
    /// Segments of the commit log.
    pub segments: u64,
    /// Damaged and missing files.
    pub damages: Vec<StoreError>,
}

impl Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { tables, table_bytes, segments, .. } = self;
        let size = megabytes(*table_bytes);
        write!(f, "undamaged tables {tables}, {size} read, segments of the commit log {segments}")
    }
}

/// Verifies a data directory. A server may be using it; then `bytes_per_s` limits the rate.
///
/// # Errors
/// `Mismatch` if it is not a data directory of this version's format. Damage is not an error.
pub fn verify(
    disk: &dyn Disk,
    directory: &Path,
    bytes_per_s: Option<u64>,
    progress: Progress<'_>,
) -> Result<Verified> {
    format::read(disk, directory)?;
    let contents = match Manifest::read(disk, directory) {
        Ok(contents) => contents,
        Err(error) => return Ok(Verified { damages: vec![error], ..Verified::default() }),
    };
    let trees = table_folders(&contents, directory).filter(|(name, _)| name.given_up().is_none());
    let trees: Vec<_> = trees.collect();
    let whole = trees.iter().map(|(name, _)| name.bytes_of_tables()).sum();
    let pace = PacedProgress::new(progress, "verified", whole).limited(bytes_per_s);
    let partitioner = partitioner::resolve(&contents.partitioner);
    let found = Verified::default();
    let mut verification = DirectoryVerification { disk, directory, partitioner, pace, found };
    verification.read_log(&contents);
    for (name, record) in trees {
        verification.read_tree(&name, record);
    }
    Ok(verification.found)
}

/// A verification that is running.
struct DirectoryVerification<'a> {
    disk: &'a dyn Disk,
    directory: &'a Path,
    partitioner: Option<PartitionerRef>,
    pace: PacedProgress<'a>,
    found: Verified,
}

impl DirectoryVerification<'_> {
    /// Reads the commit log: in a closed directory as a start does.
    fn read_log(&mut self, contents: &Contents) {
        let log = self.directory.join("log");
        self.found.segments = segments_of(self.disk, &log).map_or(0, |numbers| numbers.len() as u64);
        if !format::is_locked(self.directory) {
            let replayed = replay_newest(self.disk, &log, contents, |_| {});
            self.found.damages.extend(replayed.err());
            return;
        }
        for number in contents.log.into_iter().flat_map(|LogSpan { first, last }| first..=last) {
            let read = complete_records(self.disk, &path_of(&log, number), number);
            let now = Manifest::read(self.disk, self.directory);
            let is_needed = now.map_or(true, |now| now.log.is_none_or(|log| log.first <= number));
            self.found.damages.extend(read.err().filter(|_| is_needed));
        }
    }

    /// Reads all tables of a tree.
    fn read_tree(&mut self, name: &TreeName, mut record: TreeRecord) {
        let mut verified = HashSet::new();
        loop {
            let listed = TreeVersion::read(self.disk, name, record.identity);
            let damages: Vec<_> = match listed.and_then(|version| version.tables(name)) {
                Ok(listed) => listed
                    .iter()
                    .filter_map(|table| self.read_table(name, table, &mut verified).err())
                    .collect(),
                Err(error) => vec![error],
            };
            if damages.is_empty() {
                return;
            }
            let now =
                Manifest::read(self.disk, self.directory).map(|now| now.tables.get(name.folder()).copied());
            match now {
                // The tables were merged, truncated or dropped meanwhile.
                Ok(Some(now)) if now.identity != record.identity => record = now,
                Ok(None) => return,
                _ => return self.found.damages.extend(damages),
            }
        }
    }

    fn read_table(
        &mut self,
        name: &TreeName,
        table: &ListedTable,
        verified: &mut HashSet<ListedTable>,
    ) -> Result<()> {
        if !verified.contains(table) {
            let read = check_table(name, table, |bytes| {
                self.found.table_bytes += bytes;
                self.pace.add(bytes);
            });
            read.map_err(|error| self.with_rows(&error, name, table.number))?;
            self.found.tables += 1;
            verified.insert(*table);
        }
        Ok(())
    }

    /// Returns the error of a table with the rows that the table has.
    fn with_rows(&self, error: &StoreError, name: &TreeName, number: u64) -> StoreError {
        let error = error.to_string();
        let error = error.strip_prefix("corrupt data: ").unwrap_or(&error);
        let row = |entry: Vec<u8>| {
            let partitioner = self.partitioner.as_deref();
            let row = partitioner.and_then(|it| RowPrefix::of_entry(&entry, it)?.row_key(it).ok());
            let row = row.as_deref().unwrap_or(&entry);
            row.get(..SHOWN_BYTES).unwrap_or(row).escape_ascii().to_string()
        };
        let rows = match key_range_of(name, number) {
            Some((first, last)) => {
                format!("has rows from \"{}\" to \"{}\" in the ring", row(first), row(last))
            }
            None => "does not say which rows it has".to_owned(),
        };
        StoreError::Corrupt(format!("{error}. The file {rows}"))
    }
}
