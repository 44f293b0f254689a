//! The access path of a SELECT: the way in which it finds its rows.

use bytes::Bytes;

use super::keys::Partitions;
use super::plan::SelectPlan;
use super::reach::Extent;
use crate::{QueryOptions, QueryState, Result};
use base::model::Bounds;

/// The partitions that a SELECT reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPartitions {
    /// Single partitions by their keys, in this order.
    Keys(Vec<Bytes>),
    /// A range of the ring; `None`: the range is empty.
    Range(Option<Bounds>),
}

/// An index that finds the partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathIndex {
    /// The name of the indexed column.
    pub column: String,
    /// The value that is looked up.
    pub value: Bytes,
}

/// The way in which a SELECT finds its rows, as its plan decides before the first read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessPath {
    /// The partitions that are read; with an index, those among which it finds rows.
    pub partitions: PathPartitions,
    /// The index that finds the rows; `None` without one.
    pub index: Option<PathIndex>,
    /// Whether partitions are read from their end.
    pub is_reversed: bool,
    /// The columns whose values are checked after a row is read.
    pub filtered: Vec<String>,
    /// Whether the rows of several partitions are sorted together in memory.
    pub sorts: bool,
    /// The number of rows of the result; `None`: no limit.
    pub limit: Option<usize>,
}

impl SelectPlan {
    /// Returns how the statement finds its rows; `None` for a system table, whose rows are not stored, and if there is
    /// nothing to read.
    pub(crate) fn path(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Option<AccessPath>> {
        if self.target.is_system {
            return Ok(None);
        }
        let execution = self.begin(state, options)?;
        let Some(start) = &execution.start else { return Ok(None) };
        let extent = Extent { plan: self, execution: &execution, start };
        let partitions = match &start.partitions {
            Partitions::Keys(keys) => PathPartitions::Keys(keys.clone()),
            Partitions::Range(range) => {
                PathPartitions::Range(range.as_ref().map(|range| range.bounds.clone()))
            }
        };
        let index = start.index.as_ref().map(|index| {
            let column = self.target.def.columns().find(|column| column.cell_name == index.column);
            let column = column.map_or_else(String::new, |column| column.name.to_string());
            PathIndex { column, value: index.value.clone() }
        });
        Ok(Some(AccessPath {
            partitions,
            index,
            is_reversed: execution.walk.slices.is_reversed,
            filtered: extent.filtered().into_iter().map(str::to_owned).collect(),
            sorts: execution.walk.result.is_sorted,
            limit: (execution.limit < usize::MAX).then_some(execution.limit),
        }))
    }
}
