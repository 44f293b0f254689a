//! A tree: one directory of sorted tables in levels.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use lsm_tree::compaction::Leveled;
use lsm_tree::{AbstractTree, AnyIngestion, AnyTree, DescriptorTable, InternalValue, SeqNo};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::error::TreeName;
use super::runs::{KeyRange, RunHistory, Runs, SortedEntries, sum_of_metadata};
use super::snapshot::Snapshot;
use super::space::TableSpace;
use crate::disk::Disk;
use crate::manifest::TreeIdentity;
use store::{Result, StoreError};

/// Size of a table, in bytes, at which a compaction starts the next one.
const TABLE_BYTES: u64 = 64 << 20;

/// Sorted tables in levels. A forgotten tree removes its directory when it is dropped.
pub(crate) struct Tree {
    tree: AnyTree,
    history: RunHistory,
    name: TreeName,
    disk: Arc<dyn Disk>,
    /// The open files of all trees.
    files: Arc<DescriptorTable>,
    is_forgotten: AtomicBool,
    /// The tables that the manifest has recorded, and a sequence number at which they are visible and later tables are not.
    /// They are needed until it records others, because a crash returns to them. So the manifest counts as a reader.
    recorded: Mutex<Option<(TreeIdentity, SeqNo)>>,
}

/// An iterator, from either end, over entries of a tree in the order of their keys.
pub(crate) struct TreeEntries {
    entries: SortedEntries,
    /// Keeps the files that `entries` reads.
    _runs: Arc<Runs>,
    name: TreeName,
}

impl Tree {
    pub(super) fn new(
        tree: AnyTree,
        name: TreeName,
        disk: Arc<dyn Disk>,
        files: Arc<DescriptorTable>,
    ) -> Tree {
        let history = RunHistory::new(&tree);
        let (is_forgotten, recorded) = (AtomicBool::new(false), Mutex::default());
        Tree { tree, history, name, disk, files, is_forgotten, recorded }
    }

    /// Returns the identity of the tables that the tree has now, and a sequence number at which they are visible.
    pub(super) fn identity(&self, space: &TableSpace) -> Result<(TreeIdentity, SeqNo)> {
        // Read before the version: a later version has this number or a higher one.
        let sequence = space.visible().get();
        let version = self.tree.current_version();
        let list = version.id();
        let file = self.name.list_file(list);
        let bytes = self.disk.read(&file).map_err(|error| self.name.unreadable(&file, error))?;
        let (list_sum, tables_sum) = (xxh3_64(&bytes), sum_of_metadata(version.iter_tables()));
        Ok((TreeIdentity { list, list_sum, tables_sum }, sequence))
    }

    /// Takes over that the manifest has recorded an identity.
    pub(super) fn set_recorded(&self, identity: TreeIdentity, sequence: SeqNo) {
        let mut recorded = self.recorded.lock();
        assert!(
            recorded.is_none_or(|(earlier, at)| earlier.list <= identity.list && at <= sequence),
            "tables that the manifest has recorded would be removed"
        );
        *recorded = Some((identity, sequence));
    }

    /// Returns whether the manifest has recorded other tables than the current ones.
    fn is_ahead_of_manifest(&self) -> bool {
        let now = self.tree.current_version().id();
        self.recorded.lock().is_some_and(|(identity, _)| identity.list != now)
    }

    /// Makes changes visible to later readers. Returns the lowest sequence number that a reader, or the manifest, holds.
    fn advance(&self, space: &TableSpace) -> SeqNo {
        let recorded = self.recorded.lock().map_or(SeqNo::MAX, |(_, sequence)| sequence);
        space.advance().min(recorded)
    }

    /// Removes the files of tables that neither readers nor the manifest need.
    pub(super) fn remove_replaced(&self, space: &TableSpace) {
        self.history.remove_before(self.advance(space));
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, snapshot: &Snapshot, key: &[u8]) -> Result<Option<Bytes>> {
        self.history.at(snapshot.sequence()).get(key).map_err(|error| self.name.error(&error))
    }

    /// Returns the entries of a range of keys.
    pub(crate) fn range(&self, snapshot: &Snapshot, range: KeyRange) -> TreeEntries {
        let runs = self.history.at(snapshot.sequence());
        TreeEntries { entries: runs.range(&range), _runs: runs, name: self.name.clone() }
    }

    /// Starts to write a sorted run of entries, which win over all entries of the tree. `space` is the space of the
    /// tree.
    pub(crate) fn write<'a>(&'a self, space: &'a TableSpace) -> Result<TableWriter<'a>> {
        let first_file = self.tree.next_table_id();
        let writing = Some(space.writing.read());
        let mut writer = TableWriter { tree: self, space, first_file, ingestion: None, writing };
        writer.ingestion = Some(self.tree.ingestion().map_err(|error| writer.fail(&error))?);
        Ok(writer)
    }

    /// Merges some tables if there are too many. Returns whether the tree has changed.
    pub(crate) fn compact_once(&self, space: &TableSpace) -> Result<bool> {
        self.compact(space, |tree, watermark| {
            tree.compact(Arc::new(Leveled::default().with_table_target_size(TABLE_BYTES)), watermark)
        })
    }

    /// Merges all tables, which drops tombstones past gc_grace.
    pub(crate) fn compact_all(&self, space: &TableSpace) -> Result<()> {
        self.compact(space, |tree, watermark| tree.major_compact(TABLE_BYTES, watermark)).map(drop)
    }

