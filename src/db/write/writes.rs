//! Writes: insert, remove and batches.

use bytes::Bytes;

use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::args::{
    ColumnOrSuper, ColumnParent, ColumnPath, CounterColumn, CounterSuper, Deletion, MutationRequest,
    NewColumn, NewSuper, RequestedRange, RowBatch,
};
use crate::db::validate::Validation;
use crate::db::{Database, Error};
use crate::model::{Cell, CfMutation, Change, DeletionTime, Mutation, RangeDeletion};
use crate::schema::{Catalog, CfDef};
use crate::util::trimmed;

impl Database {
    /// Writes one column, by its path (to 0.6).
    pub async fn insert(
        &self,
        keyspace: &[u8],
        key: Bytes,
        path: ColumnPath,
        (value, timestamp): (Bytes, i64),
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        checks.key(&key, None)?;
        let cf = checks.column_path(keyspace, &path)?;
        let Some(name) = path.column else {
            // 0.6 lets this pass and then fails inside.
            return Err(Error::invalid(format!(
                "column parameter is not optional for an insert into super CF {}",
                cf.name
            )));
        };
        let column = NewColumn { name, value: Some(value), timestamp: Some(timestamp), ttl_s: None };
        // What later releases define, earlier clients must keep to as well.
        checks.counting(cf, false)?;
        checks.key(&key, Some(cf))?;
        checks.column_data(cf, path.super_column.is_some(), &column)?;
        let change = self.column_change(cf, path.super_column, column);
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(&catalog, keyspace, vec![mutation], consistency, behaviour).await
    }

    /// Writes one column into its parent (0.7 and later).
    pub async fn insert_column(
        &self,
        keyspace: &[u8],
        key: Bytes,
        parent: ColumnParent,
        column: NewColumn,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.family_and_key(keyspace, &parent.column_family, &key, false)?;
        checks.parent_for_write(cf, &parent, &column.name)?;
        checks.column_data(cf, parent.super_column.is_some(), &column)?;
        checks.write_consistency(keyspace, consistency)?;
        let change = self.column_change(cf, parent.super_column, column);
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(&catalog, keyspace, vec![mutation], consistency, behaviour).await
    }

    /// Adds to a counter (0.8 and later).
    pub async fn add(
        &self,
        keyspace: &[u8],
        key: Bytes,
        parent: ColumnParent,
        column: CounterColumn,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.family_and_key(keyspace, &parent.column_family, &key, true)?;
        checks.counter_consistency(cf, consistency)?;
        checks.parent_for_write(cf, &parent, &column.name)?;
        let cell = Cell::increment(column.name, column.delta, self.parts.clock.next_micros());
        let change = Change::Cell { super_column: parent.super_column, cell };
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(&catalog, keyspace, vec![mutation], consistency, behaviour).await
    }

    /// Deletes a column, a super column or a row.
    pub async fn remove(
        &self,
        keyspace: &[u8],
        key: Bytes,
        path: ColumnPath,
        timestamp: i64,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        self.remove_from(false, keyspace, (key, path, timestamp), consistency, behaviour).await
    }

    /// Whether [`Self::remove`] would take such a path.
    ///
    /// # Errors
    /// What is wrong with the key or the path.
    pub fn check_removal(
        &self,
        keyspace: &[u8],
        key: &[u8],
        path: &ColumnPath,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.family_and_key(keyspace, &path.column_family, key, false)?;
        checks.path_or_parent(cf, path)
    }

    /// Deletes a counter, a super column of them or a row, as of now (0.8 and later).
    pub async fn remove_counter(
        &self,
        keyspace: &[u8],
        key: Bytes,
        path: ColumnPath,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let now = self.parts.clock.next_micros();
        self.remove_from(true, keyspace, (key, path, now), consistency, behaviour).await
    }

