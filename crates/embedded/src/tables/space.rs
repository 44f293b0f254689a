//! The state that all trees of a store share: block cache, open files, sequence numbers and snapshots.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Weak};

use lsm_tree::config::{CompressionPolicy, PartitioningPolicy, RestartIntervalPolicy};
use lsm_tree::{AbstractTree, Cache, CompressionType, Config, DescriptorTable, SeqNo, SequenceNumberCounter};
use parking_lot::{Mutex, RwLock};

use super::check::{check_identity, check_tree};
use super::error::TreeName;
use super::filter::TombstoneFilter;
use super::runs::sum_of_metadata;
use super::snapshot::{Snapshot, Snapshots};
use super::tree::Tree;
use crate::disk::Disk;
use crate::manifest::{Contents, Manifest, TreeIdentity};
use base::util::Clock;
use base::util::metrics::Counter;
use store::{Result, StoreError};

/// The first sequence number. 0 has a special meaning in the tree library.
const FIRST_SEQUENCE: SeqNo = 1;
/// Limits of the number of table files that are kept open.
const OPEN_FILES: std::ops::RangeInclusive<usize> = 64..=4096;

/// The settings with which tables are opened.
pub(crate) struct TableSpaceOptions {
    /// The parent directory of the trees' directories.
    pub directory: PathBuf,
    /// Size of the cache of data blocks, in bytes.
    pub cache_bytes: u64,
    pub clock: Arc<Clock>,
    pub disk: Arc<dyn Disk>,
    /// Records the tables of each tree.
    pub manifest: Arc<Manifest>,
}

/// All trees of a store.
pub(crate) struct TableSpace {
    options: TableSpaceOptions,
    cache: Arc<Cache>,
    files: Arc<DescriptorTable>,
    sequence: SequenceNumberCounter,
    visible: SequenceNumberCounter,
    snapshots: Snapshots,
    trees: Mutex<Vec<Weak<Tree>>>,
    /// Locked while trees are recorded, so that a later record never has earlier tables.
    recording: Mutex<()>,
    is_closing: Arc<AtomicBool>,
    /// Compactions of a tree.
    pub compactions: Counter,
    /// Locked for reading while tables are written, and for writing while files of a failed write are removed.
    pub(super) writing: RwLock<()>,
}

impl TableSpace {
    pub(crate) fn new(options: TableSpaceOptions) -> TableSpace {
        let visible = SequenceNumberCounter::new(FIRST_SEQUENCE);
        TableSpace {
            cache: Arc::new(Cache::with_capacity_bytes(options.cache_bytes)),
            files: Arc::new(DescriptorTable::new(open_files())),
            sequence: SequenceNumberCounter::new(FIRST_SEQUENCE),
            snapshots: Snapshots::new(visible.clone()),
            visible,
            trees: Mutex::default(),
            recording: Mutex::default(),
            is_closing: Arc::default(),
            compactions: Counter::default(),
            writing: RwLock::default(),
            options,
        }
    }

    /// Returns the bytes of the cached blocks.
    pub(crate) fn cache_bytes(&self) -> u64 {
        self.cache.size()
    }

    /// Returns the directory of a tree.
    pub(crate) fn path_of(&self, folder: &str) -> PathBuf {
        self.options.directory.join(folder)
    }

    pub(crate) fn name_of(&self, folder: &str, owner: &str) -> TreeName {
        TreeName { owner: owner.to_owned(), directory: self.path_of(folder) }
    }

