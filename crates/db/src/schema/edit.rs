//! Changes of the schema by CQL: each receives the current definition of a keyspace and edits it.

use std::sync::Arc;

use bytes::Bytes;

use super::change::SchemaChanges;
use super::limits::check_keyspaces;
use super::request::KsRequest;
use crate::db::Error;
use crate::db::index::{Unfinished, build_record, start_building};
use crate::schema::{Catalog, CfDef, KeyspaceDef};

/// The indexes that a change adds, each with its column family and its column, and the indexes that it drops.
#[derive(Default)]
struct Indexes {
    added: Vec<(Arc<CfDef>, Bytes)>,
    dropped: Vec<(Arc<CfDef>, Arc<CfDef>)>,
}

impl Indexes {
    fn between(changes: SchemaChanges<'_>, old: &KeyspaceDef, new: &KeyspaceDef) -> Indexes {
        let mut indexes = Indexes::default();
        for (_, before, after) in new.column_families.changes_since(&old.column_families, Arc::ptr_eq) {
            let (Some(before), Some(cf)) = (before, after) else { continue };
            let (added, dropped) = changes.own_index_changes(before, cf);
            indexes.added.extend(added.into_iter().map(|(column, _)| (cf.clone(), column)));
            indexes.dropped.extend(dropped.into_iter().map(|index| (cf.clone(), index)));
        }
        indexes
    }
}

impl SchemaChanges<'_> {
    /// Creates a keyspace or changes its replication. Returns `false` if a new keyspace exists already, or one to
    /// change does not exist. The caller has checked the name.
    pub async fn put_keyspace(&self, request: &KsRequest, is_new: bool) -> Result<bool, Error> {
        let _changing = self.database.changing.lock().await;
        self.stored().load_newest().await?;
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let mut keyspace = check.keyspace(request)?;
        match catalog.keyspace(&request.name) {
            Some(_) if is_new => return Ok(false),
            None if !is_new => return Ok(false),
            Some(_) => {
                let old = check.changeable(&request.name)?;
                keyspace.column_families = old.column_families.clone();
                keyspace.user_types = old.user_types.clone();
            }
            None => check_keyspaces(&catalog)?,
        }
        self.change(&catalog, keyspace, Vec::new(), &[]).await?;
        Ok(true)
    }

    /// Changes the contents of a keyspace. The edit returns whether it changed anything; a column family that it adds
    /// gets a number. The data of column families that it removes are not deleted: `drop_column_family` does that.
    pub async fn edit_keyspace<E: From<Error>>(
        &self,
        name: &str,
        edit: impl FnOnce(&Catalog, &mut KeyspaceDef) -> Result<bool, E> + Send,
    ) -> Result<bool, E> {
        let _changing = self.database.changing.lock().await;
        self.stored().load_newest().await?;
        self.database.indexes().until_built().await;
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let old = check.changeable(name)?;
        let mut keyspace = old.clone();
        if !edit(&catalog, &mut keyspace)? {
            return Ok(false);
        }
        let changes = keyspace.column_families.changes_since(&old.column_families, Arc::ptr_eq);
        let new = changes.iter().filter(|(_, before, _)| before.is_none());
        let new: Vec<Arc<CfDef>> = new.filter_map(|(_, _, cf)| cf.cloned()).collect();
        if !new.is_empty() {
            for (id, cf) in (self.database.ids.next(&catalog)..).zip(new) {
                let numbered = CfDef { id, ..CfDef::clone(&cf) };
                keyspace.column_families.insert(cf.name.clone(), Arc::new(numbered));
            }
        }
        let Indexes { added, dropped } = Indexes::between(*self, old, &keyspace);
        let record = |index: &Arc<CfDef>, value| (build_record(index), value);
        let mut records: Vec<_> = dropped.iter().map(|(_, index)| record(index, None)).collect();
        for index in added.iter().filter_map(|(cf, column)| cf.index_families.get(column)) {
            self.database.building.write().insert(build_record(index), Unfinished::Asked);
            records.push(record(index, Some(Bytes::from_static(b"building"))));
        }
        let gone: Vec<Arc<CfDef>> = dropped.iter().map(|(_, index)| index.clone()).collect();
        let before = Arc::downgrade(&catalog);
        self.change(&catalog, keyspace, records, &gone).await?;
        drop(catalog);
        for (cf, index) in dropped {
            self.drop_indexes(&cf, vec![index], &before).await?;
        }
        for (cf, column) in &added {
            start_building(
                self.database,
                cf.clone(),
                column.clone(),
                Some(before.clone()),
                Unfinished::Asked,
            );
        }
        Ok(true)
    }
}
