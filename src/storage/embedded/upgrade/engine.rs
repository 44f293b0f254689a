//! The trees of the storage engine of formats 1 and 2.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use lsm_tree::{AbstractTree, AnyTree, Config, Guard, SeqNo, SequenceNumberCounter};

use super::journal::JournalItem;
use crate::storage::StoreError;
use crate::storage::disk::Disk;
use crate::storage::embedded::tables::{TreeName, check_tree};

/// The number of the engine's own tree, which has the names of the others.
const NAMES: u64 = 0;

/// A tree of the engine, opened for the upgrade.
pub struct OldTree {
    tree: AnyTree,
    name: TreeName,
    /// The highest sequence number in its tables when it was opened. Items of the log up to here are in the tables.
    persisted: Option<SeqNo>,
}

impl OldTree {
    /// Opens a tree. `None` if it has no file `current`: its creation or its removal was interrupted.
    pub fn open(disk: &dyn Disk, owner: &str, directory: PathBuf) -> Result<Option<OldTree>, StoreError> {
        let name = TreeName { owner: owner.to_owned(), directory };
        let current = name.directory.join("current");
        let exists = disk.exists(&current);
        if !exists.map_err(StoreError::io_at(&current))? {
            return Ok(None);
        }
        check_tree(disk, &name)?;
        let config =
            Config::new(&name.directory, SequenceNumberCounter::new(1), SequenceNumberCounter::new(1));
        let tree = name.guarded(|| config.open().map_err(|error| name.error(&error)))?;
        let persisted = tree.get_highest_persisted_seqno();
        Ok(Some(OldTree { tree, name, persisted }))
    }

    /// Creates an empty tree.
    pub fn create(owner: &str, directory: PathBuf) -> Result<OldTree, StoreError> {
        let name = TreeName { owner: owner.to_owned(), directory };
        let config =
            Config::new(&name.directory, SequenceNumberCounter::new(1), SequenceNumberCounter::new(1));
        let tree = name.guarded(|| config.open().map_err(|error| name.error(&error)))?;
        Ok(OldTree { tree, name, persisted: None })
    }

    /// Writes entries to tables. They must be sorted.
    pub fn write(&self, entries: Vec<(Bytes, Bytes)>) -> Result<(), StoreError> {
        let write = || {
            let mut ingestion = self.tree.ingestion()?;
            entries.into_iter().try_for_each(|(key, value)| ingestion.write(key, value))?;
            ingestion.finish()
        };
        write().map_err(|error| self.name.error(&error))
    }

    /// Replays an item of the log, unless the tables have it.
    pub fn replay(&self, item: JournalItem) {
        if self.persisted.is_some_and(|persisted| item.sequence <= persisted) {
            return;
        }
        match item.value {
            Some(value) => self.tree.insert(item.key, value, item.sequence),
            None => self.tree.remove(item.key, item.sequence),
        };
    }

    /// Flushes the replayed items.
    pub fn flush(&self) -> Result<(), StoreError> {
        let lock = self.tree.get_flush_lock();
        self.tree.rotate_memtable();
        let flushed = self.tree.flush(&lock, 0);
        flushed.map_err(|error| self.name.error(&error)).map(|_| ())
    }

    /// Returns all entries, sorted.
    pub fn entries(&self) -> impl Iterator<Item = Result<(Bytes, Bytes), StoreError>> {
        self.tree.iter(SeqNo::MAX, None).map(|guard| {
            let (key, value) = guard.into_inner().map_err(|error| self.name.error(&error))?;
            Ok((key.into(), value.into()))
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let found = self.tree.get(key, SeqNo::MAX).map_err(|error| self.name.error(&error))?;
        Ok(found.map(Bytes::from))
    }
}

/// Returns the directories of the engine's keyspaces by their numbers.
pub fn directories(disk: &dyn Disk, keyspaces: &Path) -> Result<BTreeMap<u64, PathBuf>, StoreError> {
    let mut found = BTreeMap::new();
    let listed = disk.list(keyspaces);
    for path in listed.map_err(StoreError::io_at(keyspaces))? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match name.parse() {
            Ok(number) => found.insert(number, path),
            Err(_) if path.is_dir() => {
                return Err(StoreError::Corrupt(format!(
                    "{} is not a directory of the storage engine; move it away",
                    path.display()
                )));
            }
            Err(_) => None,
        };
    }
    Ok(found)
}

/// Returns the names of those keyspaces that have one, by number.
pub fn names(
    disk: &dyn Disk,
    keyspaces: &Path,
    numbers: impl Iterator<Item = u64>,
) -> Result<BTreeMap<u64, String>, StoreError> {
    let directory = keyspaces.join(NAMES.to_string());
    let tree = OldTree::open(disk, "the names of all column families", directory)?;
    let Some(tree) = tree else {
        return Err(StoreError::Corrupt(format!(
            "{} is damaged: it lists all column families, but its file `current` is missing; put back an \
             undamaged copy of the data directory",
            keyspaces.join(NAMES.to_string()).display()
        )));
    };
    let mut names = BTreeMap::new();
    for number in numbers.filter(|number| *number != NAMES) {
        let key = [&b"n"[..], &number.to_be_bytes()].concat();
        if let Some(name) = tree.get(&key)? {
            names.insert(number, String::from_utf8_lossy(&name).into_owned());
        }
    }
    Ok(names)
}
