//! Writes of one column, counter or deletion.

use bytes::Bytes;

use super::changes::ChangeBuilder;
use crate::args::{ColumnParent, ColumnPath, CounterColumn, NewColumn};
use crate::error::invalid;
use crate::limits::WRITTEN_COPIES;
use crate::validate::Validation;
use crate::{Request, Result};
use base::model::{Cell, Change, Mutation};
use base::schema::CfDef;
use base::util::meter;

/// Writes of columns, counters and deletions.
#[derive(Clone, Copy)]
pub struct Writes<'a> {
    pub(super) request: &'a Request<'a>,
}

impl Request<'_> {
    /// Returns the writes.
    pub fn writes(&self) -> Writes<'_> {
        Writes { request: self }
    }
}

impl<'a> Writes<'a> {
    pub(super) fn changes(&self) -> ChangeBuilder<'a> {
        ChangeBuilder { clock: self.request.database.clock() }
    }

    /// Writes one column, by its path (to 0.6).
    pub async fn insert(&self, key: Bytes, path: ColumnPath, value: Bytes, timestamp: i64) -> Result<()> {
        let keyspace = self.request.keyspace;
        let checks = self.request.validation();
        checks.key(&key, None)?;
        let cf = checks.column_path(keyspace, &path)?;
        let Some(name) = path.column else {
            // 0.6 accepts this and then fails with an internal error.
            return invalid(format!(
                "column parameter is not optional for an insert into super CF {}",
                cf.name
            ));
        };
        let column = NewColumn { name, value: Some(value), timestamp: Some(timestamp), ttl_s: None };
        // Clients of earlier releases must also respect definitions that only later releases can make.
        checks.counting(cf, false)?;
        checks.key(&key, Some(cf))?;
        checks.column_data(cf, path.super_column.is_some(), &column)?;
        let change = self.changes().column(cf, path.super_column, column);
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(vec![mutation]).await
    }

    /// Writes one column into its parent (0.7 and later).
    pub async fn insert_column(&self, key: Bytes, parent: ColumnParent, column: NewColumn) -> Result<()> {
        let keyspace = self.request.keyspace;
        let checks = self.request.validation();
        let cf = checks.family_and_key(keyspace, &parent.column_family, &key, false)?;
        checks.parent_for_write(cf, &parent, &column.name)?;
        checks.column_data(cf, parent.super_column.is_some(), &column)?;
        checks.write_consistency(keyspace, self.request.consistency)?;
        let change = self.changes().column(cf, parent.super_column, column);
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(vec![mutation]).await
    }

    /// Adds to a counter (0.8 and later).
    pub async fn add(&self, key: Bytes, parent: ColumnParent, column: CounterColumn) -> Result<()> {
        let keyspace = self.request.keyspace;
        let checks = self.request.validation();
        let cf = checks.family_and_key(keyspace, &parent.column_family, &key, true)?;
        checks.counter_consistency(cf, self.request.consistency)?;
        checks.parent_for_write(cf, &parent, &column.name)?;
        checks.write_consistency(keyspace, self.request.consistency)?;
        let cell = Cell::increment(column.name, column.delta, self.request.database.next_micros());
        let change = Change::Cell { super_column: parent.super_column, cell };
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(vec![mutation]).await
    }

    /// Deletes a column, a super column or a row.
    pub async fn remove(&self, key: Bytes, path: ColumnPath, timestamp: i64) -> Result<()> {
        self.remove_from(false, key, path, timestamp).await
    }

    /// Checks whether [`Self::remove`] would accept such a path.
    ///
    /// # Errors
    /// An invalid key or path.
    pub fn check_removal(&self, key: &[u8], path: &ColumnPath) -> Result<()> {
        let keyspace = self.request.keyspace;
        let checks = self.request.validation();
        let cf = checks.family_and_key(keyspace, &path.column_family, key, false)?;
        checks.path_or_parent(cf, path)
    }

    /// Deletes a counter, a super column of counters or a row, as of now (0.8 and later).
    pub async fn remove_counter(&self, key: Bytes, path: ColumnPath) -> Result<()> {
        let now = self.request.database.next_micros();
        self.remove_from(true, key, path, now).await
    }

    async fn remove_from(
        &self,
        with_counters: bool,
        key: Bytes,
        path: ColumnPath,
        timestamp: i64,
    ) -> Result<()> {
        let keyspace = self.request.keyspace;
        let checks = self.request.validation();
        let cf = checks.family_and_key(keyspace, &path.column_family, &key, with_counters)?;
        checks.path_or_parent(cf, &path)?;
        if with_counters {
            checks.counter_consistency(cf, self.request.consistency)?;
        }
        checks.write_consistency(keyspace, self.request.consistency)?;
        let change = self.changes().deletion(cf, path.super_column, path.column, timestamp);
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(vec![mutation]).await
    }

    /// Applies validated mutations of the request's keyspace, together with their index entries.
    pub async fn apply(&self, mut mutations: Vec<Mutation>) -> Result<()> {
        let Request { consistency, behaviour, .. } = *self.request;
        if mutations.is_empty() {
            return Ok(());
        }
        self.request.check_replicas(consistency, true)?;
        if self.request.store().capabilities().indexes.is_none() {
            self.request.database.indexes().add_entries(&mut mutations);
        }
        let bytes: usize = mutations.iter().map(Mutation::bytes).sum();
        if let Err(error) = meter::charge(WRITTEN_COPIES * bytes) {
            if !meter::lacks_memory() {
                return Err(error.into());
            }
            meter::wait_for_memory().await?;
        }
        Ok(self.request.store().apply(mutations, behaviour, consistency).await?)
    }
}

impl Validation<'_> {
    /// Validates the parent and the name of a written column or counter (0.7 and later).
    pub(crate) fn parent_for_write(&self, cf: &CfDef, parent: &ColumnParent, name: &Bytes) -> Result<()> {
        self.parent_in(cf, parent)?;
        if cf.is_super() && parent.super_column.is_none() {
            return invalid(format!("missing mandatory super column name for super CF {}", cf.name));
        }
        self.names(cf, parent.super_column.as_ref(), std::slice::from_ref(name))
    }
}
