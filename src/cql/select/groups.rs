//! Rows that are answered together: by aggregates, and by GROUP BY of 3.10.

use std::sync::Arc;

use bytes::Bytes;

use super::operands::Bound;
use super::rows::{Place, Row};
use super::selection::Projection;
use super::walk::memory_of;
use crate::cql::CqlError;
use crate::cql::values::Tally;

/// What has been seen of one group.
#[derive(Debug)]
struct Group {
    /// Columns that no aggregate is about have the values of the first row.
    first: Row,
    tallies: Vec<Tally>,
}

/// Gathers rows, which come in the order of the primary key: a group's are one after another.
#[derive(Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    pub answered: Vec<Vec<Option<Bytes>>>,
    /// About how much memory the answered ones take.
    pub memory: usize,
}

fn no_row() -> Row {
    Row {
        key: Bytes::new(),
        key_parts: Arc::default(),
        clustering: Vec::new(),
        statics: Arc::default(),
        columns: Vec::new(),
    }
}

impl Groups {
    pub fn add(
        &mut self,
        row: &Row,
        picked: &Projection,
        (bound, now_s): (Bound<'_>, i32),
    ) -> Result<(), CqlError> {
        let is_same = |place: &Place, group: &Group| group.first.value(*place) == row.value(*place);
        let has_begun =
            |group: &Group| picked.group_by.as_ref().is_none_or(|by| by.iter().all(|at| is_same(at, group)));
        if !self.current.as_ref().is_some_and(has_begun) {
            self.close(picked, (bound, now_s))?;
        }
        let group = self.current.get_or_insert_with(|| Group {
            first: row.clone(),
            tallies: vec![Tally::default(); picked.aggregates.len()],
        });
        picked.tally(&mut group.tallies, row, (bound, now_s))
    }

    fn close(&mut self, picked: &Projection, (bound, now_s): (Bound<'_>, i32)) -> Result<(), CqlError> {
        let Some(group) = self.current.take() else { return Ok(()) };
        let values = picked.grouped(&group.first, group.tallies, (bound, now_s))?;
        self.memory += size_of_val(&values) + memory_of(&values);
        self.answered.push(values);
        Ok(())
    }

    /// The last group. Without GROUP BY there is one even of no rows.
    pub fn finish(&mut self, picked: &Projection, (bound, now_s): (Bound<'_>, i32)) -> Result<(), CqlError> {
        if picked.group_by.is_none() {
            let tallies = vec![Tally::default(); picked.aggregates.len()];
            self.current.get_or_insert_with(|| Group { first: no_row(), tallies });
        }
        self.close(picked, (bound, now_s))
    }
}
