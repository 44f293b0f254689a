//! The stored schema. If several servers share a store, its metadata records are authoritative and each server
//! follows them.
//!
//! A server checks for changed records every second, and before it reports that something is undefined or describes
//! the schema. Before it changes the schema itself it loads the newest records, so that no change undoes another
//! server's.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::JoinHandle;

use super::attempts::Attempts;
use super::copies::own_copy;
use super::pending_drop::resource_of;
use super::records::{KEYSPACE_RECORD, Records};
use super::shared_schema::SchemaRefresh;
use crate::error::invalid;
use crate::{Database, DbFuture, Error, Result};
use base::schema::{Catalog, KeyspaceDef, is_same_family, keyspace_from_json, keyspace_to_json};
use store::{StoreChange, StoreError};

/// The interval at which a server checks for changes by other servers.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// The minimum interval between two checks on behalf of requests: a client that asks for undefined names must not
/// load the store.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// The time that a request waits for such a check.
const ASK_PATIENCE: Duration = Duration::from_secs(5);

/// The schema in the store, and how this server follows it.
#[derive(Clone, Copy)]
pub struct StoredSchema<'a> {
    pub(super) database: &'a Arc<Database>,
}

impl Database {
    /// Returns access to the schema in the store.
    pub fn stored_schema(self: &Arc<Self>) -> StoredSchema<'_> {
        StoredSchema { database: self }
    }
}

