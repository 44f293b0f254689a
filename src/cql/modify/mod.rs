//! INSERT, UPDATE, DELETE and BATCH: from a statement to changes of cells.

mod attributes;
mod batch;
mod condition;
mod conditional;
mod current;
mod json;
mod keys;
mod operation;
mod plan;
mod row_writer;
mod terms;

pub use batch::BatchPlan;
pub use plan::ModifyPlan;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
