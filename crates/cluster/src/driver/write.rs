//! Converts mutations to statements and runs them.
//!
//! A mutation has one row key, so its statements are one batch on one partition, which the cluster applies atomically.
//! Counters cannot be in a batch with other columns: they are a second batch, after the first one.
//!
//! ```text
//!   mutation of the row "austen"          statements
//!   Posts   title = "Emma" @10            INSERT INTO Posts ... USING TIMESTAMP 10              \
//!   Posts   draft = "..." @11, 60 s       INSERT INTO Posts ... USING TIMESTAMP 11 AND TTL 60    > unlogged batch
//!   Posts   delete isbn @12               DELETE FROM Posts USING TIMESTAMP 12 WHERE ...        /
//!   Hits    today + 1                     UPDATE Hits SET value = value + 1 WHERE ...             counter batch
//! ```
//!
//! Several mutations run concurrently, each as such a batch. The mutations of an atomic batch are one logged batch. A
//! batch is sent to another node again only if all its statements are idempotent, which additions to counters are not.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use scylla::statement::batch::{Batch, BatchType};

use super::link::{Link, level};
use super::shape::{RowSelector, StatementShape};
use super::table::PreparedTable;
use super::tables::PreparedTables;
use super::values::DriverValues;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal;
use base::model::{Cell, CellKind, CfMutation, Change, DeletionTime, Mutation, RangeTombstone};
use store::Result;

/// Limit of the statements in one batch. The native protocol counts them in two bytes.
const STEPS_AT_ONCE: usize = 65_000;
/// Seconds that may have passed since the expiry of a client's write was computed.
const LATE_S: i32 = 2;

/// A statement on a table, with its values.
pub(super) struct StatementStep {
    pub table: Arc<PreparedTable>,
    pub shape: StatementShape,
    pub values: DriverValues,
}

/// Runs mutations as statements, at one consistency level.
#[derive(Clone, Copy)]
pub(super) struct MutationWriter<'a> {
    pub link: &'a Link,
    pub tables: &'a PreparedTables,
    pub behaviour: &'a Behaviour,
    pub now_s: i32,
    pub consistency: ConsistencyLevel,
}

impl MutationWriter<'_> {
    /// Applies mutations concurrently, each as one batch. If several fail, the first error is returned. All mutations
    /// are tried, as by the old servers.
    pub(super) async fn apply(&self, mutations: Vec<Mutation>) -> Result<()> {
        if let [_] = &mutations[..] {
            for mutation in mutations {
                self.apply_one(mutation).await?;
            }
            return Ok(());
        }
        let mut running = futures_util::stream::iter(mutations)
            .map(|mutation| self.apply_one(mutation))
            .buffer_unordered(self.link.rows_at_once());
        let mut outcome = Ok(());
        while let Some(done) = running.next().await {
            outcome = outcome.and(done);
        }
        outcome
    }

    /// Applies mutations as one logged batch: eventually all of them or none.
    pub(super) async fn apply_logged(&self, mutations: Vec<Mutation>) -> Result<()> {
        let mut steps = Vec::new();
        for mutation in mutations {
            self.add_steps(mutation, &mut steps)?;
        }
        self.run_together(steps, BatchType::Logged).await
    }

    async fn apply_one(&self, mutation: Mutation) -> Result<()> {
        let mut steps = Vec::new();
        self.add_steps(mutation, &mut steps)?;
        // A batch cannot have both counters and other columns.
        let (counts, others): (Vec<StatementStep>, Vec<StatementStep>) =
            steps.into_iter().partition(|step| step.table.is_counter);
        self.run_together(others, BatchType::Unlogged).await?;
        self.run_together(counts, BatchType::Counter).await
    }

    /// Runs steps as one batch. If there are too many for a batch, they run as several batches one after another,
    /// unless the batch is logged.
    async fn run_together(&self, mut steps: Vec<StatementStep>, kind: BatchType) -> Result<()> {
        while steps.len() > STEPS_AT_ONCE && kind != BatchType::Logged {
            let later = steps.split_off(STEPS_AT_ONCE);
            self.run_batch(steps, kind).await?;
            steps = later;
        }
        self.run_batch(steps, kind).await
    }

    async fn run_batch(&self, steps: Vec<StatementStep>, kind: BatchType) -> Result<()> {
        if steps.len() < 2 {
            for step in steps {
                self.link.run(&step.table, step.shape, step.values, self.consistency).await?;
            }
            return Ok(());
        }
        let mut batch = Batch::new(kind);
        let mut values = Vec::with_capacity(steps.len());
        let mut is_idempotent = true;
        for step in steps {
            batch.append_statement(self.link.prepared(&step.table, step.shape).await?);
            is_idempotent &= step.shape.is_idempotent(&step.table);
            values.push(step.values);
        }
        batch.set_consistency(level(self.consistency));
        batch.set_is_idempotent(is_idempotent);
        self.link.run_batch(batch, values).await?;
        Ok(())
    }

    fn add_steps(&self, mutation: Mutation, steps: &mut Vec<StatementStep>) -> Result<()> {
        let Mutation { key, families } = mutation;
        for CfMutation { cf, changes } in families {
            let table = self.tables.of(&cf)?;
            changes.take_all(|change| {
                let statement = match change {
                    Change::Cell { super_column, cell } => Some(self.cell(&table, &key, super_column, cell)),
                    Change::DeleteSuper { name, deletion } => {
                        Some(delete_super(&table, &key, &name, deletion))
                    }
                    Change::DeleteRow { deletion } => {
                        let values = deletion_values(&table, deletion).bytes(key.clone());
                        Some((StatementShape::DeleteRow, values))
                    }
                    Change::DeleteRange(range) => self.range(&table, &key, &range),
                };
                steps.extend(statement.map(|(shape, values)| StatementStep {
                    table: table.clone(),
                    shape,
                    values,
                }));
            });
        }
        Ok(())
    }

    fn cell(
        &self,
        table: &PreparedTable,
        key: &Bytes,
        super_column: Option<Bytes>,
        cell: Cell,
    ) -> (StatementShape, DriverValues) {
        let at = |values: DriverValues| {
            at_column(values.bytes(key.clone()), table, super_column.as_ref(), &cell.name)
        };
        match cell.kind {
            CellKind::Increment | CellKind::Counter => {
                (StatementShape::Add, at(DriverValues::default().long(cell.count().unwrap_or_default())))
            }
            CellKind::Live => {
                let values = at(DriverValues::default()).bytes(cell.value.clone()).long(cell.timestamp);
                (StatementShape::Insert { expires: false }, values)
            }
            CellKind::Expiring { ttl_s, expires_at_s } => {
                let left = time_left(ttl_s, expires_at_s, self.now_s);
                if left <= 0 {
                    return (delete_shape(table), at(timestamp_values(table, cell.timestamp)));
                }
                let values =
                    at(DriverValues::default()).bytes(cell.value.clone()).long(cell.timestamp).int(left);
                (StatementShape::Insert { expires: true }, values)
            }
            CellKind::Deleted { .. } => (delete_shape(table), at(timestamp_values(table, cell.timestamp))),
        }
    }

    /// Returns the deletion of a range of names. `None` if its start is after its end.
    fn range(
        &self,
        table: &PreparedTable,
        key: &Bytes,
        range: &RangeTombstone,
    ) -> Option<(StatementShape, DriverValues)> {
        let mut values = deletion_values(table, range.deletion).bytes(key.clone());
        let (form, comparator, inner) = match (&range.super_column, &table.inner, table.cf.subcomparator()) {
            (Some(name), Some(form), Some(comparator)) => {
                values = values.bytes(table.outer.encode(name));
                (form, comparator, true)
            }
            _ => (&table.outer, &table.cf.comparator, false),
        };
        let (from, to) = (!range.start.is_empty(), !range.finish.is_empty());
        let comparator = marshal::at(&**comparator, self.behaviour.release);
        if from && to && comparator.compare(&range.start, &range.finish).is_gt() {
            return None;
        }
        for bound in [&range.start, &range.finish].into_iter().filter(|bound| !bound.is_empty()) {
            values = values.bytes(form.encode(bound));
        }
        Some((StatementShape::Delete { inner, which: RowSelector::Range { from, to } }, values))
    }
}

