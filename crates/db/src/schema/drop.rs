//! Drops of keyspaces, column families and indexes, with their data.

use std::sync::Arc;

use super::change::SchemaChanges;
use super::copies::{own_copy, until_unused};
use super::records::{KEYSPACE_RECORD, Records, changed_records, keyspace_record};
use crate::error::invalid;
use crate::index::build_record;
use crate::login::Resource;
use crate::reserved::{SYSTEM_KEYSPACE, is_reserved};
use crate::{DbFuture, Result};
use base::compat::texts;
use base::schema::{Catalog, CfDef};
use store::StoreChange;

impl SchemaChanges<'_> {
    /// Drops a keyspace with all its data.
    pub fn drop_keyspace<'a>(&'a self, name: &'a str) -> DbFuture<'a, ()> {
        Box::pin(async move { self.change_newest(|| Box::pin(self.try_drop_keyspace(name))).await })
    }

    async fn try_drop_keyspace(&self, name: &str) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        if self.behaviour.schema.drop_refuses_system && name.eq_ignore_ascii_case(SYSTEM_KEYSPACE) {
            check.changeable(name)?;
        }
        if catalog.keyspace(name).is_none() && check.changeable(name).is_err() {
            return invalid(texts::unknown_keyspace_to_drop(self.behaviour, name));
        }
        let keyspace = check.changeable(name)?.clone();
        let mut without = Catalog::clone(&catalog);
        without.keyspaces.remove(name);
        let families: Vec<Arc<CfDef>> = keyspace.column_families.values().cloned().collect();
        let records = if self.stored().is_shared() {
            vec![(format!("{KEYSPACE_RECORD}{name}"), None)]
        } else {
            changed_records(Some(&keyspace), None)
        };
        drop(catalog);
        self.drop_families(without, families, records, Resource::Keyspace(name.to_owned())).await
    }

    /// Drops a column family with all its data.
    pub fn drop_column_family<'a>(&'a self, keyspace: &'a str, name: &'a str) -> DbFuture<'a, ()> {
        Box::pin(async move { self.change_newest(|| Box::pin(self.try_drop_family(keyspace, name))).await })
    }

    async fn try_drop_family(&self, keyspace: &str, name: &str) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        if name.is_empty() && self.behaviour.schema.drop_finds_family_first {
            return invalid(texts::empty_table_name(self.behaviour));
        }
        if is_reserved(self.database.store().capabilities(), keyspace) {
            return invalid(texts::family_of_own_keyspace(self.behaviour, keyspace));
        }
        let Some(cf) = catalog.column_family(keyspace, name).cloned() else {
            return invalid(texts::unknown_table_to_drop(self.behaviour, name));
        };
        let before = check.changeable(keyspace)?;
        let mut changed = before.clone();
        changed.column_families.remove(name);
        let records = if self.stored().is_shared() {
            vec![keyspace_record(&changed)]
        } else {
            changed_records(Some(before), Some(&changed))
        };
        let mut without = Catalog::clone(&catalog);
        without.keyspaces.insert(keyspace.to_owned(), changed);
        drop(catalog);
        let dropped = Resource::Table(keyspace.to_owned(), name.to_owned());
        self.drop_families(without, vec![cf], records, dropped).await
    }

    /// Hides column families, then drops them when no request uses them any more: their definitions, the permissions on
    /// them and their data, in one change of the store. If the change fails, nothing is dropped.
    async fn drop_families(
        &self,
        without: Catalog,
        families: Vec<Arc<CfDef>>,
        mut records: Records,
        dropped: Resource,
    ) -> Result<()> {
        if self.stored().is_shared() {
            return self.drop_shared(without, &families, records, &dropped).await;
        }
        let with = own_copy(&self.database.catalog());
        let catalog = Some(own_copy(&without));
        until_unused(&self.stored().publish(Arc::new(without))).await;
        let indexes: Vec<_> = families.iter().flat_map(|cf| cf.index_families.values().cloned()).collect();
        records.extend(indexes.iter().map(|index| (build_record(index), None)));
        let dropped_families = [indexes, families].concat();
        let change = StoreChange { records, dropped: dropped_families, catalog, ..StoreChange::default() };
        let outcome = self.database.logins().forget_grants(&dropped, change).await;
        if outcome.is_err() {
            self.stored().publish(with);
        }
        outcome
    }
}