    async fn remove_from(
        &self,
        with_counters: bool,
        keyspace: &[u8],
        (key, path, timestamp): (Bytes, ColumnPath, i64),
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.family_and_key(keyspace, &path.column_family, &key, with_counters)?;
        checks.path_or_parent(cf, &path)?;
        if with_counters {
            checks.counter_consistency(cf, consistency)?;
        } else {
            checks.write_consistency(keyspace, consistency)?;
        }
        let change = self.deletion_of(cf, path.super_column, path.column, timestamp);
        let mutation = Mutation::of(key, cf.clone(), vec![change]);
        self.apply(&catalog, keyspace, vec![mutation], consistency, behaviour).await
    }

    /// Writes columns of one row, in any of its column families (to 0.6).
    pub async fn batch_insert(
        &self,
        keyspace: &[u8],
        key: Bytes,
        families: Vec<(Bytes, Vec<ColumnOrSuper>)>,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        checks.key(&key, None)?;
        for (family, inserts) in &families {
            let family = checks.named_family(keyspace, family);
            for insert in inserts {
                checks.column_or_super(&family, insert)?;
            }
        }
        // The old servers assert this after their checks, and fail inside.
        let is_both = |insert: &ColumnOrSuper| insert.column.is_some() && insert.super_column.is_some();
        if families.iter().flat_map(|(_, inserts)| inserts).any(is_both) {
            return Err(Error::invalid(
                "a ColumnOrSuperColumn of batch_insert is a Column or a SuperColumn, and not both",
            ));
        }
        checks.keyspace_of_row(keyspace)?;
        let key = if behaviour.writes.batch_insert_trims_key { trimmed(&key) } else { key };
        let as_mutation = |insert| MutationRequest { insert: Some(insert), deletion: None };
        let families = families
            .into_iter()
            .map(|(family, inserts)| (family, inserts.into_iter().map(as_mutation).collect()))
            .collect();
        let row = self.row_mutation(&checks, keyspace, RowBatch { key, families })?;
        self.apply(&catalog, keyspace, row.into_iter().collect(), consistency, behaviour).await
    }

    /// Changes many rows. All are checked before any is written.
    pub async fn batch_mutate(
        &self,
        keyspace: &[u8],
        rows: Vec<RowBatch>,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        self.batch(keyspace, rows, consistency, behaviour, true).await
    }

    /// Changes many rows, all of them or none (1.2 and later). Counters cannot be among them.
    pub async fn atomic_batch_mutate(
        &self,
        keyspace: &[u8],
        rows: Vec<RowBatch>,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        self.batch(keyspace, rows, consistency, behaviour, false).await
    }

    async fn batch(
        &self,
        keyspace: &[u8],
        rows: Vec<RowBatch>,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
        may_count: bool,
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let mut mutations = Vec::with_capacity(rows.len());
        for row in rows {
            if behaviour.writes.batch_is_checked_by_family {
                let counts = checks.modern_batch_row(keyspace, &row, consistency)?;
                if counts && !may_count {
                    return Err(Error::invalid("Counter mutations are not allowed in atomic batches"));
                }
            } else {
                checks.batch_row(keyspace, &row)?;
                checks.keyspace_of_row(keyspace)?;
            }
            mutations.extend(self.row_mutation(&checks, keyspace, row)?);
        }
        if behaviour.writes.batch_checks_level {
            checks.write_consistency(keyspace, consistency)?;
        } else {
            for mutation in &mut mutations {
                self.settle_unchecked_names(&checks, mutation, consistency).await?;
            }
        }
        match self.store().capabilities().logged_batches {
            // Our own store applies all of them or none in any case.
            Some(batches) if !may_count && !mutations.is_empty() => {
                Ok(batches.apply_logged(mutations, behaviour, consistency).await?)
            }
            _ => self.apply(&catalog, keyspace, mutations, consistency, behaviour).await,
        }
    }

