//! INSERT, UPDATE, DELETE and BATCH: turns statements into changes of cells.
//!
//! ```text
//!   UPDATE posts USING TTL 60 SET tags = tags + {'new'}, words = 5 WHERE author = 'austen' AND day = 2
//!
//!   ModifyPlan         checked once: table, keys, operations, conditions, attributes
//!     ChangedKeys        author = ?, day = ?            which partitions, and which rows in each
//!     ColumnOperation    add to tags, set words         what changes in each row
//!     RowTest            none                           IF ...: `conditional` serializes the statement
//!   RowWriter          with the bound values, for each row
//!     cell (2, tags, 'new') = ""     @now, TTL 60       a set has its elements in the names of cells
//!     cell (2, words)       = 5      @now, TTL 60
//!     cell (2)              = ""     @now, TTL 60       the row marker, if the release writes it for an UPDATE
//!   Mutation           the cells of all rows of a partition, applied as one
//! ```
//!
//! A batch makes the changes of all its statements before it writes any of them. Statements with IF are serialized per
//! partition: they read the rows, check all conditions, and write all changes or none.

mod attributes;
mod batch;
mod body;
mod changed_keys;
mod condition;
mod conditional;
mod current;
mod json;
mod key_checks;
mod keys;
mod kind;
mod operation;
mod plan;
mod row_test;
mod row_writer;
mod step;
mod terms;

pub(crate) use batch::{BatchPlan, run_batch};
pub(crate) use plan::ModifyPlan;
pub(crate) use step::Step;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
