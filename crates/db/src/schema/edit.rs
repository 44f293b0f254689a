//! Changes of the schema by CQL: each receives the current definition of a keyspace and edits it.

use std::sync::Arc;

use super::change::SchemaChanges;
use super::limits::check_keyspaces;
use super::request::KsRequest;
use crate::{DbFuture, Error};
use base::schema::{Catalog, CfDef, KeyspaceDef};

impl SchemaChanges<'_> {
    /// Creates a keyspace or changes its replication. Returns `false` if a new keyspace exists already, or one to
    /// change does not exist. The caller has checked the name.
    pub fn put_keyspace<'a>(&'a self, request: &'a KsRequest, is_new: bool) -> DbFuture<'a, bool> {
        Box::pin(async move {
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
            self.change(catalog, keyspace).await?;
            Ok(true)
        })
    }

    /// Changes the contents of a keyspace. The edit returns whether it changed anything; a column family that it adds
    /// gets a number. The data of column families that it removes are not deleted: `drop_column_family` does that.
    pub async fn edit_keyspace<E: From<Error>>(
        &self,
        name: &str,
        edit: impl FnOnce(&Catalog, &mut KeyspaceDef) -> Result<bool, E> + Send,
    ) -> Result<bool, E> {
        // Recordings show that an index is complete when the next change of the schema begins.
        self.database.indexes().until_built().await;
        let _changing = self.database.changing.lock().await;
        self.stored().load_newest().await?;
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
        self.change(catalog, keyspace).await?;
        Ok(true)
    }
}