    /// The mutation of a checked row; `None` when it changes nothing.
    fn row_mutation(
        &self,
        checks: &Validation<'_>,
        keyspace: &[u8],
        row: RowBatch,
    ) -> Result<Option<Mutation>, Error> {
        let leaves_rows =
            checks.behaviour.writes.batch_leaves_empty_rows && !self.store().capabilities().drops_empty_rows;
        let mut families: Vec<CfMutation> = Vec::with_capacity(row.families.len());
        for (family, requests) in row.families {
            // What writes nothing is not looked at: to 0.7 its column family need not even exist.
            if !leaves_rows && !requests.iter().any(MutationRequest::writes_anything) {
                continue;
            }
            let cf = checks.family(keyspace, &family)?;
            let mut changes = Vec::with_capacity(requests.len());
            for request in requests {
                self.add_changes(cf, request, &mut changes);
            }
            if changes.is_empty() && leaves_rows {
                // 2.1 writes the row all the same, and scans return it with no columns.
                changes.push(Change::DeleteRow { deletion: DeletionTime::LIVE });
            }
            if !changes.is_empty() {
                families.push(CfMutation { cf: cf.clone(), changes });
            }
        }
        Ok((!families.is_empty()).then_some(Mutation { key: row.key, families }))
    }

    fn add_changes(&self, cf: &CfDef, request: MutationRequest, changes: &mut Vec<Change>) {
        if let Some(insert) = request.insert {
            self.add_insert(cf, insert, changes);
        }
        if let Some(deletion) = request.deletion {
            self.add_deletion(cf, *deletion, changes);
        }
    }

    /// What an insert writes. Where a column and a super column are given, 0.6 writes the column only.
    fn add_insert(&self, cf: &CfDef, insert: ColumnOrSuper, changes: &mut Vec<Change>) {
        let add = |super_column: Option<Bytes>, counter: CounterColumn| {
            let cell = Cell::increment(counter.name, counter.delta, self.parts.clock.next_micros());
            Change::Cell { super_column, cell }
        };
        if let Some(column) = insert.column {
            changes.push(self.column_change(cf, None, column));
        } else if let Some(super_column) = insert.super_column {
            let NewSuper { name, columns } = *super_column;
            changes
                .extend(columns.into_iter().map(|column| self.column_change(cf, Some(name.clone()), column)));
        } else if let Some(counter) = insert.counter {
            changes.push(add(None, *counter));
        } else if let Some(counters) = insert.counter_super {
            let CounterSuper { name, columns } = *counters;
            changes.extend(columns.into_iter().map(|counter| add(Some(name.clone()), counter)));
        }
    }

    /// A checked column as it will be stored.
    pub(in crate::db) fn column_change(
        &self,
        cf: &CfDef,
        super_column: Option<Bytes>,
        column: NewColumn,
    ) -> Change {
        let NewColumn { name, value, timestamp, ttl_s } = column;
        let (value, timestamp) = (value.unwrap_or_default(), timestamp.unwrap_or_default());
        let cell = match ttl_s.or_else(|| cf.default_ttl_s()) {
            Some(ttl_s) => Cell::expiring(name, value, timestamp, ttl_s, self.parts.clock.now_s()),
            None => Cell::live(name, value, timestamp),
        };
        Change::Cell { super_column, cell }
    }

    fn add_deletion(&self, cf: &CfDef, deletion: Deletion, changes: &mut Vec<Change>) {
        let Deletion { timestamp, super_column, predicate } = deletion;
        // Counters go by the server's time whatever the client says.
        let timestamp = match timestamp {
            Some(timestamp) if !cf.is_counter() => timestamp,
            _ => self.parts.clock.next_micros(),
        };
        let predicate = predicate.unwrap_or_default();
        if let Some(names) = predicate.column_names {
            let names = names.into_iter();
            changes
                .extend(names.map(|name| self.deletion_of(cf, super_column.clone(), Some(name), timestamp)));
        } else if let Some(range) = predicate.slice_range {
            let deletion = self.deletion_time(timestamp);
            // `reversed` is not looked at: a range that goes backwards deletes nothing.
            let RequestedRange { start, finish, .. } = range;
            changes.push(Change::DeleteRange(RangeDeletion { super_column, start, finish, deletion }));
        } else {
            changes.push(self.deletion_of(cf, super_column, None, timestamp));
        }
    }

