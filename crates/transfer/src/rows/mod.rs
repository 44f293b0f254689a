//! The pipeline: rows move from a source to a target, are counted, and displayed.
//!
//! ```text
//!   source         returns batches of rows: RowSource, RowBatch
//!   target         takes batches of rows: RowTarget
//!   pump           moves batches from a source to a target
//!   tally          counts rows, cells and bytes         meter         displays the progress
//!   resume_file    records the progress in a file       interruption  stops a transfer
//!   ring_position  the order of rows                        rate          limits the bytes per second
//! ```

mod interruption;
mod meter;
mod pump;
mod rate;
mod resume_file;
mod ring_position;
mod source;
mod tally;
mod target;

pub use interruption::Interruption;
pub(crate) use meter::{Counts, Meter, WalkMeter};
pub(crate) use pump::{Delivered, Pump};
pub use rate::RateLimit;
pub(crate) use resume_file::ResumeFile;
pub(crate) use ring_position::{RingPosition, ring_position};
pub(crate) use source::{BATCH_BYTES, RowBatch, RowSource};
pub(crate) use tally::{RowCounter, Tally};
pub(crate) use target::{NoTarget, RowTarget};
