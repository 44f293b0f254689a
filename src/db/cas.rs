//! Conditional updates (2.0 and later).

use bytes::Bytes;

use super::request::NewColumn;
use super::validate::Validation;
use super::{Database, Error};
use crate::model::{Behaviour, Cell, ConsistencyLevel, Mutation, Predicate, RowColumns, SliceRange};
use crate::schema::CfDef;

/// What a conditional update asks.
#[derive(Debug, Clone)]
pub struct CasRequest {
    pub key: Bytes,
    pub column_family: Bytes,
    /// The columns that must be there with these values. Empty: the row must have none.
    pub expected: Vec<NewColumn>,
    pub updates: Vec<NewColumn>,
    pub serial_consistency: ConsistencyLevel,
    pub commit_consistency: ConsistencyLevel,
}

/// What became of a conditional update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CasOutcome {
    Applied,
    /// What is there instead: of the expected columns those that live, or the row's first.
    Refused(Vec<Cell>),
}

impl Database {
    /// Writes columns if the row is as expected. Such updates of one row wait for each other; plain writes do
    /// not wait for them, as in the old servers. The server gives the timestamp.
    pub async fn cas(
        &self,
        keyspace: &[u8],
        request: CasRequest,
        behaviour: &'static Behaviour,
    ) -> Result<CasOutcome, Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.family_and_key(keyspace, &request.column_family, &request.key, false)?;
        checks.cas(&cf, &request)?;
        self.check_replicas(&catalog, keyspace, request.serial_consistency, true, behaviour)?;

        let _turn = self.cas_turn(&request.key).await;
        let names = request.expected.iter().map(|column| column.name.clone()).collect();
        let predicate = if request.expected.is_empty() {
            Predicate::Range(SliceRange { count: 1, ..SliceRange::all() })
        } else {
            Predicate::Names(names)
        };
        let command = self.command(&cf, None, predicate, behaviour);
        let read = self.store().read(request.key.clone(), command, request.serial_consistency).await?;
        let RowColumns::Cells(current) = read else { return Ok(CasOutcome::Refused(Vec::new())) };
        if !is_as_expected(&cf, &current, &request.expected, behaviour) {
            return Ok(CasOutcome::Refused(current));
        }
        let timestamp = Some(self.parts.clock.next_micros());
        let updates = request.updates.into_iter();
        let changes = updates
            .map(|column| self.column_change(&cf, None, NewColumn { timestamp, ttl_s: None, ..column }))
            .collect();
        let mutation = Mutation::of(request.key, cf, changes);
        self.apply(&catalog, keyspace, vec![mutation], request.commit_consistency, behaviour).await?;
        Ok(CasOutcome::Applied)
    }

    /// Waits until no other conditional update of the row is under way.
    pub(crate) async fn cas_turn(&self, key: &Bytes) -> tokio::sync::MutexGuard<'_, ()> {
        use std::hash::BuildHasher;
        let hash = self.cas_hasher.hash_one(key);
        let at = usize::try_from(hash % self.cas_turns.len() as u64).unwrap_or(0);
        self.cas_turns[at].lock().await
    }
}

/// Whether the live columns that were found are those that are expected, with their values.
fn is_as_expected(cf: &CfDef, current: &[Cell], expected: &[NewColumn], behaviour: &Behaviour) -> bool {
    if expected.is_empty() {
        return current.is_empty();
    }
    let comparator = crate::marshal::at(&*cf.comparator, behaviour.release);
    expected.iter().all(|column| {
        let found = current.iter().find(|cell| comparator.compare(&cell.name, &column.name).is_eq());
        found.is_some_and(|cell| Some(&cell.value) == column.value.as_ref())
    })
}

impl Validation<'_> {
    /// What is updated, what is expected, and the levels.
    fn cas(&self, cf: &CfDef, request: &CasRequest) -> Result<(), Error> {
        if cf.is_super() {
            return Err(Error::invalid("CAS does not support supercolumns"));
        }
        for column in &request.updates {
            self.names(cf, None, std::slice::from_ref(&column.name))?;
        }
        for column in &request.updates {
            // The server gives the timestamp, but clients had to send one.
            self.column_data(cf, false, column)?;
        }
        for column in &request.expected {
            self.names(cf, None, std::slice::from_ref(&column.name))?;
        }
        if !request.serial_consistency.is_serial() {
            return Err(Error::invalid(
                "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL",
            ));
        }
        if request.commit_consistency.is_serial() {
            return Err(Error::invalid(format!(
                "{} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is \
                 accepted but I don't care how many replicas commit it for non-SERIAL reads\"",
                request.commit_consistency
            )));
        }
        Ok(())
    }
}