fn delete_super(
    table: &PreparedTable,
    key: &Bytes,
    name: &Bytes,
    deletion: DeletionTime,
) -> (StatementShape, DriverValues) {
    let values = deletion_values(table, deletion).bytes(key.clone()).bytes(table.outer.encode(name));
    (StatementShape::Delete { inner: false, which: RowSelector::One }, values)
}

/// Returns the remaining time to live in seconds: all of it for a client's write, and less for a copied cell that was
/// written some time ago. An expiry of `i32::MAX` is capped and may really be later, so the whole time to live is used.
fn time_left(ttl_s: i32, expires_at_s: i32, now_s: i32) -> i32 {
    let left = expires_at_s.saturating_sub(now_s);
    if left >= ttl_s.saturating_sub(LATE_S) || expires_at_s == i32::MAX { ttl_s } else { left }
}

/// Returns the statement that deletes one column.
fn delete_shape(table: &PreparedTable) -> StatementShape {
    StatementShape::Delete { inner: table.inner.is_some(), which: RowSelector::One }
}

/// Appends the names of a column to values.
pub(super) fn at_column(
    values: DriverValues,
    table: &PreparedTable,
    super_column: Option<&Bytes>,
    name: &Bytes,
) -> DriverValues {
    match &table.inner {
        Some(inner) => {
            let holder = super_column.map(|name| table.outer.encode(name)).unwrap_or_default();
            values.bytes(holder).bytes(inner.encode(name))
        }
        None => values.bytes(table.outer.encode(name)),
    }
}

/// Returns values that begin with the timestamp of a deletion.
fn deletion_values(table: &PreparedTable, deletion: DeletionTime) -> DriverValues {
    timestamp_values(table, deletion.marked_for_delete_at)
}

/// Returns values that begin with a timestamp. Statements on counters have none.
fn timestamp_values(table: &PreparedTable, timestamp: i64) -> DriverValues {
    if table.is_counter { DriverValues::default() } else { DriverValues::default().long(timestamp) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_write_has_its_whole_time_to_live() {
        assert_eq!(time_left(1, 1001, 1000), 1);
        assert_eq!(time_left(1, 1001, 1001), 1);
        assert_eq!(time_left(100, 1050, 1000), 50);
        assert_eq!(time_left(100, 900, 1000), -100);
        assert_eq!(time_left(600_000_000, i32::MAX, 1_800_000_000), 600_000_000);
    }
}
