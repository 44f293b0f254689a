//! Chooses the range tombstone that a read applies to a name at which one ends and another begins.
//!
//! Cassandra 2.0 and 2.1 cut overlapping range tombstones into ranges that only touch ([`super::range_tombstones`]). A
//! name at which two of them touch is in both, and the way in which the read gets there decides which one is used:
//!
//! ```text
//!   tombstones      b .. f @10,  d .. h @20
//!   cut             [ b .. d ] @10   [ d .. h ] @20
//!   cell            d @15
//!
//!   forward slice from a      comes from [b .. d] @10     returns d
//!   slice from d (2.1)        searches for d, finds @20   does not return d
//!   reversed slice (2.0)      comes from [d .. h] @20     does not return d
//! ```
//!
//! `LevelRanges::over` has the tombstones as they were written. It gets the same result without cutting them: it
//! ignores those that have a certain bound at the name (here `d .. h`, which starts there), unless no others cover the
//! name.

use bytes::Bytes;

use super::{Predicate, ReadCommand};
use crate::marshal::AbstractType;

/// Whether a read is of a single row, or of a row of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOf {
    /// A read of one row by its key.
    Row,
    /// One of the reads of a scan.
    Scan,
}

/// The choice of a read between two ranges that touch at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeTombstoneRule<'a> {
    /// The range with the later timestamp: 2.1 searches for the name.
    Greatest,
    /// The range that ends at the name: the read goes forward through all ranges. In a read of a single row, 2.1 first
    /// selects the ranges of the slice, and so searches for the name `except`, with which the slice starts.
    FromBelow {
        /// The name that is searched for.
        except: Option<&'a [u8]>,
    },
    /// The range that begins at the name: the read goes backwards (2.0).
    FromAbove,
    /// The range with the later timestamp, since 2.1 searches for each name; but for the names `except`, which are in
    /// the range that it has found for an earlier name, the range that ends there.
    Searched {
        /// The names that are not searched for.
        except: &'a [Bytes],
    },
}

impl Default for RangeTombstoneRule<'_> {
    /// Returns the rule of a forward read of all ranges. The sweeper uses it, too.
    fn default() -> Self {
        RangeTombstoneRule::FromBelow { except: None }
    }
}

/// A bound of a range tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TombstoneBound {
    Start,
    Finish,
}

impl<'a> RangeTombstoneRule<'a> {
    /// Returns the rule of a read of cells. `not_searched` is the result of
    /// [`LevelRanges::names_not_searched`](super::LevelRanges::names_not_searched).
    pub fn of_cells(
        command: &'a ReadCommand,
        read_of: ReadOf,
        not_searched: &'a [Bytes],
    ) -> RangeTombstoneRule<'a> {
        let is_searched = command.behaviour.cells.range_tombstones_are_searched;
        match &command.predicate {
            Predicate::Range(range) if range.reversed && is_searched => RangeTombstoneRule::Greatest,
            Predicate::Range(range) if range.reversed => RangeTombstoneRule::FromAbove,
            _ if !RangeTombstoneRule::searches(command, read_of) => RangeTombstoneRule::default(),
            Predicate::Range(range) => RangeTombstoneRule::FromBelow {
                except: (!range.start.is_empty()).then_some(&range.start[..]),
            },
            Predicate::Names(_) => RangeTombstoneRule::Searched { except: not_searched },
        }
    }

    /// Returns whether a read first selects the ranges of the requested names.
    pub(super) fn searches(command: &ReadCommand, read_of: ReadOf) -> bool {
        command.behaviour.cells.range_tombstones_are_searched && read_of == ReadOf::Row
    }

    /// Returns the rule for the cells of super columns that are read as a whole. The bounds of the slice are super
    /// columns, so there is no exception.
    pub fn of_supers(command: &ReadCommand) -> RangeTombstoneRule<'a> {
        let is_reversed = matches!(&command.predicate, Predicate::Range(range) if range.reversed);
        if is_reversed && command.behaviour.cells.range_tombstones_are_searched {
            return RangeTombstoneRule::Greatest;
        }
        RangeTombstoneRule::default()
    }

    /// Returns the bound that makes a tombstone ignored if it has it at the name, and others cover the name.
    pub(super) fn ignored_bound(&self, name: &[u8], comparator: &dyn AbstractType) -> Option<TombstoneBound> {
        match self {
            RangeTombstoneRule::Greatest => None,
            RangeTombstoneRule::FromBelow { except } => (!except
                .is_some_and(|other| comparator.compare(other, name).is_eq()))
            .then_some(TombstoneBound::Start),
            RangeTombstoneRule::FromAbove => Some(TombstoneBound::Finish),
            RangeTombstoneRule::Searched { except } => {
                let is_found = except.binary_search_by(|other| comparator.compare(other, name)).is_ok();
                is_found.then_some(TombstoneBound::Start)
            }
        }
    }
}
