//! The version of the schema: a UUID that changes whenever the schema changes.
//!
//! The version is the sum of the digests of all definitions. A change therefore costs only the digests of the changed
//! definitions, not of 10,000 column families, and servers that made the same changes in another order have the same
//! version.

use md5::{Digest, Md5};
use parking_lot::Mutex;

use super::records::changed_records;
use base::schema::Catalog;

/// The last schema whose version was computed, with that version.
#[derive(Default)]
pub(crate) struct SchemaVersion(Mutex<(Catalog, u128)>);

impl SchemaVersion {
    /// Returns the version of a schema.
    pub(crate) fn of(&self, catalog: &Catalog) -> u128 {
        let mut known = self.0.lock();
        let (before, sum) = &mut *known;
        for (_, old, new) in catalog.keyspaces.changes_since(&before.keyspaces, |_, _| false) {
            // The digests of the changed definitions as they are afterwards; with the arguments swapped, as they were
            // before.
            let digests = |from, to| {
                changed_records(from, to).into_iter().filter_map(|(name, json)| Some(digest(&name, &json?)))
            };
            *sum = digests(new, old).fold(*sum, u128::wrapping_sub);
            *sum = digests(old, new).fold(*sum, u128::wrapping_add);
        }
        *before = catalog.clone();
        *sum
    }
}

fn digest(name: &str, json: &[u8]) -> u128 {
    let mut digest = Md5::new();
    digest.update((name.len() as u64).to_be_bytes());
    digest.update(name);
    digest.update(json);
    u128::from_be_bytes(digest.finalize().into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use base::schema::{CfDef, KeyspaceDef};

    fn with_families(names: &[&str]) -> Catalog {
        let mut keyspace = KeyspaceDef::new("Ks");
        for name in names {
            keyspace.column_families.insert((*name).to_owned(), Arc::new(CfDef::new("Ks", name)));
        }
        let mut catalog = Catalog::default();
        catalog.keyspaces.insert("Ks".to_owned(), keyspace);
        catalog
    }

    #[test]
    fn equal_schemas_have_equal_versions() {
        let version = SchemaVersion::default();
        let nothing = version.of(&Catalog::default());
        let one = version.of(&with_families(&["A"]));
        let two = version.of(&with_families(&["A", "B"]));
        let mut other = with_families(&["A", "B"]);
        other.keyspaces.get_mut("Ks").unwrap().durable_writes = false;
        let three = version.of(&other);
        let all = std::collections::BTreeSet::from([nothing, one, two, three]);
        assert_eq!(all.len(), 4);
        assert_eq!(version.of(&with_families(&["A"])), one);
        assert_eq!(version.of(&Catalog::default()), nothing);
        assert_eq!(SchemaVersion::default().of(&with_families(&["A", "B"])), two);
    }
}
