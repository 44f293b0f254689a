//! INSERT, UPDATE, DELETE and BATCH: turns statements into changes of cells.

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
