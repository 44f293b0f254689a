//! Rows of the new storage engine (3.0 and later), and the cells that older releases have for them.

mod names;
mod rows;
mod update;
mod values;

pub(super) use rows::ModernRows;
pub use update::LogTable;
pub(super) use update::{Update, UpdateForms, read_update};
pub(super) use values::read_bound;
