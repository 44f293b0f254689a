//! The tools for recordings that need no server.
//!
//! `pairing` decodes the calls of a recording, each with its reply. `filter` selects calls, `lines` prints them, `stats`
//! counts them, `json_writer` writes them as lines of JSON. `merge` makes one recording of several.

mod filter;
mod json_writer;
mod lines;
mod merge;
mod pairing;
mod stats;

pub use filter::{Filter, Kept};
pub use json_writer::{JsonWriter, WrittenJson};
pub use lines::line_of;
pub use merge::Merge;
pub use pairing::{PairedCall, Pairing};
pub use stats::{Stats, StatsSummary};
