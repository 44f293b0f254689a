//! What all transfers of rows share.

mod interruption;
mod tally;

pub use interruption::Interruption;
pub use tally::Tally;
