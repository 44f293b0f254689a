//! Snapshots of the whole database in memory: rows, schema, roles and indexes that are not complete.
//!
//! ```text
//!   take      the state of all data and definitions now; copies nothing
//!   restore   returns to a snapshot
//!   clear     removes all rows; schema and roles stay
//!   open      a further database in the state of a snapshot
//! ```
//!
//! Each of them runs alone: it waits until no request runs, and later requests wait for it. So a request sees one state
//! from its start to its end, even if it has many steps. Requests only wait if the database has a gate
//! (`Database::with_gate`). The builders of indexes are not requests; each of their steps locks `index_steps`, and a
//! builder ends when it finds that the database has been replaced.
//!
//! The changes themselves never wait, so a caller that is dropped cannot leave a change half done.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::index::{Build, build_record, start_building};
use super::login::Roles;
use super::{Database, DatabaseParts, DbFuture, Error};
use crate::Result;
use base::schema::Catalog;
use base::util::meter::{self, RequestLimits, RequestMeter};
use base::util::{Alone, Clock, RequestGate, RequestPermit};
use store::{SnapshotStore, StoreSnapshot};

/// The time that a change of the whole database waits for running requests.
const PATIENCE: Duration = Duration::from_secs(5);

/// The whole database at one time.
#[derive(Clone)]
pub struct DatabaseSnapshot {
    store: StoreSnapshot,
    /// A copy: requests must not share it, because a drop waits until no request holds the previous schema.
    catalog: Catalog,
    roles: Arc<Roles>,
    building: HashMap<String, Build>,
}

impl DatabaseSnapshot {
    /// Returns the approximate memory of the rows of several snapshots, in bytes. Rows that they share are counted once.
    pub fn bytes_of<'a>(snapshots: impl Iterator<Item = &'a DatabaseSnapshot>) -> usize {
        StoreSnapshot::bytes_of(snapshots.map(|snapshot| &snapshot.store))
    }

    /// Returns the number of column families that the snapshot's schema has.
    pub fn families(&self) -> usize {
        self.catalog.column_families().count()
    }

    /// Replaces the schema, the roles and the unfinished indexes of a database whose store has this state.
    fn define_in(&self, database: &Arc<Database>) {
        database.roles.replace(self.roles.clone());
        database.login_guard.forget_all();
        database.traces.clear();
        if !is_same(&database.catalog(), &self.catalog) {
            database.stored_schema().publish(Arc::new(self.catalog.clone()));
        }
        database.building.write().clone_from(&self.building);
        for cf in database.catalog().column_families().filter(|_| !self.building.is_empty()) {
            for (column, index) in &cf.index_families {
                if self.building.contains_key(&build_record(index)) {
                    start_building(database, cf.clone(), column.clone(), None);
                }
            }
        }
    }
}

/// Snapshots of a database whose store can take them.
#[derive(Clone, Copy)]
pub struct Snapshots<'a> {
    database: &'a Arc<Database>,
    store: &'a dyn SnapshotStore,
    gate: &'a RequestGate,
}

/// The locks that a change of the whole database holds while it runs.
struct Exclusive<'a> {
    _alone: Alone,
    _schema: tokio::sync::MutexGuard<'a, ()>,
    _indexes: tokio::sync::MutexGuard<'a, ()>,
}

impl Database {
    /// Returns the same database whose requests wait while the whole database is replaced.
    #[must_use]
    pub fn with_gate(self) -> Database {
        Database { gate: Some(RequestGate::default()), ..self }
    }

    /// Waits while the whole database is replaced, and returns the permit that a request holds to its end. `None` if it
    /// never is.
    pub async fn admit(&self) -> Option<RequestPermit> {
        match &self.gate {
            None => None,
            // The future is boxed because nearly all servers do not need it.
            Some(gate) => Some(Box::pin(gate.enter()).await),
        }
    }

    /// Runs work as one request, such as a script or a page of the console: within these limits, and not while the whole
    /// database is replaced.
    pub async fn metered<F: Future>(&self, limits: &RequestLimits, work: F) -> F::Output {
        let permit = self.admit().await;
        let meter = RequestMeter::new(limits, Arc::default()).with_permit(permit);
        meter::metered(Arc::new(meter), work).await
    }

