//! Rows of the new storage engine (3.0 to 3.11), and the cells that older releases have for them.

mod names;
mod rows;
mod values;

pub(super) use rows::ModernRows;
