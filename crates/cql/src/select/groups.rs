//! Rows that are combined into one: by aggregates, and by GROUP BY as in 3.10.

use std::sync::Arc;

use bytes::Bytes;

use super::operands::BoundValues;
use super::result_rows::memory_of;
use super::rows::TableRow;
use super::selection::Projection;
use crate::Result;
use crate::values::AggregateTally;

/// The state of one group.
#[derive(Debug)]
struct Group {
    /// The first row: columns outside of aggregates have its values.
    first: TableRow,
    tallies: Vec<AggregateTally>,
}

impl Group {
    /// Whether a row belongs to the group. Without GROUP BY all do.
    fn has(&self, row: &TableRow, projection: &Projection) -> bool {
        let places = projection.group_by.iter().flatten();
        places.into_iter().all(|place| self.first.value(*place) == row.value(*place))
    }
}

/// Combines rows into groups. The rows come in the order of the primary key, so the rows of a group are adjacent.
#[derive(Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    pub answered: Vec<Vec<Option<Bytes>>>,
    /// The estimated memory of `answered`.
    pub memory: usize,
}

fn no_row() -> TableRow {
    TableRow {
        key: Bytes::new(),
        key_parts: Arc::default(),
        clustering: Vec::new(),
        statics: Arc::default(),
        columns: Vec::new(),
    }
}

impl Groups {
    pub(super) fn add(
        &mut self,
        row: &TableRow,
        projection: &Projection,
        bound: BoundValues<'_>,
        now_s: i32,
    ) -> Result<()> {
        if !self.current.as_ref().is_some_and(|group| group.has(row, projection)) {
            self.close(projection, bound, now_s)?;
        }
        let group = self.current.get_or_insert_with(|| Group {
            first: row.clone(),
            tallies: vec![AggregateTally::default(); projection.aggregates.len()],
        });
        projection.tally(&mut group.tallies, row, bound, now_s)
    }

    fn close(&mut self, projection: &Projection, bound: BoundValues<'_>, now_s: i32) -> Result<()> {
        let Some(group) = self.current.take() else { return Ok(()) };
        let values = projection.grouped(&group.first, group.tallies, bound, now_s)?;
        self.memory += size_of_val(&values) + memory_of(&values);
        self.answered.push(values);
        Ok(())
    }

    /// Finishes the last group. Without GROUP BY there is a group even if there are no rows.
    pub(super) fn finish(
        &mut self,
        projection: &Projection,
        bound: BoundValues<'_>,
        now_s: i32,
    ) -> Result<()> {
        if projection.group_by.is_none() {
            let tallies = vec![AggregateTally::default(); projection.aggregates.len()];
            self.current.get_or_insert_with(|| Group { first: no_row(), tallies });
        }
        self.close(projection, bound, now_s)
    }
}