    /// Returns the disk of the trees.
    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.options.disk
    }

    /// Opens an existing tree. `None` if the operator has given it up.
    ///
    /// # Errors
    /// `Corrupt` if its files are missing or damaged.
    pub(crate) fn open(
        &self,
        folder: &str,
        owner: &str,
        gc_grace_s: &Arc<AtomicI32>,
    ) -> Result<Option<Arc<Tree>>> {
        let name = self.name_of(folder, owner);
        if let Some(given_up) = name.given_up() {
            tracing::warn!(
                "the data of {owner} in {} is not used: an operator has renamed the directory",
                given_up.display()
            );
            return Ok(None);
        }
        let recorded = self.options.manifest.contents().tables.get(folder).and_then(|record| record.identity);
        check_tree(&*self.options.disk, &name, recorded)?;
        let tree = self.open_or_create(name, gc_grace_s, recorded)?;
        match recorded {
            Some(identity) => tree.set_recorded(identity, self.visible.get()),
            // An earlier version of the program has written the tables.
            None => self.record(&[&tree], |_| {})?,
        }
        Ok(Some(tree))
    }

    /// Records in the manifest which tables some trees have now, together with another change. Trees that the manifest
    /// does not list after that change are left out: they were truncated or dropped, or are not flushed yet.
    pub(crate) fn record(&self, trees: &[&Tree], change: impl FnOnce(&mut Contents)) -> Result<()> {
        let _recording = self.recording.lock();
        let found: Result<Vec<_>, _> = trees.iter().map(|tree| tree.identity(self)).collect();
        let found = found?;
        self.options.manifest.change(|contents| {
            change(contents);
            for (tree, (identity, _)) in trees.iter().zip(&found) {
                if let Some(record) = contents.tables.get_mut(tree.name().folder()) {
                    record.identity = Some(*identity);
                }
            }
        })?;
        for (tree, (identity, sequence)) in trees.iter().zip(found) {
            tree.set_recorded(identity, sequence);
            tree.remove_replaced(self);
        }
        Ok(())
    }

    /// Creates an empty tree. A directory of that name is a leftover of a flush that a crash interrupted, and is
    /// removed.
    pub(crate) fn create(&self, folder: &str, owner: &str, gc_grace_s: &Arc<AtomicI32>) -> Result<Arc<Tree>> {
        let name = self.name_of(folder, owner);
        let disk = &self.options.disk;
        disk.remove_directory(&name.directory)
            .and_then(|()| disk.create_directory(&name.directory))
            .and_then(|()| disk.sync_directory(&self.options.directory))
            .map_err(|error| name.error(&error.into()))?;
        self.open_or_create(name, gc_grace_s, None)
    }

    fn open_or_create(
        &self,
        name: TreeName,
        gc_grace_s: &Arc<AtomicI32>,
        recorded: Option<TreeIdentity>,
    ) -> Result<Arc<Tree>> {
        let filter = TombstoneFilter {
            clock: self.options.clock.clone(),
            gc_grace_s: gc_grace_s.clone(),
            is_closing: self.is_closing.clone(),
        };
        let config = Config::new(&name.directory, self.sequence.clone(), self.visible.clone())
            .use_cache(self.cache.clone())
            .use_descriptor_table(Some(self.files.clone()))
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
            .data_block_restart_interval_policy(RestartIntervalPolicy::new([10, 16]))
            // Undivided, the index of a table is one block of 2 MB. The block cache would rarely keep it, and reads would
            // load it from the file again.
            .index_block_partitioning_policy(PartitioningPolicy::all(true))
            .filter_block_partitioning_policy(PartitioningPolicy::all(true))
            .with_compaction_filter_factory(Some(Arc::new(filter)));
        let tree = name.guarded(|| config.open().map_err(|error| name.error(&error)))?;
        if let Some(recorded) = recorded {
            let found = sum_of_metadata(tree.current_version().iter_tables());
            check_identity(&*self.options.disk, &name, recorded, found)?;
        }
        // New entries must have higher numbers than all existing entries to win over them.
        if let Some(highest) = tree.get_highest_persisted_seqno() {
            self.sequence.fetch_max(highest + 1);
            self.visible.fetch_max(highest + 1);
            self.snapshots.advance();
            assert!(self.sequence.get() > highest, "older entries would win over those that are written now");
        }
        let tree = Arc::new(Tree::new(tree, name, self.options.disk.clone(), self.files.clone()));
        let mut trees = self.trees.lock();
        trees.retain(|tree| tree.strong_count() > 0);
        trees.push(Arc::downgrade(&tree));
        Ok(tree)
    }

    /// Returns the current snapshot, for a reader.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshots.current()
    }

    /// Returns the counter of visible sequence numbers.
    pub(super) fn visible(&self) -> &SequenceNumberCounter {
        &self.visible
    }

    /// Makes flushed and merged tables visible to later readers. Returns the lowest sequence number that a reader
    /// holds.
    pub(crate) fn advance(&self) -> SeqNo {
        self.snapshots.advance()
    }

    /// Returns the trees that are open.
    pub(crate) fn trees(&self) -> Vec<Arc<Tree>> {
        self.trees.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns the highest number of unmerged runs that a tree has. A read searches each of them.
    pub(crate) fn unmerged_runs(&self) -> usize {
        self.trees().iter().map(|tree| tree.unmerged_runs()).max().unwrap_or(0)
    }

    /// Returns the size of all tables on the disk, in bytes.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.trees().iter().map(|tree| tree.disk_bytes()).sum()
    }

    /// Runs one compaction of each tree that needs one. Returns whether there was any.
    pub(crate) fn compact_trees(&self) -> Result<bool> {
        let mut has_worked = false;
        for tree in self.trees() {
            if self.is_closing() {
                return Ok(false);
            }
            if !tree.is_forgotten() {
                let has_compacted = tree.name().guarded(|| tree.compact_once(self))?;
                if has_compacted {
                    self.compactions.increase();
                }
                has_worked |= has_compacted;
            }
        }
        Ok(has_worked)
    }

    /// Stops running compactions, and prevents later ones.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }

    /// Removes the directory of a tree that is not open. If this fails, the next start removes it.
    pub(crate) fn remove(&self, folder: &str) {
        let path = self.path_of(folder);
        if let Err(error) = self.options.disk.remove_directory(&path) {
            tracing::warn!("{} was not removed: {error}", path.display());
        }
    }

    /// Removes directories of tables that are not listed: of truncated or dropped generations, and of flushes that a
    /// crash interrupted.
    pub(crate) fn remove_unlisted(&self, is_listed: impl Fn(&str) -> bool) -> Result<()> {
        let directory = &self.options.directory;
        self.options.disk.create_directory(directory).map_err(StoreError::io_at(directory))?;
        for path in self.options.disk.list(directory).map_err(StoreError::io_at(directory))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !is_listed(name) && is_folder(name) {
                tracing::info!("{} belongs to no column family any more and is removed", path.display());
                self.options.disk.remove_directory(&path).map_err(StoreError::io_at(&path))?;
            }
        }
        Ok(())
    }
}

/// Returns whether the store gives such names to directories of tables. Other directories, such as an operator's
/// copies, must not be removed.
fn is_folder(name: &str) -> bool {
    let name = name.strip_suffix(".long").unwrap_or(name);
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    name == "queue"
        || name.split_once('.').is_some_and(|(id, generation)| is_number(id) && is_number(generation))
}

/// Returns how many table files may be open. Half of the process's limit is left for connections.
fn open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let half = limit.map_or(usize::MAX, |limit| usize::try_from(limit / 2).unwrap_or(usize::MAX));
    half.clamp(*OPEN_FILES.start(), *OPEN_FILES.end())
}
