//! Rows of the new storage engine (3.0 to 3.11), and the cells that older releases have for them.

mod names;
mod rows;
mod update;
mod values;

pub(super) use rows::ModernRows;
pub use update::LogTable;
pub(super) use update::{Update, read_update};
