//! Writes: columns, counters, deletions, batches and conditional updates.

mod cas;
mod unchecked_name;
mod validate;
mod writes;

pub use cas::{CasOutcome, CasRequest};
pub(super) use unchecked_name::{Compared, compared};
