//! Writes: insert, remove and batches.

use std::sync::Arc;

use bytes::Bytes;

use super::request::{ColumnOrSuper, ColumnPath, Deletion, MutationRequest, NewColumn, RowBatch};
use super::validate::Validation;
use super::{Database, Error};
use crate::model::{Behaviour, Cell, CfMutation, Change, ConsistencyLevel, DeletionTime, Mutation};
use crate::schema::{Catalog, CfDef};

impl Database {
    /// Writes one column.
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
        checks.key(&key)?;
        let cf = checks.column_path(keyspace, &path)?;
        let Some(name) = path.column else {
            // 0.6 lets this pass and then fails inside.
            return Err(Error::invalid(format!(
                "column parameter is not optional for an insert into super CF {}",
                cf.name
            )));
        };
        let cell = Cell::live(name, value, timestamp);
        let change = Change::Cell { super_column: path.super_column, cell };
        let mutation = Mutation { key, families: vec![CfMutation { cf, changes: vec![change] }] };
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
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        checks.key(&key)?;
        let cf = checks.column_path_or_parent(keyspace, &path)?;
        let change = self.deletion_of(path.super_column, path.column, timestamp);
        let mutation = Mutation { key, families: vec![CfMutation { cf, changes: vec![change] }] };
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
        checks.key(&key)?;
        for (family, inserts) in &families {
            for insert in inserts {
                checks.column_or_super(keyspace, family, insert)?;
            }
        }
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
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let mut mutations = Vec::with_capacity(rows.len());
        for row in rows {
            checks.key(&row.key)?;
            for (family, changes) in &row.families {
                for change in changes {
                    checks.mutation(keyspace, family, change)?;
                }
            }
            mutations.extend(self.row_mutation(&checks, keyspace, row)?);
        }
        self.apply(&catalog, keyspace, mutations, consistency, behaviour).await
    }

    /// The mutation of a checked row; `None` when it changes nothing.
    fn row_mutation(
        &self,
        checks: &Validation<'_>,
        keyspace: &[u8],
        row: RowBatch,
    ) -> Result<Option<Mutation>, Error> {
        let mut families: Vec<CfMutation> = Vec::with_capacity(row.families.len());
        for (family, requests) in row.families {
            let mut changes = Vec::with_capacity(requests.len());
            for request in requests {
                self.add_changes(request, &mut changes);
            }
            // An empty list is not looked at: its column family need not even exist.
            if !changes.is_empty() {
                families.push(CfMutation { cf: self.known_family(checks, keyspace, &family)?, changes });
            }
        }
        Ok((!families.is_empty()).then_some(Mutation { key: row.key, families }))
    }

    fn known_family(
        &self,
        checks: &Validation<'_>,
        keyspace: &[u8],
        family: &Bytes,
    ) -> Result<Arc<CfDef>, Error> {
        checks.keyspace(keyspace)?;
        checks.column_family(keyspace, family)
    }

    fn add_changes(&self, request: MutationRequest, changes: &mut Vec<Change>) {
        if let Some(insert) = request.insert {
            add_insert(insert, changes);
        }
        if let Some(deletion) = request.deletion {
            self.add_deletion(deletion, changes);
        }
    }

    fn add_deletion(&self, deletion: Deletion, changes: &mut Vec<Change>) {
        let Deletion { timestamp, super_column, predicate } = deletion;
        match predicate.and_then(|predicate| predicate.column_names) {
            None => changes.push(self.deletion_of(super_column, None, timestamp)),
            Some(names) => changes.extend(
                names.into_iter().map(|name| self.deletion_of(super_column.clone(), Some(name), timestamp)),
            ),
        }
    }

    /// The tombstone of what a path leads to. Whether a bare column is a super column is for the schema to say.
    fn deletion_of(&self, super_column: Option<Bytes>, column: Option<Bytes>, timestamp: i64) -> Change {
        let now_s = self.parts.clock.now_s();
        let deletion = DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: now_s };
        match (super_column, column) {
            (super_column, Some(column)) => {
                Change::Cell { super_column, cell: Cell::tombstone(column, timestamp, now_s) }
            }
            (Some(name), None) => Change::DeleteSuper { name, deletion },
            (None, None) => Change::DeleteRow { deletion },
        }
    }

    async fn apply(
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
        for mutation in &mut mutations {
            mutation.families.iter_mut().for_each(names_of_supers);
        }
        Ok(self.store().apply(mutations, behaviour, consistency).await?)
    }
}

/// In a Super column family, names deleted without a super column are super columns.
fn names_of_supers(family: &mut CfMutation) {
    if !family.cf.is_super() {
        return;
    }
    for change in &mut family.changes {
        if let Change::Cell { super_column: None, cell } = change
            && let crate::model::CellKind::Deleted { local_deletion_time } = cell.kind
        {
            let deletion = DeletionTime { marked_for_delete_at: cell.timestamp, local_deletion_time };
            *change = Change::DeleteSuper { name: cell.name.clone(), deletion };
        }
    }
}

/// What an insert writes. Where a column and a super column are given, 0.6 writes the column only.
fn add_insert(insert: ColumnOrSuper, changes: &mut Vec<Change>) {
    let live = |column: NewColumn| Cell::live(column.name, column.value, column.timestamp);
    if let Some(column) = insert.column {
        changes.push(Change::Cell { super_column: None, cell: live(column) });
    } else if let Some(super_column) = insert.super_column {
        let name = super_column.name;
        changes.extend(
            super_column
                .columns
                .into_iter()
                .map(|column| Change::Cell { super_column: Some(name.clone()), cell: live(column) }),
        );
    }
}
