//! Mutations as statements.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use scylla::statement::batch::{Batch, BatchType};

use super::link::{Link, level};
use super::shape::{RowSelector, Shape};
use super::store::Tables;
use super::table::Table;
use super::values::Values;
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::marshal;
use crate::model::{Cell, CellKind, CfMutation, Change, DeletionTime, Mutation, RangeDeletion};
use crate::storage::StoreError;

/// Statements of one batch, at most: the native protocol counts them in two bytes.
const STEPS_AT_ONCE: usize = 65_000;
/// Seconds by which the clock may have gone on since a request was looked at.
const LATE_S: i32 = 2;

/// A statement on a table with its values.
pub struct Step {
    pub table: Arc<Table>,
    pub shape: Shape,
    pub values: Values,
}

/// What mutations are made of, as statements.
#[derive(Clone, Copy)]
pub struct MutationWriter<'a> {
    pub link: &'a Link,
    pub tables: &'a Tables,
    pub behaviour: &'a Behaviour,
    pub now_s: i32,
    pub consistency: ConsistencyLevel,
}

impl MutationWriter<'_> {
    /// Applies mutations side by side, each to its row at once. Of several errors the first is told; the other
    /// mutations are written all the same, as by the old servers.
    pub async fn apply(&self, mutations: Vec<Mutation>) -> Result<(), StoreError> {
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

    /// Applies mutations by the cluster's batch log: all or none, sooner or later.
    pub async fn apply_logged(&self, mutations: Vec<Mutation>) -> Result<(), StoreError> {
        let mut steps = Vec::new();
        for mutation in mutations {
            self.add_steps(mutation, &mut steps)?;
        }
        self.run_together(steps, BatchType::Logged).await
    }

    async fn apply_one(&self, mutation: Mutation) -> Result<(), StoreError> {
        let mut steps = Vec::new();
        self.add_steps(mutation, &mut steps)?;
        // Counters cannot be among others in a batch.
        let (counts, others): (Vec<Step>, Vec<Step>) =
            steps.into_iter().partition(|step| step.table.is_counter);
        self.run_together(others, BatchType::Unlogged).await?;
        self.run_together(counts, BatchType::Counter).await
    }

    /// Runs steps at once. More than a batch can have go one batch after another, unless all or none must be done.
    async fn run_together(&self, mut steps: Vec<Step>, kind: BatchType) -> Result<(), StoreError> {
        while steps.len() > STEPS_AT_ONCE && kind != BatchType::Logged {
            let later = steps.split_off(STEPS_AT_ONCE);
            self.run_batch(steps, kind).await?;
            steps = later;
        }
        self.run_batch(steps, kind).await
    }

    async fn run_batch(&self, steps: Vec<Step>, kind: BatchType) -> Result<(), StoreError> {
        if steps.len() < 2 {
            for step in steps {
                self.link.run(&step.table, (step.shape, step.values), self.consistency).await?;
            }
            return Ok(());
        }
        let mut batch = Batch::new(kind);
        let mut values = Vec::with_capacity(steps.len());
        let mut is_idempotent = true;
        for step in steps {
            batch.append_statement(step.table.prepared(self.link, step.shape).await?);
            is_idempotent &= step.shape.is_idempotent(&step.table);
            values.push(step.values);
        }
        batch.set_consistency(level(self.consistency));
        batch.set_is_idempotent(is_idempotent);
        self.link.run_batch(batch, values).await?;
        Ok(())
    }

    fn add_steps(&self, mutation: Mutation, steps: &mut Vec<Step>) -> Result<(), StoreError> {
        let Mutation { key, families } = mutation;
        for CfMutation { cf, changes } in families {
            let table = self.tables.of(&cf)?;
            for change in changes {
                let made = match change {
                    Change::Cell { super_column, cell } => Some(self.cell(&table, &key, super_column, cell)),
                    Change::DeleteSuper { name, deletion } => {
                        Some(delete_super(&table, &key, &name, deletion))
                    }
                    Change::DeleteRow { deletion } => {
                        let values = stamped(&table, deletion).bytes(key.clone());
                        Some((Shape::DeleteRow, values))
                    }
                    Change::DeleteRange(range) => self.range(&table, &key, &range),
                };
                steps.extend(made.map(|(shape, values)| Step { table: table.clone(), shape, values }));
            }
        }
        Ok(())
    }

    fn cell(&self, table: &Table, key: &Bytes, super_column: Option<Bytes>, cell: Cell) -> (Shape, Values) {
        let at =
            |values: Values| at_column(values.bytes(key.clone()), table, super_column.as_ref(), &cell.name);
        match cell.kind {
            CellKind::Increment | CellKind::Counter => {
                (Shape::Add, at(Values::default().long(cell.count().unwrap_or_default())))
            }
            CellKind::Live => {
                let values = at(Values::default()).bytes(cell.value.clone()).long(cell.timestamp);
                (Shape::Insert { expires: false }, values)
            }
            CellKind::Expiring { ttl_s, expires_at_s } => {
                let left = time_left(ttl_s, expires_at_s, self.now_s);
                if left <= 0 {
                    return (delete_shape(table), at(stamp(table, cell.timestamp)));
                }
                let values = at(Values::default()).bytes(cell.value.clone()).long(cell.timestamp).int(left);
                (Shape::Insert { expires: true }, values)
            }
            CellKind::Deleted { .. } => (delete_shape(table), at(stamp(table, cell.timestamp))),
        }
    }

    /// The deletion of a run of names; none when it goes backwards.
    fn range(&self, table: &Table, key: &Bytes, range: &RangeDeletion) -> Option<(Shape, Values)> {
        let mut values = stamped(table, range.deletion).bytes(key.clone());
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
        Some((Shape::Delete { inner, which: RowSelector::Run { from, to } }, values))
    }
}

