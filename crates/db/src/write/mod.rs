//! Writes: columns, counters, deletions, batches and conditional updates.

mod batches;
mod cas;
mod changes;
mod unchecked_name;
mod validate;
mod writes;

pub use cas::{CasOutcome, CasRequest};
pub(super) use unchecked_name::{Compared, compared};
pub use validate::check_expiry;
pub use writes::Writes;
