//! Loads the schema that clients have made in an earlier run.

use std::sync::Arc;

use bytes::Bytes;

use super::drop::own_copy;
use super::notes::{KeyspaceRecord, Notes, changed_notes, noted_in_full};
use super::stored::StoredSchema;
use crate::db::Error;
use crate::db::index::{Unfinished, build_note, start_building};
use crate::partitioner::TokenForm;
use crate::schema::Catalog;

/// Which names the entries of CQL tables' indexes have.
const ENTRIES_NOTE: &str = "cql index entries";

impl StoredSchema<'_> {
    /// Takes up the keyspaces that clients have made in an earlier run, and goes on building their indexes.
    pub async fn load(&self) -> Result<(), Error> {
        let version = self.version().await?;
        let notes = self.database.store().notes().await?;
        let mut catalog = Catalog::clone(&self.database.catalog());
        let mut renewed = Notes::new();
        for KeyspaceRecord { name, read } in noted_in_full(&notes, &self.database.parts.types) {
            let (keyspace, is_one_record) = match read {
                Ok(read) => read,
                // A newer server has made it, and serves it.
                Err(error) if self.is_shared() => {
                    tracing::error!("keyspace {name} is not served: {error}");
                    continue;
                }
                Err(error) => return Err(Error::Internal(error.to_string())),
            };
            if catalog.keyspaces.contains_key(name) {
                tracing::warn!(
                    "keyspace {name}: clients have made one of this name, and the configuration file now defines \
                     another, which is served"
                );
                continue;
            }
            if is_one_record && !self.is_shared() {
                renewed.extend(changed_notes(None, Some(&keyspace)));
            }
            catalog.keyspaces.insert(name.to_owned(), keyspace);
        }
        let catalog = Arc::new(catalog);
        if !renewed.is_empty() {
            self.database.store().note(renewed).await?;
        }
        self.database.store().alter(own_copy(&catalog)).await?;
        // Only now: it may read newer notes, and tables are made by those that the catalog is of.
        self.database.logins().load_roles(&notes).await?;
        self.database.catalog.store(catalog.clone());
        self.has_loaded(version, &notes);
        if self.is_shared() {
            // The cluster keeps the indexes.
            return Ok(());
        }
        let notes = self.with_renewed_indexes(&catalog, notes).await?;
        for cf in catalog.column_families() {
            for (column, index) in &cf.index_families {
                let note = build_note(index);
                if notes.iter().any(|(name, _)| *name == note) {
                    start_building(self.database, cf.clone(), column.clone(), None, Unfinished::Avoided);
                }
            }
        }
        Ok(())
    }

    /// Empties the indexes of CQL tables whose entries an earlier version has named so that they do not sort in ring order,
    /// and notes that they are to be built; answers with the notes as they are then. Where tokens come first in the
    /// names, they do sort so.
    async fn with_renewed_indexes(
        &self,
        catalog: &Catalog,
        notes: Vec<(String, Bytes)>,
    ) -> Result<Vec<(String, Bytes)>, Error> {
        if notes.iter().any(|(name, _)| name == ENTRIES_NOTE) {
            return Ok(notes);
        }
        let mut changed: Notes = vec![(ENTRIES_NOTE.to_owned(), Some(Bytes::from_static(b"2")))];
        if matches!(self.database.parts.partitioner.token_form(), TokenForm::IsKey) {
            for cf in catalog.column_families().filter(|cf| cf.table.is_some()) {
                for index in cf.index_families.values() {
                    self.database.store().truncate(index.clone()).await?;
                    changed.push((build_note(index), Some(Bytes::from_static(b"building"))));
                }
            }
        }
        self.database.store().note(changed).await?;
        Ok(self.database.store().notes().await?)
    }
}
