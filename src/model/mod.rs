//! The nouns: cells, tombstones, rows, mutations, what a read asks for, and which of two writes wins.

mod behaviour;
mod cell;
mod command;
mod consistency;
mod mutation;
mod range_deletion;
mod range_rule;
mod range_runs;
mod reconcile;
mod row;

pub use behaviour::{Behaviour, SuperCount, TimestampOrder, ValueTie};
pub use cell::{Cell, CellKind, DeletionTime};
pub use command::{Bounds, Predicate, RangeCommand, ReadCommand, SliceRange};
pub use consistency::ConsistencyLevel;
pub use mutation::{CfMutation, Change, Mutation};
pub use range_deletion::{LevelRanges, RangeDeletion, SortedRanges};
pub use range_rule::{RangeRule, ReadOf};
pub use reconcile::{Winner, reconcile};
pub use row::{Row, RowColumns, SuperColumn, detach_cells};
