//! One column family's engine keyspaces.

use std::sync::OnceLock;

use arc_swap::ArcSwap;
use bytes::Bytes;
use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, Readable, Snapshot};
use parking_lot::Mutex;

use super::engine::{FAMILY_TREES, engine_error};
use super::long_keys;
use crate::storage::StoreError;

/// What the ledger knows of a column family, and its trees.
pub struct Family {
    pub id: u32,
    pub trees: ArcSwap<Trees>,
}

/// The engine keyspaces of one generation: made when the first write needs them, so that a schema of many
/// column families costs nothing at start.
pub struct Trees {
    /// Tells generations of all column families apart.
    pub number: u64,
    name: String,
    database: Database,
    main: OnceLock<Keyspace>,
    long: OnceLock<Keyspace>,
    making: Mutex<()>,
}

/// The number of a generation of a column family, and what it is made of.
pub fn number_of(id: u32, generation: u32) -> u64 {
    u64::from(id) << 32 | u64::from(generation)
}

pub fn id_in(number: u64) -> u32 {
    u32::try_from(number >> 32).unwrap_or(0)
}

pub fn generation_in(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0)
}

/// The engine's name of a generation's keyspace, and of that of its long keys.
pub fn tree_name(id: u32, generation: u32) -> String {
    format!("{FAMILY_TREES}{id}_{generation}")
}

/// The column family's id in the name of one of its keyspaces.
pub fn id_in_name(name: &str) -> Option<u32> {
    name.strip_prefix(FAMILY_TREES)?.split('_').next()?.parse().ok()
}

pub fn long_name(name: &str) -> String {
    format!("{name}_long")
}

/// Options of every keyspace: leveled compaction (the engine's default), lz4 on every level (the default leaves
/// the first two raw).
pub fn create_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        .expect_point_read_hits(false)
}

impl Trees {
    /// The trees of a generation; those that exist are opened, others wait for a write.
    pub fn open(database: &Database, id: u32, generation: u32) -> Result<Trees, StoreError> {
        let name = tree_name(id, generation);
        let trees = Trees {
            number: number_of(id, generation),
            database: database.clone(),
            main: OnceLock::new(),
            long: OnceLock::new(),
            making: Mutex::new(()),
            name,
        };
        if database.keyspace_exists(&trees.name) {
            trees.main_or_make()?;
        }
        if database.keyspace_exists(&long_name(&trees.name)) {
            trees.long_or_make()?;
        }
        Ok(trees)
    }

    /// A keyspace of the store's own that exists, under a number that no column family has.
    pub fn of_store(database: &Database, number: u64, tree: Keyspace) -> Trees {
        Trees {
            number,
            name: tree.name().to_string(),
            database: database.clone(),
            main: OnceLock::from(tree),
            long: OnceLock::new(),
            making: Mutex::new(()),
        }
    }

    pub fn main(&self) -> Option<&Keyspace> {
        self.main.get()
    }

    pub fn long(&self) -> Option<&Keyspace> {
        self.long.get()
    }

    /// The keyspace of ordinary keys, which is made when there is none.
    pub fn main_or_make(&self) -> Result<&Keyspace, StoreError> {
        self.get_or_make(&self.main, &self.name)
    }

    /// The keyspace of long keys, which is made when there is none.
    pub fn long_or_make(&self) -> Result<&Keyspace, StoreError> {
        self.get_or_make(&self.long, &long_name(&self.name))
    }

    fn get_or_make<'a>(&self, slot: &'a OnceLock<Keyspace>, name: &str) -> Result<&'a Keyspace, StoreError> {
        if let Some(tree) = slot.get() {
            return Ok(tree);
        }
        let _making = self.making.lock();
        if slot.get().is_none() {
            let tree = self.database.keyspace(name, create_options).map_err(engine_error)?;
            let _ = slot.set(tree);
        }
        slot.get().ok_or_else(|| StoreError::Io(format!("engine keyspace {name} was not made")))
    }

    /// The value of a key at a moment.
    pub fn get(&self, snapshot: &Snapshot, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let found = if key.len() < long_keys::CHUNK {
            self.main().map(|tree| snapshot.get(tree, key))
        } else {
            self.long().map(|tree| snapshot.get(tree, long_keys::place(key.to_vec()).key))
        };
        match found {
            None => Ok(None),
            Some(value) => value.map(|value| value.map(Bytes::from)).map_err(engine_error),
        }
    }

    /// Every engine keyspace that exists.
    pub fn existing(&self) -> impl Iterator<Item = &Keyspace> {
        self.main().into_iter().chain(self.long())
    }
}
