//! The numbers by which 0.7 to 1.1 identify column families.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use base::schema::{Catalog, FIRST_CF_ID};

/// The numbers of a schema's column families, each with the number of its uses, updated from the changes of the
/// schema.
#[derive(Default)]
pub(crate) struct FamilyIds(Mutex<(Catalog, BTreeMap<i32, usize>)>);

impl FamilyIds {
    /// Returns the highest number in a schema plus one.
    pub(crate) fn next(&self, catalog: &Catalog) -> i32 {
        let mut known = self.0.lock();
        let (before, ids) = &mut *known;
        let nothing = Default::default();
        for (_, old, new) in catalog.keyspaces.changes_since(&before.keyspaces, |_, _| false) {
            let [old, new] = [old, new].map(|keyspace| keyspace.map_or(&nothing, |it| &it.column_families));
            for (_, old, new) in new.changes_since(old, Arc::ptr_eq) {
                if let Some(cf) = new {
                    *ids.entry(cf.id).or_default() += 1;
                }
                if let Some(cf) = old
                    && let Some(count) = ids.get_mut(&cf.id)
                {
                    debug_assert!(*count > 0, "the id of a column family would be given twice");
                    *count -= 1;
                    if *count == 0 {
                        ids.remove(&cf.id);
                    }
                }
            }
        }
        *before = catalog.clone();
        ids.last_key_value().map_or(FIRST_CF_ID, |(id, _)| id.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::schema::{CfDef, KeyspaceDef};

    fn with_ids(ids: &[i32]) -> Catalog {
        let mut keyspace = KeyspaceDef::new("Ks");
        for id in ids {
            let cf = CfDef { id: *id, ..CfDef::new("Ks", &id.to_string()) };
            keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
        }
        let mut catalog = Catalog::default();
        catalog.keyspaces.insert("Ks".to_owned(), keyspace);
        catalog
    }

    #[test]
    fn the_next_id_is_one_more_than_the_largest() {
        let ids = FamilyIds::default();
        assert_eq!(ids.next(&Catalog::default()), FIRST_CF_ID);
        assert_eq!(ids.next(&with_ids(&[1000, 1007, 1003])), 1008);
        assert_eq!(ids.next(&with_ids(&[1000, 1003])), 1004);
        assert_eq!(ids.next(&Catalog::default()), FIRST_CF_ID);
    }
}
