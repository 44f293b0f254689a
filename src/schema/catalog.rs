//! Everything that is defined, as one immutable snapshot.

use std::sync::Arc;

use super::{CfDef, KeyspaceDef};
use crate::util::SharedMap;

/// All keyspaces. A change makes a new catalog, which shares with the old one what stays the same; who holds the old one
/// goes on reading it.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub keyspaces: SharedMap<String, KeyspaceDef>,
    /// The cluster's replication factor, which 0.4 and 0.5 configure; keyspaces may have others.
    pub replication_factor: i32,
    /// What the store keeps although it is no longer defined: requests under way may still write to it.
    pub retained: Vec<Arc<CfDef>>,
}

impl Default for Catalog {
    fn default() -> Catalog {
        Catalog { keyspaces: SharedMap::new(), replication_factor: 1, retained: Vec::new() }
    }
}

/// What differs between the column families that a store keeps for two catalogs.
#[derive(Debug, Default)]
pub struct StoredChanges {
    /// Those that are new or have another definition.
    pub added: Vec<Arc<CfDef>>,
    /// Keyspaces and names of those that are gone, and of some that are among `added`.
    pub gone: Vec<(String, String)>,
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
        self.column_families().flat_map(with_indexes).chain(&self.retained)
    }

    /// One of them by its keyspace and name.
    pub fn stored_family(&self, keyspace: &str, name: &str) -> Option<Arc<CfDef>> {
        let retained = self.retained.iter().find(|cf| cf.keyspace == keyspace && cf.name == name);
        let index = || {
            // An index is called by its column family's name, a full stop and its column's.
            let (holder, _) = name.rsplit_once('.')?;
            let holder = self.column_family(keyspace, holder)?;
            holder.index_families.values().find(|index| index.name == name)
        };
        retained.or_else(|| self.column_family(keyspace, name)).or_else(index).cloned()
    }

    /// What a store that has kept the column families of an earlier catalog has to add and to remove. Takes as long as the
    /// changes are many, since definitions that stay are shared.
    pub fn stored_changes_since(&self, earlier: &Catalog) -> StoredChanges {
        let mut changes = StoredChanges::default();
        let none = SharedMap::new();
        // Keyspaces are not compared as wholes: their column families are.
        for (_, before, after) in self.keyspaces.changes_since(&earlier.keyspaces, |_, _| false) {
            let [before, after] =
                [before, after].map(|keyspace| keyspace.map_or(&none, |it| &it.column_families));
            for (_, before, after) in after.changes_since(before, Arc::ptr_eq) {
                changes.gone.extend(before.into_iter().flat_map(with_indexes).map(|cf| name_of(cf)));
                changes.added.extend(after.into_iter().flat_map(with_indexes).cloned());
            }
        }
        for cf in &earlier.retained {
            changes.gone.push(name_of(cf));
            changes.added.extend(self.stored_family(&cf.keyspace, &cf.name));
        }
        changes.added.extend(self.retained.iter().cloned());
        changes
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
            keyspace.column_families.remove(&cf.name);
            let holder = cf.name.rsplit_once('.').map_or("", |(holder, _)| holder);
            if let Some(indexed) = keyspace.column_families.get_mut(holder) {
                Arc::make_mut(indexed).index_families.retain(|_, index| is_other(index));
            }
        }
        catalog
    }
}

/// A column family, and those of its indexes.
fn with_indexes(cf: &Arc<CfDef>) -> impl Iterator<Item = &Arc<CfDef>> {
    std::iter::once(cf).chain(cf.index_families.values())
}

fn name_of(cf: &CfDef) -> (String, String) {
    (cf.keyspace.clone(), cf.name.clone())
}
