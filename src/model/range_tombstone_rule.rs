//! Which of the tombstones that overlap at a name a read heeds.

use bytes::Bytes;

use super::{Predicate, ReadCommand};
use crate::marshal::AbstractType;

/// Whether a read is of a row alone, or one of many that a scan makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOf {
    Row,
    Scan,
}

/// Cassandra 2.0 and 2.1 cut tombstones that overlap into runs that touch. A name at which one run ends and the
/// next begins is in both, and how the read came there decides which is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeTombstoneRule<'a> {
    /// The later of both: 2.1 searches for the name.
    Greatest,
    /// The one from below: the read goes forward through all runs. Of a row alone, 2.1 picks the runs of the slice
    /// first and so has to search for the name with which the slice starts.
    FromBelow { but_at: Option<&'a [u8]> },
    /// The one from above: the read goes backwards (2.0).
    FromAbove,
    /// 2.1 searches for names, except for those that lie in the run which it has found for an earlier name.
    Searched { but_at: &'a [Bytes] },
}

impl Default for RangeTombstoneRule<'_> {
    /// The one that hides least: what it hides, no read shows.
    fn default() -> Self {
        RangeTombstoneRule::FromBelow { but_at: None }
    }
}

/// An end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Start,
    Finish,
}

impl<'a> RangeTombstoneRule<'a> {
    /// For a read of cells. `reached` are the names that [`LevelRanges::reached`](super::LevelRanges::reached)
    /// gives.
    pub fn of_cells(
        command: &'a ReadCommand,
        read_of: ReadOf,
        reached: &'a [Bytes],
    ) -> RangeTombstoneRule<'a> {
        let is_searched = command.behaviour.cells.range_tombstones_are_searched;
        match &command.predicate {
            Predicate::Range(range) if range.reversed && is_searched => RangeTombstoneRule::Greatest,
            Predicate::Range(range) if range.reversed => RangeTombstoneRule::FromAbove,
            _ if !RangeTombstoneRule::searches(command, read_of) => RangeTombstoneRule::default(),
            Predicate::Range(range) => RangeTombstoneRule::FromBelow {
                but_at: (!range.start.is_empty()).then_some(&range.start[..]),
            },
            Predicate::Names(_) => RangeTombstoneRule::Searched { but_at: reached },
        }
    }

    /// Whether a read picks the runs of what it asks for first.
    pub(super) fn searches(command: &ReadCommand, read_of: ReadOf) -> bool {
        command.behaviour.cells.range_tombstones_are_searched && read_of == ReadOf::Row
    }

    /// For the cells of super columns that are read whole: the bounds of the slice are none of them.
    pub fn of_supers(command: &ReadCommand) -> RangeTombstoneRule<'a> {
        let is_reversed = matches!(&command.predicate, Predicate::Range(range) if range.reversed);
        if is_reversed && command.behaviour.cells.range_tombstones_are_searched {
            return RangeTombstoneRule::Greatest;
        }
        RangeTombstoneRule::default()
    }

    /// The tombstones that have this bound at the name are left out where others go on.
    pub(super) fn left_out(&self, name: &[u8], comparator: &dyn AbstractType) -> Option<Bound> {
        let is_name = |other: &[u8]| comparator.compare(other, name).is_eq();
        match self {
            RangeTombstoneRule::Greatest => None,
            RangeTombstoneRule::FromBelow { but_at } => {
                (!but_at.is_some_and(is_name)).then_some(Bound::Start)
            }
            RangeTombstoneRule::FromAbove => Some(Bound::Finish),
            RangeTombstoneRule::Searched { but_at } => {
                let is_found = but_at.binary_search_by(|other| comparator.compare(other, name)).is_ok();
                is_found.then_some(Bound::Start)
            }
        }
    }
}
