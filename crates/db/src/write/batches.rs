//! Batches: changes of many columns and rows.

use bytes::Bytes;

use super::Writes;
use crate::args::{ColumnOrSuper, MutationRequest, RowBatch};
use crate::error::invalid;
use crate::validate::Validation;
use crate::{Request, Result};
use base::compat::features::ConsistencyLevel;
use base::model::{CfMutation, Change, DeletionTime, Mutation};
use base::util::trimmed;

impl Writes<'_> {
    /// Writes columns of one row, in any of its column families (to 0.6).
    pub async fn batch_insert(&self, key: Bytes, families: Vec<(Bytes, Vec<ColumnOrSuper>)>) -> Result<()> {
        let Request { keyspace, behaviour, .. } = *self.request;
        let checks = self.request.validation();
        checks.key(&key, None)?;
        for (family, inserts) in &families {
            let family = checks.named_family(keyspace, family);
            for insert in inserts {
                checks.column_or_super(&family, insert)?;
            }
        }
        // The old servers assert this after their checks, and fail with an internal error.
        let mut inserts = families.iter().flat_map(|(_, inserts)| inserts);
        if inserts.any(|insert| insert.column.is_some() && insert.super_column.is_some()) {
            return invalid(
                "a ColumnOrSuperColumn of batch_insert is a Column or a SuperColumn, and not both",
            );
        }
        checks.keyspace_of_row(keyspace)?;
        let key = if behaviour.writes.batch_insert_trims_key { trimmed(&key) } else { key };
        let families = families.into_iter().map(|(family, inserts)| {
            let inserts = inserts.into_iter();
            (family, inserts.map(|insert| MutationRequest { insert: Some(insert), deletion: None }).collect())
        });
        let row = self.row_mutation(&checks, RowBatch { key, families: families.collect() })?;
        self.apply(row.into_iter().collect()).await
    }

    /// Changes many rows. All changes are validated before any is written.
    pub async fn batch_mutate(&self, rows: Vec<RowBatch>) -> Result<()> {
        self.batch(rows, true).await
    }

    /// Changes many rows atomically (1.2 and later). Counters are not allowed.
    pub async fn atomic_batch_mutate(&self, rows: Vec<RowBatch>) -> Result<()> {
        self.batch(rows, false).await
    }

    async fn batch(&self, rows: Vec<RowBatch>, may_count: bool) -> Result<()> {
        let Request { keyspace, consistency, behaviour, .. } = *self.request;
        let checks = self.request.validation();
        let mut mutations = Vec::with_capacity(rows.len());
        for row in rows {
            if behaviour.writes.batch_is_checked_by_family {
                let counts = checks.modern_batch_row(keyspace, &row, consistency)?;
                if counts && !may_count {
                    return invalid("Counter mutations are not allowed in atomic batches");
                }
            } else {
                checks.batch_row(keyspace, &row)?;
                checks.keyspace_of_row(keyspace)?;
            }
            mutations.extend(self.row_mutation(&checks, row)?);
        }
        if behaviour.writes.batch_checks_level {
            checks.write_consistency(keyspace, consistency)?;
        } else {
            for mutation in &mut mutations {
                self.settle_unchecked_names(&checks, mutation).await?;
            }
        }
        match self.request.store().capabilities().logged_batches {
            // A local store is atomic in any case.
            Some(batches) if !may_count && !mutations.is_empty() => {
                Ok(batches.apply_logged(mutations, behaviour, consistency).await?)
            }
            _ => self.apply(mutations).await,
        }
    }

    /// Returns the mutation of a validated row; `None` if it changes nothing.
    fn row_mutation(&self, checks: &Validation<'_>, row: RowBatch) -> Result<Option<Mutation>> {
        let leaves_rows = checks.behaviour.writes.batch_leaves_empty_rows
            && !self.request.store().capabilities().drops_empty_rows;
        let mut families: Vec<CfMutation> = Vec::with_capacity(row.families.len());
        for (family, requests) in row.families {
            // Entries that write nothing are skipped: up to 0.7 their column family need not even exist.
            if !leaves_rows && !requests.iter().any(MutationRequest::writes_anything) {
                continue;
            }
            let cf = checks.family(self.request.keyspace, &family)?;
            let mut changes = Vec::with_capacity(requests.len());
            for request in requests {
                self.changes().add_changes(cf, request, &mut changes);
            }
            if changes.is_empty() && leaves_rows {
                // 2.1 writes the row nevertheless, and scans return it without columns.
                changes.push(Change::DeleteRow { deletion: DeletionTime::LIVE });
            }
            if !changes.is_empty() {
                families.push(CfMutation { cf: cf.clone(), changes: changes.into() });
            }
        }
        Ok((!families.is_empty()).then_some(Mutation { key: row.key, families }))
    }
}

impl Validation<'_> {
    /// Validates one row of a batch: the key, then each element (to 0.7).
    fn batch_row(&self, keyspace: &[u8], row: &RowBatch) -> Result<()> {
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

    /// Checks that a row's keyspace exists. The old servers look up the replicas of a row by its keyspace's
    /// replication even if the row writes nothing; up to 0.5 all keyspaces share one replication.
    fn keyspace_of_row(&self, keyspace: &[u8]) -> Result<()> {
        if self.behaviour.schema.replication_is_global { Ok(()) } else { self.keyspace(keyspace) }
    }

    /// Validates one row of a batch: each column family, the key in it, its elements (0.8 and later). Returns whether
    /// there are counters among them.
    fn modern_batch_row(
        &self,
        keyspace: &[u8],
        row: &RowBatch,
        consistency: ConsistencyLevel,
    ) -> Result<bool> {
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
