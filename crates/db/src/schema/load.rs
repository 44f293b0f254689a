//! Loads the stored schema that clients made in earlier runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::copies::own_copy;
use super::records::{KeyspaceRecord, Records, changed_records, keyspace_records};
use super::stored::StoredSchema;
use crate::index::{build_record, start_building};
use crate::{DbFuture, Error, Result};
use base::partitioner::TokenForm;
use base::schema::Catalog;
use store::StoreChange;

/// The prefix of the record of an index that the configuration has defined since it was built; keyspace and index follow.
const CONFIGURED_INDEX: &str = "configured index/";

/// The metadata record with the naming scheme of index entries of CQL tables.
const ENTRIES_RECORD: &str = "cql index entries";

impl StoredSchema<'_> {
    /// Loads the keyspaces that clients made in earlier runs, and continues to build their indexes.
    pub fn load(&self) -> DbFuture<'_, ()> {
        Box::pin(async move {
            let version = self.version().await?;
            let records = self.database.store().records().await?;
            let mut catalog = Catalog::clone(&self.database.catalog());
            let mut renewed = Records::new();
            for KeyspaceRecord { name, read } in keyspace_records(&records, &self.database.parts.types) {
                let (keyspace, is_one_record) = match read {
                    Ok(read) => read,
                    // A newer server made it, and that server serves it.
                    Err(error) if self.is_shared() => {
                        tracing::error!("keyspace {name} is not served: {error}");
                        continue;
                    }
                    Err(error) => return Err(Error::Internal(error.to_string())),
                };
                if catalog.keyspaces.contains_key(name) {
                    tracing::warn!(
                        "keyspace {name}: clients have created a keyspace of this name, and the configuration now defines it \
                     too; that of the configuration is served"
                    );
                    continue;
                }
                if is_one_record && !self.is_shared() {
                    renewed.extend(changed_records(None, Some(&keyspace)));
                }
                catalog.keyspaces.insert(name.to_owned(), keyspace);
            }
            let catalog = Arc::new(catalog);
            let change = StoreChange { records: renewed, ..StoreChange::to_catalog(own_copy(&catalog)) };
            self.database.store().change_schema(change).await?;
            // The roles are loaded only now, because this may read newer records, and tables are created from the records
            // that the catalog was built from.
            self.database.logins().load_roles(&records).await?;
            self.database.catalog.store(catalog.clone());
            self.has_loaded(version, &records);
            if self.is_shared() {
                // The cluster maintains the indexes.
                return Ok(());
            }
            let records = self.with_renewed_indexes(&catalog, records).await?;
            let records = self.with_configured_indexes(&catalog, records).await?;
            for cf in catalog.column_families() {
                for (column, index) in &cf.index_families {
                    let record = build_record(index);
                    if records.iter().any(|(name, _)| *name == record) {
                        start_building(self.database, cf.clone(), column.clone(), None);
                    }
                }
            }
            Ok(())
        })
    }

    /// Empties the indexes of CQL tables in which an earlier version named the entries so that they do not sort in
    /// ring order, and records that they have to be rebuilt. Returns the records after that. Entries whose names
    /// begin with a token do sort in ring order.
    async fn with_renewed_indexes(
        &self,
        catalog: &Catalog,
        records: Vec<(String, Bytes)>,
    ) -> Result<Vec<(String, Bytes)>> {
        if records.iter().any(|(name, _)| name == ENTRIES_RECORD) {
            return Ok(records);
        }
        let mark = (ENTRIES_RECORD.to_owned(), Some(Bytes::from_static(b"2")));
        let mut change = StoreChange::of_records(vec![mark]);
        if matches!(self.database.parts.partitioner.token_form(), TokenForm::IsKey) {
            for cf in catalog.column_families().filter(|cf| cf.table.is_some()) {
                for index in cf.index_families.values() {
                    change.truncated.push(index.clone());
                    change.records.push((build_record(index), Some(Bytes::from_static(b"building"))));
                }
            }
        }
        self.database.store().change_schema(change).await?;
        Ok(self.database.store().records().await?)
    }

    /// Empties the indexes that the configuration defines and did not define at the last start, and records that they have to
    /// be built. Returns the records after that.
    async fn with_configured_indexes(
        &self,
        catalog: &Catalog,
        records: Vec<(String, Bytes)>,
    ) -> Result<Vec<(String, Bytes)>, Error> {
        let configured = catalog.keyspaces.values().filter(|keyspace| keyspace.is_configured);
        let families = configured.flat_map(|keyspace| keyspace.column_families.values());
        let mut defined = BTreeSet::new();
        let mut change = StoreChange::of_records(Vec::new());
        for index in families.flat_map(|cf| cf.index_families.values()) {
            let mark = format!("{CONFIGURED_INDEX}{}/{}", index.keyspace, index.name);
            if !records.iter().any(|(name, _)| *name == mark) {
                change.truncated.push(index.clone());
                change.records.push((mark.clone(), Some(Bytes::from_static(b"1"))));
                change.records.push((build_record(index), Some(Bytes::from_static(b"building"))));
            }
            defined.insert(mark);
        }
        let marks = records.iter().map(|(name, _)| name).filter(|name| name.starts_with(CONFIGURED_INDEX));
        let gone = marks.filter(|name| !defined.contains(*name));
        change.records.extend(gone.map(|name| (name.clone(), None)));
        if change.records.is_empty() {
            return Ok(records);
        }
        self.database.store().change_schema(change).await?;
        Ok(self.database.store().records().await?)
    }
}
