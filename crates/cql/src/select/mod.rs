//! SELECT: finds out which cells a statement reads, and builds the rows of the result from them.
//!
//! A store has no rows of CQL. It has partitions of cells that are sorted by name, and the name of a cell begins with the
//! clustering values of its row. So a row is a run of neighbouring cells, and conditions on clustering columns are slices
//! of names:
//!
//! ```text
//!   CREATE TABLE posts (author text, day int, title text, words int, PRIMARY KEY (author, day))
//!   SELECT title, words FROM posts WHERE author = 'austen' AND day >= 2
//!
//!   Analysis        checks each relation           author = : the partition     day >= : a slice
//!   SelectPlan      what is prepared once          restrictions, projection, LIMIT
//!   Execution       with the bound values          key "austen", cells from (2) on
//!   Walk            reads partitions in pages      (2, title) (2, words) (3, title) ...
//!   Grouping        cells of equal clustering      | row 2              | row 3
//!   RowFilter       conditions that no slice has   kept                   kept
//!   ResultRows      the columns of the select      ("Emma", 160000)       ("Persuasion", null)
//!   PagingState     where the next page begins     behind the last row that was returned
//! ```
//!
//! The checks are in the order of the old servers, because a client sees only the first error.

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
