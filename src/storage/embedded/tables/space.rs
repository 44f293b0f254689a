//! What all trees of a store share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Weak};

use lsm_tree::config::{CompressionPolicy, RestartIntervalPolicy};
use lsm_tree::{AbstractTree, Cache, CompressionType, Config, DescriptorTable, SeqNo, SequenceNumberCounter};
use parking_lot::{Mutex, RwLock};

use super::check::check_tree;
use super::error::TreeName;
use super::filter::TombstoneFilter;
use super::snapshot::{Snapshot, Snapshots};
use super::tree::Tree;
use crate::storage::StoreError;
use crate::storage::disk::Disk;
use crate::util::Clock;

/// The first sequence number. 0 has a meaning of its own in the tree library.
const FIRST_SEQUENCE: SeqNo = 1;
/// What the name of a directory ends with whose tables the operator has given up, since they are damaged.
pub const GIVEN_UP: &str = ".given-up";
/// Files of tables that are kept open at most, and at least.
const OPEN_FILES: std::ops::RangeInclusive<usize> = 64..=4096;

/// How tables are opened.
pub struct TableOptions {
    /// The directory in which each tree has one.
    pub directory: PathBuf,
    /// Bytes of data blocks that are kept in memory.
    pub cache_bytes: u64,
    pub clock: Arc<Clock>,
    pub disk: Arc<dyn Disk>,
}

/// All trees of a store.
pub struct TableSpace {
    options: TableOptions,
    cache: Arc<Cache>,
    files: Arc<DescriptorTable>,
    sequence: SequenceNumberCounter,
    visible: SequenceNumberCounter,
    snapshots: Snapshots,
    trees: Mutex<Vec<Weak<Tree>>>,
    is_closing: Arc<AtomicBool>,
    /// Held for reading while tables are written, and for writing while what a failed write left is removed.
    pub(super) writing: RwLock<()>,
}

impl TableSpace {
    pub fn new(options: TableOptions) -> TableSpace {
        let visible = SequenceNumberCounter::new(FIRST_SEQUENCE);
        TableSpace {
            cache: Arc::new(Cache::with_capacity_bytes(options.cache_bytes)),
            files: Arc::new(DescriptorTable::new(open_files())),
            sequence: SequenceNumberCounter::new(FIRST_SEQUENCE),
            snapshots: Snapshots::new(visible.clone()),
            visible,
            trees: Mutex::default(),
            is_closing: Arc::default(),
            writing: RwLock::default(),
            options,
        }
    }

    /// The directory of a tree.
    pub fn path_of(&self, folder: &str) -> PathBuf {
        self.options.directory.join(folder)
    }

    /// Opens a tree that exists; `None` when the operator has given it up.
    ///
    /// # Errors
    /// `Corrupt` when its files are missing or damaged.
    pub fn open(
        &self,
        folder: &str,
        owner: &str,
        gc_grace_s: &Arc<AtomicI32>,
    ) -> Result<Option<Arc<Tree>>, StoreError> {
        let name = TreeName { owner: owner.to_owned(), directory: self.path_of(folder) };
        let given_up = self.path_of(&format!("{folder}{GIVEN_UP}"));
        if !name.directory.exists() && given_up.exists() {
            tracing::warn!("the tables of {owner} in {} are given up", given_up.display());
            return Ok(None);
        }
        check_tree(&*self.options.disk, &name)?;
        self.open_or_create(name, gc_grace_s).map(Some)
    }

    /// Creates an empty tree. What is in its directory is left over from a flush that a crash cut short.
    pub fn create(
        &self,
        folder: &str,
        owner: &str,
        gc_grace_s: &Arc<AtomicI32>,
    ) -> Result<Arc<Tree>, StoreError> {
        let name = TreeName { owner: owner.to_owned(), directory: self.path_of(folder) };
        let prepare = || {
            self.options.disk.remove_directory(&name.directory)?;
            self.options.disk.create_directory(&name.directory)?;
            self.options.disk.sync_directory(&self.options.directory)
        };
        prepare().map_err(|error| name.error(&error.into()))?;
        self.open_or_create(name, gc_grace_s)
    }

    fn open_or_create(&self, name: TreeName, gc_grace_s: &Arc<AtomicI32>) -> Result<Arc<Tree>, StoreError> {
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
            .with_compaction_filter_factory(Some(Arc::new(filter)));
        let tree = name.guarded(|| config.open().map_err(|error| name.error(&error)))?;
        // A later entry must have a higher number than all that are there, or it would lose to them.
        if let Some(highest) = tree.get_highest_persisted_seqno() {
            self.sequence.fetch_max(highest + 1);
            self.visible.fetch_max(highest + 1);
            self.snapshots.advance();
        }
        let tree = Arc::new(Tree::new(tree, name, self.options.disk.clone()));
        let mut trees = self.trees.lock();
        trees.retain(|tree| tree.strong_count() > 0);
        trees.push(Arc::downgrade(&tree));
        Ok(tree)
    }

    /// The trees as they are now, for a reader.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshots.current()
    }

    /// Shows later readers what was flushed and merged.
    pub fn advance(&self) -> SeqNo {
        self.snapshots.advance()
    }

    /// Trees that are open.
    pub fn trees(&self) -> Vec<Arc<Tree>> {
        self.trees.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// The most runs that a tree has not merged yet: each is one more place to look for a key.
    pub fn unmerged_runs(&self) -> usize {
        self.trees().iter().map(|tree| tree.unmerged_runs()).max().unwrap_or(0)
    }

    /// Bytes of all tables on the disk.
    pub fn disk_bytes(&self) -> u64 {
        self.trees().iter().map(|tree| tree.disk_bytes()).sum()
    }

    /// One compaction of each tree that wants one. Returns whether there was any.
    pub fn compact_trees(&self) -> Result<bool, StoreError> {
        let mut has_worked = false;
        for tree in self.trees() {
            if self.is_closing() {
                return Ok(false);
            }
            if !tree.is_forgotten() {
                has_worked |= tree.name().guarded(|| tree.compact_once(self))?;
            }
        }
        Ok(has_worked)
    }

    /// From now on compactions are given up.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }

    /// Removes the directory of a tree that is not open. What cannot be removed now is removed at the next start.
    pub fn remove(&self, folder: &str) {
        let path = self.path_of(folder);
        if let Err(error) = self.options.disk.remove_directory(&path) {
            tracing::warn!("{} was not removed: {error}", path.display());
        }
    }

    /// Removes the directories that are not in a list: those of generations that were truncated or dropped, and of
    /// flushes that a crash cut short.
    pub fn remove_unlisted(&self, is_listed: impl Fn(&str) -> bool) -> Result<(), StoreError> {
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

/// Whether a name is one that we give to directories of tables. Others, such as copies that an operator has made, are not
/// ours to remove.
fn is_folder(name: &str) -> bool {
    let name = name.strip_suffix(".long").unwrap_or(name);
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    name == "queue"
        || name.split_once('.').is_some_and(|(id, generation)| is_number(id) && is_number(generation))
}

/// Half of the files that the process may have open are left to connections.
fn open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let half = limit.map_or(usize::MAX, |limit| usize::try_from(limit / 2).unwrap_or(usize::MAX));
    half.clamp(*OPEN_FILES.start(), *OPEN_FILES.end())
}