impl StoredSchema<'_> {
    /// Returns whether other servers may change the schema too.
    pub fn is_shared(&self) -> bool {
        self.database.store().capabilities().shared_schema.is_some()
    }

    /// Starts a task that follows other servers' changes of the schema until the database is dropped; `None` if the
    /// store is not shared.
    pub fn watch(&self) -> Option<JoinHandle<()>> {
        if !self.is_shared() {
            return None;
        }
        let database = Arc::downgrade(self.database);
        Some(tokio::spawn(async move {
            let mut is_lost = false;
            loop {
                tokio::time::sleep(WATCH_EVERY).await;
                let Some(database) = database.upgrade() else { return };
                let outcome = database.stored_schema().follow().await;
                match &outcome {
                    Err(error) if !is_lost => {
                        tracing::warn!("cannot check whether the schema has changed: {error}");
                    }
                    Ok(()) if is_lost => tracing::info!("checks for schema changes work again"),
                    _ => {}
                }
                is_lost = outcome.is_err();
            }
        }))
    }

    /// Loads the changes that other servers made before this call. Concurrent calls share one check.
    pub fn refresh(&self) -> DbFuture<'_, ()> {
        Box::pin(async move {
            if !self.is_shared() {
                return Ok(());
            }
            let came = Instant::now();
            let mut last = self.database.shared.last_look.lock().await;
            if let Some(look) = &*last {
                if look.began >= came {
                    return look.outcome.clone();
                }
                tokio::time::sleep(ASK_EVERY.saturating_sub(look.began.elapsed())).await;
            }
            let began = Instant::now();
            let looked = tokio::time::timeout(ASK_PATIENCE, self.follow()).await;
            let outcome = looked.unwrap_or_else(|_| {
                Err(Error::TimedOut(format!(
                    "the current schema could not be read within {} seconds",
                    ASK_PATIENCE.as_secs()
                )))
            });
            *last = Some(SchemaRefresh { began, outcome: outcome.clone() });
            outcome
        })
    }

    /// Does the same for calls that describe the schema: if the check fails, they describe the schema that is known.
    pub async fn refresh_if_possible(&self) {
        if let Err(error) = self.refresh().await {
            tracing::debug!("describing the last known schema: {error}");
        }
    }

    async fn follow(&self) -> Result<()> {
        let Some(shared) = self.database.store().capabilities().shared_schema else { return Ok(()) };
        if shared.records_version().await? > self.database.shared.version.load(Ordering::Acquire) {
            let _changing = self.database.changing.lock().await;
            self.load_newest().await?;
        }
        Ok(())
    }

    /// Loads the metadata records if other servers have changed them. The caller holds `changing`.
    pub(crate) async fn load_newest(&self) -> Result<()> {
        let mut attempts = Attempts::begin();
        loop {
            let outcome = self.try_load_newest().await;
            if !attempts.go_on_after(&outcome).await {
                return outcome;
            }
        }
    }

    async fn try_load_newest(&self) -> Result<()> {
        let Some(shared) = self.database.store().capabilities().shared_schema else { return Ok(()) };
        let version = shared.records_version().await?;
        if version <= self.database.shared.version.load(Ordering::Acquire) {
            return Ok(());
        }
        let records = self.database.store().records().await?;
        self.database.roles.load_readable(&records);
        let before = self.database.catalog();
        let after = self.followed(&before, &records);
        if has_other_keyspaces(&before, &after) {
            shared.follow(own_copy(&after)).await?;
            self.publish(Arc::new(after));
        }
        self.has_loaded(Some(version), &records);
        Ok(())
    }

    /// Builds the schema from the configuration and the records. Unchanged definitions are reused; a keyspace that
    /// cannot be read, because a newer server made it, stays as it was.
    fn followed(&self, before: &Catalog, records: &[(String, Bytes)]) -> Catalog {
        let mut catalog = Catalog::clone(&self.database.parts.catalog);
        for (name, json) in recorded_keyspaces(records) {
            if catalog.keyspaces.contains_key(name) {
                continue;
            }
            let known = before.keyspace(name);
            let keyspace = match known.filter(|known| keyspace_to_json(known).as_bytes() == &json[..]) {
                Some(known) => Some(known.clone()),
                None => self.read_keyspace(name, json, known).or_else(|| known.cloned()),
            };
            catalog.keyspaces.extend(keyspace.map(|keyspace| (name.to_owned(), keyspace)));
        }
        catalog
    }

    /// Reads a keyspace. Unchanged column families keep their instances, because other state refers to them.
    fn read_keyspace(&self, name: &str, json: &[u8], known: Option<&KeyspaceDef>) -> Option<KeyspaceDef> {
        let read = keyspace_from_json(json, &self.database.parts.types);
        let read = read
            .inspect_err(|error| tracing::error!("a change of keyspace {name} is not served: {error}"))
            .ok();
        let mut keyspace = read?;
        let read = keyspace.column_families.clone();
        for (name, cf) in read.iter() {
            let before = known.and_then(|known| known.column_families.get(name));
            if let Some(before) = before.filter(|before| is_same_family(before, cf)) {
                keyspace.column_families.insert(name.clone(), before.clone());
            }
        }
        Some(keyspace)
    }

    /// Checks that the stored definition of a keyspace was readable, so that it may be overwritten.
    pub(super) fn check_readable(&self, keyspace: &str) -> Result<()> {
        if self.database.shared.unread.lock().contains(keyspace) {
            return invalid(format!(
                "the definition of keyspace {keyspace} was written by a newer server, and this one cannot read it: \
                 change it there"
            ));
        }
        Ok(())
    }

    /// Writes metadata records. If a cluster times out, the records are read to find out whether they were written.
    pub(super) async fn put_records(&self, records: Records) -> Result<()> {
        let outcome = self.database.store().change_schema(StoreChange::of_records(records.clone())).await;
        let Err(StoreError::TimedOut(_)) = outcome else { return Ok(outcome?) };
        let kept: HashMap<String, Bytes> = self.database.store().records().await?.into_iter().collect();
        let are_kept = records.iter().all(|(name, value)| kept.get(name) == value.as_ref());
        if are_kept { Ok(()) } else { Ok(outcome?) }
    }

    /// Returns the version of the records, to be read before they are loaded; `None` if no other server changes them.
    pub(super) async fn version(&self) -> Result<Option<i64>> {
        match self.database.store().capabilities().shared_schema {
            Some(shared) => Ok(Some(shared.records_version().await?)),
            None => Ok(None),
        }
    }

    /// Remembers that the records of a version have been loaded.
    pub(super) fn has_loaded(&self, version: Option<i64>, records: &[(String, Bytes)]) {
        let Some(version) = version else { return };
        let names = records.iter().map(|(name, _)| name);
        *self.database.shared.marks.lock() =
            names.filter(|name| resource_of(name).is_some()).cloned().collect();
        let types = &self.database.parts.types;
        let unread = recorded_keyspaces(records).filter(|(_, json)| keyspace_from_json(json, types).is_err());
        *self.database.shared.unread.lock() = unread.map(|(name, _)| name.to_owned()).collect();
        self.database.shared.version.store(version, Ordering::Release);
    }

    /// Publishes a schema to requests and reports its changes to listeners; returns the previous schema.
    pub(crate) fn publish(&self, catalog: Arc<Catalog>) -> Weak<Catalog> {
        let before = self.database.catalog.swap(catalog.clone());
        self.database.events.send(&before, &catalog);
        Arc::downgrade(&before)
    }
}

/// Returns whether a keyspace was added, removed or changed.
fn has_other_keyspaces(before: &Catalog, after: &Catalog) -> bool {
    let mut names = before.keyspaces.keys().chain(after.keyspaces.keys());
    names.any(|name| {
        before.keyspaces.get(name).map(keyspace_to_json) != after.keyspaces.get(name).map(keyspace_to_json)
    })
}

/// Returns the keyspaces among the records, with their names.
pub(super) fn recorded_keyspaces(records: &[(String, Bytes)]) -> impl Iterator<Item = (&str, &Bytes)> {
    records.iter().filter_map(|(name, json)| Some((name.strip_prefix(KEYSPACE_RECORD)?, json)))
}

pub(crate) fn disagreement() -> Error {
    Error::SchemaDisagreement(
        "other servers change the schema at the same time: try it again later".to_owned(),
    )
}