fn delete_super(table: &Table, key: &Bytes, name: &Bytes, deletion: DeletionTime) -> (Shape, Values) {
    let values = stamped(table, deletion).bytes(key.clone()).bytes(table.outer.encode(name));
    (Shape::Delete { inner: false, which: RowSelector::One }, values)
}

/// What is left of a time to live: all of it for a client's write, less for a cell that comes from elsewhere and has
/// lived for a while. A moment that is the last of all says nothing: it may be later.
fn time_left(ttl_s: i32, expires_at_s: i32, now_s: i32) -> i32 {
    let left = expires_at_s.saturating_sub(now_s);
    if left >= ttl_s.saturating_sub(LATE_S) || expires_at_s == i32::MAX { ttl_s } else { left }
}

/// The deletion of one column.
fn delete_shape(table: &Table) -> Shape {
    Shape::Delete { inner: table.inner.is_some(), which: RowSelector::One }
}

/// Appends a column's names.
pub fn at_column(values: Values, table: &Table, super_column: Option<&Bytes>, name: &Bytes) -> Values {
    match &table.inner {
        Some(inner) => {
            let holder = super_column.map(|name| table.outer.encode(name)).unwrap_or_default();
            values.bytes(holder).bytes(inner.encode(name))
        }
        None => values.bytes(table.outer.encode(name)),
    }
}

/// The timestamp of a deletion, which comes first. A counter has none.
fn stamped(table: &Table, deletion: DeletionTime) -> Values {
    stamp(table, deletion.marked_for_delete_at)
}

fn stamp(table: &Table, timestamp: i64) -> Values {
    if table.is_counter { Values::default() } else { Values::default().long(timestamp) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_is_whole_when_it_begins() {
        assert_eq!(time_left(1, 1001, 1000), 1);
        assert_eq!(time_left(1, 1001, 1001), 1);
        assert_eq!(time_left(100, 1050, 1000), 50);
        assert_eq!(time_left(100, 900, 1000), -100);
        assert_eq!(time_left(600_000_000, i32::MAX, 1_800_000_000), 600_000_000);
    }
}
