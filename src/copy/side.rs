//! One of the two stores of a copy, opened.

use std::sync::Arc;

use super::CopyError;
use super::pages::Pages;
use crate::db::Database;
use crate::partitioner::PartitionerRef;
use crate::schema::{CfDef, KeyspaceDef};

/// A store to copy from or to.
pub struct Side {
    /// What it is called, the same in every run.
    pub name: String,
    /// What is alive in it.
    pub pages: Arc<dyn Pages>,
    /// Where it is a store of ours, which can be written to.
    pub database: Option<Arc<Database>>,
    /// The definitions of a server that only tells them.
    pub described: Vec<KeyspaceDef>,
    /// The order of its rows, where we know it.
    pub partitioner: Option<PartitionerRef>,
}

impl Side {
    /// Whether it tells all that is stored, tombstones too.
    pub fn can_dump(&self) -> bool {
        self.database.as_ref().is_some_and(|database| database.store().can_dump())
    }

    /// Its keyspaces as they are now.
    pub fn keyspaces(&self) -> Vec<KeyspaceDef> {
        match &self.database {
            Some(database) => database.catalog().keyspaces.values().cloned().collect(),
            None => self.described.clone(),
        }
    }

    /// The definition of a column family.
    pub fn column_family(&self, keyspace: &str, name: &str) -> Option<Arc<CfDef>> {
        match &self.database {
            Some(database) => database.catalog().column_family(keyspace, name).cloned(),
            None => {
                let keyspace = self.described.iter().find(|described| described.name == keyspace)?;
                keyspace.column_families.get(name).cloned()
            }
        }
    }

    /// The side as one that can be written to.
    pub fn writable(&self) -> Result<&Arc<Database>, CopyError> {
        self.database.as_ref().ok_or_else(|| {
            CopyError::of(
                self,
                "a Thrift server can be copied from, not to: start thriftstore before the target instead",
            )
        })
    }

    /// Whether rows of both sides come in the same order.
    pub fn is_in_order_of(&self, other: &Side) -> bool {
        match (&self.partitioner, &other.partitioner) {
            (Some(one), Some(other)) => one.class_name() == other.class_name(),
            _ => false,
        }
    }

    /// Makes all that was written durable.
    pub async fn close(&self) -> Result<(), CopyError> {
        let Some(database) = &self.database else { return Ok(()) };
        database.store().close().await.map_err(|error| CopyError::of(self, error))
    }
}
