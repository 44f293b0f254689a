//! A full backup: the manifest, the lists of tables, and the names of the tables.

use embedded::{PinnedBackup, PinnedTable, SmallFile, StorePoint};
use serde::{Deserialize, Serialize};

use crate::log_part::take_pieces;
use crate::names::TableObject;
use crate::object::{self, ObjectKind};
use crate::{ArchiveError, Result};

/// A full backup. With the log from segment `first_segment` up to `point` or any later moment of its run it is a state of
/// the store.
pub(crate) struct FullBackup {
    pub header: FullBackupHeader,
    pub manifest: Vec<u8>,
    /// The contents of `files`.
    pub contents: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FullBackupHeader {
    /// The number of the full backup in its run, from 1 on.
    pub number: u64,
    /// When it was pinned, in microseconds since 1970.
    pub at_us: i64,
    /// The first state that can be restored.
    pub point: StorePoint,
    /// The segment from which on the log is replayed.
    pub first_segment: u64,
    /// The first part that a restore reads.
    pub first_part: u64,
    /// The part that has the end of the log at `point`.
    pub last_part: u64,
    /// The contents of the file `THRIFTSTORE`.
    pub marker: String,
    pub manifest_bytes: u64,
    /// Directories in `tables`.
    pub folders: Vec<String>,
    pub files: Vec<FileEntry>,
    pub tables: Vec<ArchivedTable>,
}

/// A file that is stored in the full backup itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    /// Its path in `tables`.
    pub path: String,
    pub bytes: u64,
}

/// A table, which is an object of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ArchivedTable {
    /// Its path in `tables`.
    pub path: String,
    /// 128 bits of XXH3 of the file, in hexadecimal digits.
    pub checksum: String,
    pub bytes: u64,
}

/// Returns the name that a pinned table has in the archive.
pub(crate) fn name_of(table: &PinnedTable) -> TableObject {
    TableObject { checksum: table.checksum, bytes: table.bytes }
}

impl ArchivedTable {
    /// Returns the name of the object. `full` names the full backup.
    pub(crate) fn name(&self, full: &str) -> Result<TableObject> {
        let checksum = u128::from_str_radix(&self.checksum, 16)
            .map_err(|_| ArchiveError::damaged(full, "the checksum of a table cannot be read"))?;
        Ok(TableObject { checksum, bytes: self.bytes })
    }
}

impl FullBackup {
    /// Returns the full backup of a pinned one.
    pub(crate) fn of(pinned: &PinnedBackup, number: u64, at_us: i64) -> FullBackup {
        let table = |table: &PinnedTable| ArchivedTable {
            path: table.path.clone(),
            checksum: format!("{:032x}", table.checksum),
            bytes: table.bytes,
        };
        let file = |file: &SmallFile| FileEntry { path: file.path.clone(), bytes: file.bytes.len() as u64 };
        let header = FullBackupHeader {
            number,
            at_us,
            point: pinned.point,
            first_segment: pinned.first_segment,
            first_part: 0,
            last_part: 0,
            marker: String::from_utf8_lossy(&pinned.marker).into_owned(),
            manifest_bytes: pinned.manifest.len() as u64,
            folders: pinned.folders.clone(),
            files: pinned.files.iter().map(file).collect(),
            tables: pinned.tables.iter().map(table).collect(),
        };
        let contents = pinned.files.iter().map(|file| file.bytes.clone()).collect();
        FullBackup { header, manifest: pinned.manifest.clone(), contents }
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut body = self.manifest.clone();
        self.contents.iter().for_each(|file| body.extend_from_slice(file));
        object::encode(ObjectKind::Full, &self.header, &body)
    }

    /// Decodes a full backup. The paths in it do not leave the directory of tables.
    pub(crate) fn decode(name: &str, object: &[u8]) -> Result<FullBackup> {
        let (header, mut body): (FullBackupHeader, _) = object::decode(name, ObjectKind::Full, object)?;
        let paths =
            header.files.iter().map(|file| &file.path).chain(header.tables.iter().map(|table| &table.path));
        if let Some(wrong) = paths.chain(&header.folders).find(|path| !is_inner(path)) {
            return Err(ArchiveError::damaged(name, format!("it has a file {wrong:?}")));
        }
        let lengths: Vec<u64> = header.files.iter().map(|file| file.bytes).collect();
        let contents = take_pieces(name, &mut body, header.manifest_bytes, &lengths)?;
        Ok(FullBackup { header, manifest: body, contents })
    }

    /// Returns the bytes of all tables.
    pub(crate) fn table_bytes(&self) -> u64 {
        self.header.tables.iter().map(|table| table.bytes).sum()
    }
}

/// Returns whether a path is relative and stays in its directory.
fn is_inner(path: &str) -> bool {
    path.split('/')
        .all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0']))
}

/// Returns the directory of a tree in the path of one of its files.
pub(crate) fn folder_of(path: &str) -> &str {
    path.split_once('/').map_or(path, |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_directory_are_refused() {
        for path in ["1.1/tables/3", "1.1/current"] {
            assert!(is_inner(path), "{path}");
        }
        for path in ["", "/etc/passwd", "../a", "a/../../b", "a//b", "./a"] {
            assert!(!is_inner(path), "{path}");
        }
    }
}