    /// Runs a compaction, given the tree and the lowest sequence number that a reader holds. Returns whether the tree
    /// has changed.
    fn compact(
        &self,
        space: &TableSpace,
        run: impl FnOnce(&AnyTree, SeqNo) -> lsm_tree::Result<()>,
    ) -> Result<bool> {
        let first_file = self.tree.next_table_id();
        let outcome = {
            let _writing = space.writing.read();
            run(&self.tree, self.advance(space))
        };
        let is_changed = self.show_change(space);
        outcome.map_err(|error| {
            self.remove_unfinished(space, first_file);
            self.name.error(&error)
        })?;
        if is_changed || self.is_ahead_of_manifest() {
            space.record(&[self], |_| {})?;
        }
        Ok(is_changed)
    }

    /// Makes a change of the tree visible to later readers. Returns whether there was one.
    fn show_change(&self, space: &TableSpace) -> bool {
        let is_changed = self.history.add(&self.tree, space.visible());
        self.remove_replaced(space);
        is_changed
    }

    /// Returns the number of runs that are not merged yet. A read searches each of them.
    pub(crate) fn unmerged_runs(&self) -> usize {
        self.history.at(SeqNo::MAX).runs_of_level(0)
    }

    /// Returns the size of all tables in bytes.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.history.at(SeqNo::MAX).disk_bytes()
    }

    /// Returns the owner and the directory of the tables.
    pub(crate) fn name(&self) -> &TreeName {
        &self.name
    }

    /// Marks the tree for removal: its directory is removed when its last reader has ended.
    pub(crate) fn forget(&self) {
        self.is_forgotten.store(true, Ordering::Relaxed);
    }

    /// Returns whether the tree is marked for removal.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.is_forgotten.load(Ordering::Relaxed)
    }

    /// Closes the files of all tables. The library only closes files of tables that it removes itself, and an open file
    /// uses its space on the disk even after it is removed.
    fn close_files(&self) {
        let current = self.tree.current_version();
        for number in current.iter_tables().map(|table| table.id()).chain(self.history.numbers()) {
            self.files.remove_for_table(&(self.tree.id(), number).into());
        }
    }

    /// Removes the files, with numbers from `first_file` on, that a failed flush or compaction has left.
    fn remove_unfinished(&self, space: &TableSpace, first_file: u64) {
        // No tables are being written now, so every file that is not listed, and that the manifest does not need, is a
        // leftover.
        let _no_writing = space.writing.write();
        let recorded = self.recorded.lock().map_or(SeqNo::MAX, |(_, sequence)| sequence);
        let mut listed = self.history.at(recorded).numbers();
        listed.extend(self.tree.current_version().iter_tables().map(|table| table.id()));
        let directory = self.name.directory.join("tables");
        let paths = self.disk.list(&directory).unwrap_or_default();
        for path in paths {
            let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            let is_left = number.is_some_and(|number: u64| number >= first_file && !listed.contains(&number));
            if is_left && let Err(error) = self.disk.remove_file(&path) {
                tracing::warn!("{}, a leftover of a failed write, was not removed: {error}", path.display());
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.is_forgotten() {
            self.close_files();
            let directory = &self.name.directory;
            if let Err(error) = self.disk.remove_directory(directory) {
                // The next start removes it.
                tracing::warn!("{} was not removed: {error}", directory.display());
            }
        } else if self.is_ahead_of_manifest() {
            self.close_files();
            // The library would remove the files of merged tables, to which the next start returns.
            std::mem::forget(self.tree.clone());
        }
    }
}

impl TreeEntries {
    fn entry(&self, entry: lsm_tree::Result<InternalValue>) -> Result<(Bytes, Bytes)> {
        let entry = entry.map_err(|error| self.name.error(&error))?;
        Ok((entry.key.user_key.into(), entry.value.into()))
    }
}

impl Iterator for TreeEntries {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        Some(self.entry(entry))
    }
}

impl DoubleEndedIterator for TreeEntries {
    fn next_back(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next_back()?;
        Some(self.entry(entry))
    }
}

/// Writes a sorted run of entries. They become visible all at once when it is finished.
pub(crate) struct TableWriter<'a> {
    tree: &'a Tree,
    space: &'a TableSpace,
    /// The lowest number of the run's files.
    first_file: u64,
    /// `None` after it has failed or is finished.
    ingestion: Option<AnyIngestion<'a>>,
    writing: Option<parking_lot::RwLockReadGuard<'a, ()>>,
}

impl TableWriter<'_> {
    /// Adds an entry. Keys must come in ascending order.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.with(|ingestion| ingestion.write(key, value))
    }

    /// Adds a tombstone of the tree for a key.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.with(|ingestion| ingestion.write_tombstone(key))
    }

    fn with(&mut self, run: impl FnOnce(&mut AnyIngestion<'_>) -> lsm_tree::Result<()>) -> Result<()> {
        assert!(self.ingestion.is_some(), "an entry that follows a failure would be lost");
        let Some(ingestion) = &mut self.ingestion else { return Ok(()) };
        run(ingestion).map_err(|error| self.fail(&error))
    }

    /// Syncs the tables and makes them visible to later readers.
    pub(crate) fn finish(mut self) -> Result<()> {
        assert!(self.ingestion.is_some(), "a run that has failed would count as written");
        let Some(ingestion) = self.ingestion.take() else { return Ok(()) };
        if let Err(error) = ingestion.finish() {
            return Err(self.fail(&error));
        }
        drop(self.writing.take());
        self.tree.show_change(self.space);
        Ok(())
    }

    fn fail(&mut self, error: &lsm_tree::Error) -> StoreError {
        self.ingestion = None;
        self.writing = None;
        self.tree.remove_unfinished(self.space, self.first_file);
        self.tree.name.error(error)
    }
}
