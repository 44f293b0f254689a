//! The tables of one generation of a column family.

use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::snapshot::Snapshot;
use super::space::TableSpace;
use super::tree::Tree;
use crate::long_keys;
use crate::manifest::TreeRecord;
use base::schema::FamilyName;
use base::util::SharedMap;
use store::Result;

/// Returns the number of a generation: the column family's id in the upper half, the generation in the lower.
pub(crate) fn number_of(id: u32, generation: u32) -> u64 {
    let number = u64::from(id) << 32 | u64::from(generation);
    debug_assert!(
        id_in(number) == id && generation_in(number) == generation,
        "rows would be in other tables"
    );
    number
}

/// Returns the id of the column family in a generation's number.
pub(crate) fn id_in(number: u64) -> u32 {
    u32::try_from(number >> 32).unwrap_or(0)
}

/// Returns the generation in a generation's number.
pub(crate) fn generation_in(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0)
}

/// The names of the directories of a generation's tables, and their owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableFolder {
    pub main: String,
    pub long: String,
    /// "column family K.A": for messages.
    pub owner: String,
}

impl TableFolder {
    /// Returns the directories of a generation of a column family.
    pub(crate) fn of_family(number: u64, name: &FamilyName) -> TableFolder {
        let main = format!("{}.{}", id_in(number), generation_in(number));
        TableFolder { long: format!("{main}.long"), main, owner: format!("column family {name}") }
    }
}

/// The two trees of a generation: one of ordinary entries, and one of entries with long keys. A tree is created when
/// the first flush needs it, so that a start with many empty column families is fast.
pub(crate) struct Tables {
    /// The number of the generation (`number_of`).
    pub number: u64,
    folder: TableFolder,
    main: OnceLock<Arc<Tree>>,
    long: OnceLock<Arc<Tree>>,
    /// A cell with a later timestamp wins over every cell in the tables. `i64::MAX` if that is not known.
    newest: AtomicI64,
    pub gc_grace_s: Arc<AtomicI32>,
}

impl Tables {
    /// Returns a generation without tables.
    pub(crate) fn empty(number: u64, folder: TableFolder, gc_grace_s: i32) -> Tables {
        Tables {
            number,
            folder,
            main: OnceLock::new(),
            long: OnceLock::new(),
            newest: AtomicI64::new(i64::MIN),
            gc_grace_s: Arc::new(AtomicI32::new(gc_grace_s)),
        }
    }

    /// Opens the trees that the manifest lists. A store in memory has no `space` and no trees.
    pub(crate) fn open(
        self,
        space: Option<&TableSpace>,
        listed: &SharedMap<String, TreeRecord>,
    ) -> Result<Tables> {
        let Some(space) = space else { return Ok(self) };
        for (slot, folder) in [(&self.main, &self.folder.main), (&self.long, &self.folder.long)] {
            if let Some(record) = listed.get(folder) {
                let Some(tree) = space.open(folder, &self.folder.owner, &self.gc_grace_s)? else { continue };
                let is_first = slot.set(tree).is_ok();
                assert!(is_first, "{folder} was opened twice, and readers would not see its newer tables");
                self.newest.fetch_max(record.newest.unwrap_or(i64::MAX), Ordering::Relaxed);
            }
        }
        Ok(self)
    }

    pub(crate) fn main(&self) -> Option<&Tree> {
        self.main.get().map(|tree| &**tree)
    }

    pub(crate) fn long(&self) -> Option<&Tree> {
        self.long.get().map(|tree| &**tree)
    }

    /// Returns the tree of ordinary entries, and creates it if needed. Only one flush at a time may call this.
    pub(crate) fn main_or_create(&self, space: &TableSpace) -> Result<&Tree> {
        self.get_or_create(space, &self.main, &self.folder.main)
    }

    /// Returns the tree of long keys, and creates it if needed. Only one flush at a time may call this.
    pub(crate) fn long_or_create(&self, space: &TableSpace) -> Result<&Tree> {
        self.get_or_create(space, &self.long, &self.folder.long)
    }

    fn get_or_create<'a>(
        &'a self,
        space: &TableSpace,
        slot: &'a OnceLock<Arc<Tree>>,
        folder: &str,
    ) -> Result<&'a Tree> {
        if let Some(tree) = slot.get() {
            return Ok(tree);
        }
        let created = space.create(folder, &self.folder.owner, &self.gc_grace_s)?;
        let tree = slot.get_or_init(|| created.clone());
        assert!(Arc::ptr_eq(tree, &created), "two flushes have created a tree in {folder}");
        Ok(tree)
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, snapshot: &Snapshot, key: &[u8]) -> Result<Option<Bytes>> {
        if key.len() < long_keys::CHUNK {
            return self.main().map_or(Ok(None), |tree| tree.get(snapshot, key));
        }
        self.long().map_or(Ok(None), |tree| tree.get(snapshot, &long_keys::place(key.to_vec()).key))
    }

    /// Returns the trees that exist, with the names of their directories.
    pub(crate) fn existing(&self) -> impl Iterator<Item = (&str, &Arc<Tree>)> {
        let main = self.main.get().map(|tree| (&self.folder.main[..], tree));
        main.into_iter().chain(self.long.get().map(|tree| (&self.folder.long[..], tree)))
    }

    /// Returns whether no tree exists.
    pub(crate) fn is_empty(&self) -> bool {
        self.main.get().is_none() && self.long.get().is_none()
    }

    /// Returns a timestamp such that a cell with a later one wins over every cell in the tables.
    pub(crate) fn newest(&self) -> i64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// Raises `newest` for entries that are about to be flushed. Must be called before readers can see the new tables.
    pub(crate) fn raise_newest(&self, newest: i64) {
        self.newest.fetch_max(newest, Ordering::Relaxed);
    }

    /// Marks the trees for removal, after the manifest no longer lists them. A directory is removed when its last
    /// reader has ended.
    pub(crate) fn forget(&self) {
        self.existing().for_each(|(_, tree)| tree.forget());
    }
}