    fn deletion_time(&self, timestamp: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: self.parts.clock.now_s() }
    }

    /// The tombstone of what a path leads to. In a Super column family, a name without a super column is one.
    fn deletion_of(
        &self,
        cf: &CfDef,
        super_column: Option<Bytes>,
        column: Option<Bytes>,
        timestamp: i64,
    ) -> Change {
        let deletion = self.deletion_time(timestamp);
        match (super_column, column) {
            (None, Some(name)) if cf.is_super() => Change::DeleteSuper { name, deletion },
            (super_column, Some(column)) => Change::Cell {
                super_column,
                cell: Cell::tombstone(column, timestamp, deletion.local_deletion_time),
            },
            (Some(name), None) => Change::DeleteSuper { name, deletion },
            (None, None) => Change::DeleteRow { deletion },
        }
    }

    pub(in crate::db) async fn apply(
        &self,
        catalog: &Catalog,
        keyspace: &[u8],
        mut mutations: Vec<Mutation>,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        if mutations.is_empty() {
            return Ok(());
        }
        self.check_replicas(catalog, keyspace, consistency, true, behaviour)?;
        if self.store().capabilities().indexes.is_none() {
            self.add_index_entries(&mut mutations);
        }
        Ok(self.store().apply(mutations, behaviour, consistency).await?)
    }
}

impl Validation<'_> {
    /// What a column or counter is written into, and its name (0.7 and later).
    pub(in crate::db) fn parent_for_write(
        &self,
        cf: &CfDef,
        parent: &ColumnParent,
        name: &Bytes,
    ) -> Result<(), Error> {
        self.parent_in(cf, parent)?;
        if cf.is_super() && parent.super_column.is_none() {
            return Err(Error::invalid(format!(
                "missing mandatory super column name for super CF {}",
                cf.name
            )));
        }
        self.names(cf, parent.super_column.as_ref(), std::slice::from_ref(name))
    }

    /// One row of a batch: the key, then each element (to 0.7).
    fn batch_row(&self, keyspace: &[u8], row: &RowBatch) -> Result<(), Error> {
        self.key(&row.key, None)?;
        for (family, changes) in &row.families {
            let named = self.named_family(keyspace, family);
            for change in changes {
                self.mutation(&named, change)?;
            }
            if let Some(cf) = self.find(keyspace, family) {
                self.key(&row.key, Some(cf))?;
            }
        }
        Ok(())
    }

    /// Where a row belongs is looked up by its keyspace's replication, even when nothing of it is written. To 0.5
    /// there is but one for all keyspaces.
    fn keyspace_of_row(&self, keyspace: &[u8]) -> Result<(), Error> {
        if self.behaviour.schema.replication_is_global { Ok(()) } else { self.keyspace(keyspace) }
    }

    /// One row of a batch: each column family, the key in it, its elements (0.8 and later). Returns whether
    /// there are counters among them.
    fn modern_batch_row(
        &self,
        keyspace: &[u8],
        row: &RowBatch,
        consistency: ConsistencyLevel,
    ) -> Result<bool, Error> {
        let mut counts = false;
        for (family, changes) in &row.families {
            let cf = self.family(keyspace, family)?;
            self.key(&row.key, Some(cf))?;
            if cf.is_counter() {
                self.counter_consistency(cf, consistency)?;
                counts |= !changes.is_empty() || self.behaviour.writes.batch_counts_empty_rows;
            }
            for change in changes {
                self.mutation_in(cf, change)?;
            }
        }
        Ok(counts)
    }
}
