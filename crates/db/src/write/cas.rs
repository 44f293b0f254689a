//! Conditional updates (2.0 and later).

use std::sync::Arc;

use bytes::Bytes;

use super::Writes;
use crate::args::NewColumn;
use crate::error::invalid;
use crate::validate::Validation;
use crate::{Database, Request, Result};
use base::compat::features::ConsistencyLevel;
use base::compat::{Behaviour, texts};
use base::model::{Cell, Change, Mutation, Predicate, ReadCommand, RowColumns, SliceRange};
use base::schema::CfDef;
use store::{CasAnswer, CasCommand};

/// The arguments of a conditional update, which is committed at the consistency level of its request.
#[derive(Debug, Clone)]
pub struct CasRequest {
    /// The key of the row.
    pub key: Bytes,
    /// The name of the column family.
    pub column_family: Bytes,
    /// The columns that must exist with these values. If empty, the row must have no columns.
    pub expected: Vec<NewColumn>,
    /// The columns to write.
    pub updates: Vec<NewColumn>,
    /// The consistency level of the comparison, SERIAL or LOCAL_SERIAL.
    pub serial_consistency: ConsistencyLevel,
}

/// The outcome of a conditional update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CasOutcome {
    /// The columns have been written.
    Applied,
    /// The current columns: the live ones of the expected columns, or the row's first one.
    Refused(Vec<Cell>),
}

impl Writes<'_> {
    /// Writes columns if the row is as expected. Conditional updates of one row wait for each other; plain writes do
    /// not wait for them, as in the old servers. The server sets the timestamp. A cluster runs conditional updates
    /// itself.
    pub async fn cas(&self, request: CasRequest) -> Result<CasOutcome> {
        let Request { keyspace, consistency: commit_consistency, behaviour, .. } = *self.request;
        let checks = self.request.validation();
        let cf = checks.family_and_key(keyspace, &request.column_family, &request.key, false)?;
        checks.cas(cf, &request, commit_consistency)?;
        if commit_consistency == ConsistencyLevel::EachQuorum {
            checks.needs_data_centres(keyspace, commit_consistency)?;
        }
        self.request.check_replicas(request.serial_consistency, true)?;

        let names = request.expected.iter().map(|column| column.name.clone()).collect();
        let predicate = if request.expected.is_empty() {
            Predicate::Range(SliceRange { count: 1, ..SliceRange::all() })
        } else {
            Predicate::Names(names)
        };
        let command = self.request.command(cf, None, predicate);
        if let Some(store) = self.request.store().capabilities().conditional_updates {
            let command = self.cas_command(cf, command, request);
            return Ok(match store.compare_and_set(command).await? {
                CasAnswer::Applied => CasOutcome::Applied,
                CasAnswer::Refused(current) => CasOutcome::Refused(current),
            });
        }
        let _turn = self.request.database.cas_turn(&request.key).await;
        let read =
            self.request.store().read(request.key.clone(), command, request.serial_consistency).await?;
        let RowColumns::Cells(current) = read else { return Ok(CasOutcome::Refused(Vec::new())) };
        if !is_as_expected(cf, &current, &request.expected, behaviour) {
            return Ok(CasOutcome::Refused(current));
        }
        let changes = self.cas_changes(cf, request.updates);
        let mutation = Mutation::of(request.key, cf.clone(), changes);
        self.apply(vec![mutation]).await?;
        Ok(CasOutcome::Applied)
    }

    fn cas_changes(&self, cf: &CfDef, updates: Vec<NewColumn>) -> Vec<Change> {
        let timestamp = Some(self.request.database.next_micros());
        let may_expire = self.request.behaviour.writes.conditional_updates_expire;
        let updates = updates.into_iter();
        updates
            .map(|column| {
                let ttl_s = column.ttl_s.filter(|_| may_expire);
                self.changes().column(cf, None, NewColumn { timestamp, ttl_s, ..column })
            })
            .collect()
    }

    /// Returns the command for a store that runs conditional updates itself.
    fn cas_command(&self, cf: &Arc<CfDef>, read: ReadCommand, request: CasRequest) -> CasCommand {
        let expected = request.expected.into_iter();
        let changes = self.cas_changes(cf, request.updates);
        CasCommand {
            read,
            expected: expected.map(|column| (column.name, column.value.unwrap_or_default())).collect(),
            mutation: Mutation::of(request.key.clone(), cf.clone(), changes),
            key: request.key,
            serial_consistency: request.serial_consistency,
            commit_consistency: self.request.consistency,
        }
    }
}

impl Database {
    /// Locks the row against other conditional updates.
    pub async fn cas_turn(&self, key: &Bytes) -> tokio::sync::MutexGuard<'_, ()> {
        use std::hash::BuildHasher;
        let hash = self.cas_hasher.hash_one(key);
        let at = usize::try_from(hash % self.cas_turns.len() as u64).unwrap_or(0);
        self.cas_turns[at].lock().await
    }
}

/// Returns whether the live columns found are the expected ones, with the expected values.
fn is_as_expected(cf: &CfDef, current: &[Cell], expected: &[NewColumn], behaviour: &Behaviour) -> bool {
    if expected.is_empty() {
        return current.is_empty();
    }
    let comparator = base::marshal::at(&*cf.comparator, behaviour.release);
    expected.iter().all(|column| {
        let found = current.iter().find(|cell| comparator.compare(&cell.name, &column.name).is_eq());
        found.is_some_and(|cell| Some(&cell.value) == column.value.as_ref())
    })
}

impl Validation<'_> {
    /// Validates the updates, the expected columns, and the levels.
    fn cas(&self, cf: &CfDef, request: &CasRequest, commit_consistency: ConsistencyLevel) -> Result<()> {
        if cf.is_super() {
            return invalid("CAS does not support supercolumns");
        }
        for column in &request.updates {
            self.names(cf, None, std::slice::from_ref(&column.name))?;
        }
        for column in &request.updates {
            // The server sets the timestamp, but clients had to send one.
            self.column_data(cf, false, column)?;
        }
        for column in &request.expected {
            self.names(cf, None, std::slice::from_ref(&column.name))?;
        }
        if !request.serial_consistency.is_serial() {
            return invalid(texts::not_serial(self.behaviour));
        }
        if commit_consistency.is_serial() {
            return invalid(format!(
                "{} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is \
                 accepted but I don't care how many replicas commit it for non-SERIAL reads\"",
                commit_consistency
            ));
        }
        Ok(())
    }
}
