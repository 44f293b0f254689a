//! The data model: cells, tombstones, rows, mutations and commands of reads; and the rules by which writes are
//! reconciled.

mod cell;
mod command;
mod mutation;
mod range_tombstone;
mod range_tombstone_rule;
mod range_tombstones;
mod reconcile;
mod row;

pub use cell::{Cell, CellKind, DeletionTime};
pub use command::{Bounds, Predicate, RangeCommand, ReadCommand, SliceRange};
pub use mutation::{CfMutation, Change, Mutation};
pub use range_tombstone::{LevelRanges, RangeTombstone, SortedRanges};
pub use range_tombstone_rule::{RangeTombstoneRule, ReadOf};
pub use reconcile::{Winner, reconcile};
pub use row::{Row, RowColumns, SuperColumn, detach_cells};
