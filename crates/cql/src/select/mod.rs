//! SELECT: finds out which cells a statement reads, and builds the rows of the result from them.

mod access_path;
mod analysis;
mod bounds;
mod cell_slices;
mod cell_source;
mod changed_rows;
mod checks;
mod column_order;
mod element_condition;
mod filter;
mod groups;
mod index_lookup;
mod keys;
mod merging;
mod messages;
mod operands;
mod order_checks;
mod page_memory;
mod paging;
mod partition;
mod plan;
mod reach;
mod restrictions;
mod result_rows;
mod row_assembler;
mod row_counter;
mod rows;
mod selection;
mod slice_cursor;
mod system_rows;
mod token;
mod token_relation;
mod tuple_slices;
mod walk;

pub use access_path::{AccessPath, PathIndex, PathPartitions};
pub(crate) use changed_rows::{ChangedRows, RowSet, missing};
pub(crate) use filter::present;
pub(crate) use operands::{BoundValues, Operands};
pub(crate) use plan::SelectPlan;
pub use reach::Reach;
pub use row_assembler::RowAssembler;

#[cfg(test)]
mod tests;
