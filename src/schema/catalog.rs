//! Everything that is defined, as one immutable snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{CfDef, KeyspaceDef};

/// All keyspaces. A change makes a new catalog; who holds the old one goes on reading it.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub keyspaces: BTreeMap<String, KeyspaceDef>,
    /// The cluster's replication factor, which 0.4 and 0.5 configure; keyspaces may have others.
    pub replication_factor: i32,
    /// What the store keeps although it is no longer defined: requests under way may still write to it.
    pub retained: Vec<Arc<CfDef>>,
}

impl Default for Catalog {
    fn default() -> Catalog {
        Catalog { keyspaces: BTreeMap::new(), replication_factor: 1, retained: Vec::new() }
    }
}

impl Catalog {
    pub fn keyspace(&self, name: &str) -> Option<&KeyspaceDef> {
        self.keyspaces.get(name)
    }

    pub fn column_family(&self, keyspace: &str, name: &str) -> Option<&Arc<CfDef>> {
        self.keyspaces.get(keyspace)?.column_families.get(name)
    }

    /// Every column family of every keyspace, and those of their indexes.
    pub fn stored_families(&self) -> impl Iterator<Item = &Arc<CfDef>> {
        let defined =
            self.column_families().flat_map(|cf| std::iter::once(cf).chain(cf.index_families.values()));
        defined.chain(&self.retained)
    }

    /// Every column family of every keyspace.
    pub fn column_families(&self) -> impl Iterator<Item = &Arc<CfDef>> {
        self.keyspaces.values().flat_map(|keyspace| keyspace.column_families.values())
    }

    /// The same without a column family, be it an index or retained.
    #[must_use]
    pub fn without(&self, cf: &CfDef) -> Catalog {
        let mut catalog = self.clone();
        let is_other = |other: &Arc<CfDef>| (&other.keyspace, &other.name) != (&cf.keyspace, &cf.name);
        catalog.retained.retain(is_other);
        if let Some(keyspace) = catalog.keyspaces.get_mut(&cf.keyspace) {
            keyspace.column_families.retain(|_, other| is_other(other));
            for indexed in keyspace.column_families.values_mut() {
                if !indexed.index_families.values().all(is_other) {
                    Arc::make_mut(indexed).index_families.retain(|_, index| is_other(index));
                }
            }
        }
        catalog
    }
}
