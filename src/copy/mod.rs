//! Moves column families from one store to another, with timestamps, times to live and tombstones, and compares both.
//!
//! `place` says where a store is, `open` opens it as a `Side`. `walk` reads a side in ring order, piece by piece: all that
//! is stored where the side tells it, else what is alive, page by page (`pages`; `store_pages` and `thrift_pages` are the
//! two kinds). `schema` says what is copied and makes what the target lacks, `write` writes, `progress_file` remembers how
//! far that has come. `verify` compares what is alive on both sides by looking each cell up; `merge` compares two
//! that tell everything, tombstones too. `meter` shows how it goes.

mod difference;
mod error;
mod families;
mod merge;
mod meter;
mod open;
mod pages;
mod place;
mod progress_file;
mod run;
mod schema;
mod side;
mod store_pages;
mod tally;
mod thrift_client;
mod thrift_pages;
mod thrift_schema;
mod verify;
mod walk;
mod write;

pub use error::CopyError;
pub use open::{OpenOptions, open};
pub use place::{Place, ThriftPlace};
pub use run::{CopyOptions, Interruption, Task, run};
pub use schema::Selection;
pub use side::Side;
