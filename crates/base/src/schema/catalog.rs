//! The catalog: the whole schema, as an immutable snapshot.

use std::sync::Arc;

use super::{CfDef, FamilyName, KeyspaceDef};
use crate::util::SharedMap;

/// All keyspaces. A change creates a new catalog, which shares unchanged definitions with the old one. Requests that
/// hold the old one continue to use it.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Keyspaces by their names, those that clients made among them.
    pub keyspaces: SharedMap<String, KeyspaceDef>,
    /// The replication factor of the whole cluster, which 0.4 and 0.5 configure. Keyspaces may have others.
    pub replication_factor: i32,
}

impl Default for Catalog {
    fn default() -> Catalog {
        Catalog { keyspaces: SharedMap::new(), replication_factor: 1 }
    }
}

/// The difference between the column families that a store has for two catalogs.
#[derive(Debug, Default)]
pub struct StoredChanges {
    /// Column families that are new or have another definition.
    pub added: Vec<Arc<CfDef>>,
    /// Column families that were removed or changed, and their indexes.
    pub gone: Vec<FamilyName>,
}

impl Catalog {
    /// Returns a keyspace by its name, which is compared with upper and lower case.
    #[inline]
    pub fn keyspace(&self, name: impl AsRef<[u8]>) -> Option<&KeyspaceDef> {
        self.keyspaces.get_named(name.as_ref())
    }

    /// Returns a column family by the names of its keyspace and its own.
    #[inline]
    pub fn column_family(&self, keyspace: impl AsRef<[u8]>, name: impl AsRef<[u8]>) -> Option<&Arc<CfDef>> {
        self.keyspace(keyspace)?.column_families.get_named(name.as_ref())
    }

    /// Returns all column families that a store has: of all keyspaces, and of their indexes.
    pub fn stored_families(&self) -> impl Iterator<Item = &Arc<CfDef>> {
        self.column_families().flat_map(with_indexes)
    }

    /// Returns the column families that a store with the column families of an earlier catalog must add and remove. The
    /// cost is proportional to the number of changes, since catalogs share unchanged definitions.
    pub fn stored_changes_since(&self, earlier: &Catalog) -> StoredChanges {
        let mut changes = StoredChanges::default();
        let none = SharedMap::new();
        // Keyspaces are not compared, but their column families are.
        for (_, before, after) in self.keyspaces.changes_since(&earlier.keyspaces, |_, _| false) {
            let [before, after] =
                [before, after].map(|keyspace| keyspace.map_or(&none, |it| &it.column_families));
            for (_, before, after) in after.changes_since(before, Arc::ptr_eq) {
                changes.gone.extend(before.into_iter().flat_map(with_indexes).map(|cf| FamilyName::of(cf)));
                changes.added.extend(after.into_iter().flat_map(with_indexes).cloned());
            }
        }
        changes
    }

    /// Returns all column families of all keyspaces.
    pub fn column_families(&self) -> impl Iterator<Item = &Arc<CfDef>> {
        self.keyspaces.values().flat_map(|keyspace| keyspace.column_families.values())
    }

    /// Returns the catalog without a column family, which may also be an index.
    #[must_use]
    pub fn without(&self, cf: &CfDef) -> Catalog {
        let mut catalog = self.clone();
        let is_other = |other: &Arc<CfDef>| (&other.keyspace, &other.name) != (&cf.keyspace, &cf.name);
        if let Some(keyspace) = catalog.keyspaces.get_mut(&cf.keyspace) {
            keyspace.column_families.remove(&cf.name);
            // The name of an index is the name of its column family, a full stop, and the column's name in hexadecimal.
            let holder = cf.name.rsplit_once('.').map_or("", |(holder, _)| holder);
            if let Some(indexed) = keyspace.column_families.get_mut(holder) {
                Arc::make_mut(indexed).index_families.retain(|_, index| is_other(index));
            }
        }
        debug_assert!(catalog.stored_families().all(is_other), "the store would keep {}", cf.name);
        catalog
    }
}

/// Returns a column family, and the column families of its indexes.
fn with_indexes(cf: &Arc<CfDef>) -> impl Iterator<Item = &Arc<CfDef>> {
    std::iter::once(cf).chain(cf.index_families.values())
}
