//! The data model: cells, tombstones, rows, mutations and commands of reads; and the rules by which writes are
//! reconciled.

mod bound_value;
mod cell;
mod changes;
mod command;
mod field_role;
mod mutation;
mod range_tombstone;
mod range_tombstone_rule;
mod range_tombstones;
mod reconcile;
mod row;
mod statement_id;

pub use bound_value::BoundValue;
pub use cell::{Cell, CellKind, DeletionTime};
pub use changes::{CellView, ChangeView, Changes};
pub use command::{Bounds, Predicate, RangeCommand, ReadCommand, SliceRange};
pub use field_role::FieldRole;
pub use mutation::{CfMutation, Change, Mutation};
pub use range_tombstone::{LevelRanges, RangeTombstone, SortedRanges};
pub use range_tombstone_rule::{RangeTombstoneRule, ReadOf};
pub use reconcile::{Winner, reconcile};
pub use row::{Row, RowColumns, SuperColumn, detach_cells};
pub use statement_id::StatementId;