    /// Returns the snapshots of the database; `None` if its store has none, or if its requests do not wait for them.
    pub fn snapshots(self: &Arc<Self>) -> Option<Snapshots<'_>> {
        let store = self.store().capabilities().snapshots?;
        Some(Snapshots { database: self, store, gate: self.gate.as_ref()? })
    }
}

impl Snapshots<'_> {
    /// Takes a snapshot of the whole database.
    ///
    /// # Errors
    /// `Overloaded` if running requests do not end in time.
    pub fn take(&self) -> DbFuture<'_, DatabaseSnapshot> {
        Box::pin(async move {
            let database = self.database.clone();
            // Another thread does it, because it can take long. If it fails, `take_snapshot` does the same.
            let preparing = tokio::task::spawn_blocking(move || {
                database.store().capabilities().snapshots.inspect(|store| store.prepare_snapshot());
            });
            let _ = preparing.await;
            let _exclusive = self.alone().await?;
            Ok(DatabaseSnapshot {
                store: self.store.take_snapshot()?,
                catalog: Catalog::clone(&self.database.catalog()),
                roles: self.database.roles.now(),
                building: self.database.building.read().clone(),
            })
        })
    }

    /// Returns to a snapshot. Clients that have registered for schema changes are sent those.
    ///
    /// # Errors
    /// `Overloaded` if running requests do not end in time. Nothing has changed then.
    pub fn restore<'a>(&'a self, snapshot: &'a DatabaseSnapshot) -> DbFuture<'a, ()> {
        Box::pin(async move {
            let _exclusive = self.alone().await?;
            self.store.restore_snapshot(&snapshot.store)?;
            snapshot.define_in(self.database);
            Ok(())
        })
    }

    /// Opens a further database in memory in the state of a snapshot, with the same settings as this one. It has a
    /// clock of its own, which follows the system's, and its own faults.
    ///
    /// # Errors
    /// `Io` if its thread cannot be started.
    pub fn open(&self, snapshot: &DatabaseSnapshot) -> Result<Arc<Database>> {
        let clock = Arc::new(Clock::adjustable());
        let store = self.store.open_further(&snapshot.store, clock.clone())?;
        let parts = DatabaseParts { store, clock, ..self.database.parts.clone() };
        let guard = self.database.login_guard.another();
        let further = Arc::new(Database::new(parts).with_login_guard(guard).with_gate().with_faults());
        snapshot.define_in(&further);
        Ok(further)
    }

    /// Removes all rows. Schema and roles stay.
    ///
    /// # Errors
    /// `Overloaded` if running requests do not end in time. Nothing has changed then.
    pub fn clear(&self) -> DbFuture<'_, ()> {
        Box::pin(async move {
            let _exclusive = self.alone().await?;
            let mut building = self.database.building.write();
            // An index without rows is complete.
            self.store.clear_rows(&building.keys().cloned().collect::<Vec<_>>())?;
            building.clear();
            self.database.traces.clear();
            Ok(())
        })
    }

    /// Waits until no request, no change of the schema and no step of an index builder runs.
    async fn alone(&self) -> Result<Exclusive<'_>> {
        let all = async {
            Some(Exclusive {
                _alone: self.gate.enter_alone(PATIENCE).await?,
                // A truncate holds this lock to its end even if the request that waits for it has ended.
                _schema: self.database.changing.lock().await,
                _indexes: self.database.index_steps.lock().await,
            })
        };
        let entered = tokio::time::timeout(PATIENCE, all).await;
        entered.ok().flatten().ok_or_else(|| {
            Error::Overloaded(format!(
                "requests were still running after {} seconds, and the whole database can only change between requests: \
                 nothing was changed; try again when they have ended",
                PATIENCE.as_secs()
            ))
        })
    }
}

/// Returns whether two catalogs share all their definitions.
fn is_same(one: &Catalog, other: &Catalog) -> bool {
    one.keyspaces.changes_since(&other.keyspaces, |_, _| false).is_empty()
}
