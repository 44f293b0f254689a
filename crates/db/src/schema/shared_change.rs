//! Changes of the schema if several servers share a store, and the server that makes a change may stop at any moment.
//!
//! Every server serves the schema in the metadata records. Tables are therefore created before the record of their
//! column family is written, and dropped after that record is removed. Pending drops are recorded too: the next
//! server that changes the keyspace, or drops anything, completes them. The store changes tables only for a server
//! that has seen the newest records: if another server creates or drops something in between, the change starts again
//! instead of undoing it.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::attempts::Attempts;
use super::change::{SchemaChanges, refusal};
use super::copies::own_copy;
use super::pending_drop::{mark_of, resource_of};
use super::records::{Records, keyspace_record};
use super::stored::disagreement;
use crate::login::Resource;
use crate::{Error, Result};
use base::schema::{Catalog, CfDef, KeyspaceDef};
use store::{StoreChange, StoreError};

impl SchemaChanges<'_> {
    /// Creates a keyspace's tables, then records and publishes the keyspace.
    pub(super) async fn change_shared(&self, catalog: &Catalog, keyspace: KeyspaceDef) -> Result<()> {
        self.stored().check_readable(&keyspace.name)?;
        if !self.undone(Some(&keyspace)).is_empty() {
            self.finish_drops(Some(&keyspace)).await?;
            self.stored().load_newest().await?;
            if !std::ptr::eq(&**self.database.catalog(), catalog) {
                // Another server has changed the schema in between; this change is made again on top of it.
                return Err(disagreement());
            }
        }
        let records = vec![keyspace_record(&keyspace)];
        let mut with = catalog.clone();
        with.keyspaces.insert(keyspace.name.clone(), keyspace);
        self.prepare(&with).await.map_err(refusal)?;
        self.stored().put_records(records).await?;
        self.stored().publish(Arc::new(with));
        Ok(())
    }

    /// Creates the tables that the cluster lacks.
    async fn prepare(&self, catalog: &Catalog) -> Result<(), StoreError> {
        self.database.store().change_schema(StoreChange::to_catalog(own_copy(catalog))).await
    }

    /// Hides what is dropped from all servers, then removes the permissions on it and its data. The drop has
    /// succeeded once it is hidden; steps that fail are left to later changes.
    pub(super) async fn drop_shared(
        &self,
        without: Catalog,
        families: &[Arc<CfDef>],
        mut records: Records,
        dropped: &Resource,
    ) -> Result<()> {
        if let Resource::Keyspace(keyspace) | Resource::Table(keyspace, _) = dropped {
            self.stored().check_readable(keyspace)?;
        }
        let tables = families.iter().map(|cf| Resource::Table(cf.keyspace.clone(), cf.name.clone()));
        let marks = tables.chain([dropped.clone()]).filter_map(|resource| mark_of(&resource));
        records.extend(marks.map(|mark| (mark, Some(Bytes::new()))));
        self.stored().put_records(records).await?;
        self.stored().publish(Arc::new(without));
        if let Err(error) = self.finish_drops(None).await {
            tracing::warn!(
                "{dropped} is dropped, but its data is still on the cluster: {error}. The next drop removes it"
            );
        }
        Ok(())
    }

    /// Returns the records of pending drops: all, or only those that conflict with a keyspace.
    fn undone(&self, wanted: Option<&KeyspaceDef>) -> Vec<String> {
        let mut marks = self.database.shared.marks();
        if let Some(wanted) = wanted {
            marks.retain(|mark| match resource_of(mark) {
                Some(Resource::Keyspace(keyspace)) => keyspace == wanted.name,
                Some(Resource::Table(keyspace, table)) => {
                    keyspace == wanted.name && wanted.column_families.contains_key(&table)
                }
                _ => false,
            });
        }
        marks
    }

    /// Completes the pending drops.
    async fn finish_drops(&self, wanted: Option<&KeyspaceDef>) -> Result<()> {
        let mut attempts = Attempts::begin();
        loop {
            self.stored().load_newest().await?;
            let marks = self.undone(wanted);
            if marks.is_empty() {
                return Ok(());
            }
            let outcome = self.try_finish_drops(marks).await;
            if !attempts.go_on_after(&outcome).await {
                return outcome;
            }
        }
    }

    /// Tries once to complete the given drops. A failed drop does not prevent the others.
    async fn try_finish_drops(&self, marks: Vec<String>) -> Result<()> {
        let mut outcome = Ok(());
        let mut done: Records = Vec::new();
        let mut resources: Vec<(String, Resource)> = marks
            .into_iter()
            .filter_map(|mark| resource_of(&mark).map(|resource| (mark, resource)))
            .collect();
        // A keyspace is dropped after its tables, and only if they all could be dropped.
        resources.sort_by_key(|(_, resource)| matches!(resource, Resource::Keyspace(_)));
        let mut waiting = BTreeSet::new();
        for (mark, resource) in resources {
            if matches!(&resource, Resource::Keyspace(keyspace) if waiting.contains(keyspace)) {
                continue;
            }
            match self.try_finish_drop(&resource).await {
                Ok(()) => done.push((mark, None)),
                // The remaining drops would fail in the same way. Repeating the drops that succeeded does no harm.
                Err(error @ Error::SchemaDisagreement(_)) => return Err(error),
                Err(error) => {
                    outcome = Err(error);
                    if let Resource::Table(keyspace, _) = resource {
                        waiting.insert(keyspace);
                    }
                }
            }
        }
        self.prepare(&self.database.catalog()).await?;
        if !done.is_empty() {
            self.stored().put_records(done).await?;
        }
        outcome
    }

    async fn try_finish_drop(&self, dropped: &Resource) -> Result<()> {
        self.database.logins().forget_grants(dropped, StoreChange::default()).await?;
        match (dropped, self.database.store().capabilities().shared_schema) {
            (Resource::Table(keyspace, name), _) => {
                let dropped = vec![Arc::new(CfDef::new(keyspace, name))];
                self.database
                    .store()
                    .change_schema(StoreChange { dropped, ..StoreChange::default() })
                    .await?;
            }
            (Resource::Keyspace(name), Some(schema)) => schema.drop_keyspace(name).await?,
            _ => {}
        }
        Ok(())
    }
}
