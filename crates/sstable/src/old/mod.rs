//! Rows of 0.4 to 2.2: columns one after the other, each with its whole name.

mod column;
mod rows;
mod supers;

pub(super) use column::read_column;
pub(super) use rows::OldRows;
pub(super) use supers::in_super_columns;
