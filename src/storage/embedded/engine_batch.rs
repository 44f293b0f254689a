//! Writes that the engine takes together.

use bytes::Bytes;
use fjall::{Database, Keyspace, PersistMode};

use super::engine::engine_error;
use crate::storage::StoreError;

/// One write: a key's new value, or `None` for its removal.
struct Write {
    tree: Keyspace,
    key: Vec<u8>,
    value: Option<Bytes>,
}

/// Writes in the making, to any of the engine's keyspaces.
#[derive(Default)]
pub struct EngineBatch {
    writes: Vec<Write>,
}

impl EngineBatch {
    pub fn put(&mut self, tree: &Keyspace, key: Vec<u8>, value: Option<Bytes>) {
        self.writes.push(Write { tree: tree.clone(), key, value });
    }

    /// Hands the writes to the operating system, all or none: from then on a killed process loses nothing. The
    /// engine has a shorter way for one write.
    pub fn commit(mut self, database: &Database) -> Result<(), StoreError> {
        if self.writes.len() <= 1 {
            return match self.writes.pop() {
                None => Ok(()),
                Some(Write { tree, key, value: Some(value) }) => {
                    tree.insert(key, value).map_err(engine_error)
                }
                Some(Write { tree, key, value: None }) => tree.remove(key).map_err(engine_error),
            };
        }
        let mut batch = fjall::OwnedWriteBatch::with_capacity(database.clone(), self.writes.len())
            .durability(Some(PersistMode::Buffer));
        for write in self.writes {
            match write.value {
                Some(value) => batch.insert(&write.tree, write.key, value),
                None => batch.remove(&write.tree, write.key),
            }
        }
        batch.commit().map_err(engine_error)
    }
}
