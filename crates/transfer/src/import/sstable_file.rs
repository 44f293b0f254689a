//! Files in the directories of old servers.

use std::path::PathBuf;

use sstable::Descriptor;

/// An SSTable.
#[derive(Debug, Clone)]
pub struct SstableFile {
    /// The Data file.
    pub path: PathBuf,
    /// The size of the Data file in bytes.
    pub bytes: u64,
    /// The parts of the file's name: keyspace, column family, version of the format, and number.
    pub descriptor: Descriptor,
    /// The number of the node whose directory it is in.
    pub node: usize,
}

impl SstableFile {
    /// Returns its name in the progress file.
    pub fn part(&self) -> String {
        self.path.display().to_string()
    }
}

/// A file or directory of a node: a commit log, a transaction log, or a directory that was given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodePath {
    /// The path, as it was found.
    pub path: PathBuf,
    /// The number of the node, as of an SSTable.
    pub node: usize,
}
