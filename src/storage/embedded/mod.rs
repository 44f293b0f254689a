//! Rows on disk, in the LSM engine `fjall`.
//!
//! Writes go through a commit log and a memtable of our own (`log`, `memtable`, both behind `intake`), and become
//! tables of the engine when `flush` says so. One engine keyspace a column family, one for what we keep about
//! ourselves. `key` and `value` are the disk format; `long_keys` lets keys be longer than the engine's; `write` decides
//! at once which write wins, under `locks`; `row_cache` keeps busy rows in memory, `packed` like the memtable's;
//! `commit` makes writes durable; `dump` reads all of it; `purge` forgets old tombstones, and `range_shadow` tells it
//! what those of runs of names shadow; `log_check`, `file_check`, `shield` and `disk_guard` stand between the engine and
//! what it does not survive well.

mod blocking;
mod commit;
mod disk_guard;
mod dump;
mod engine;
mod families;
mod family;
mod file_check;
mod flush;
mod flusher;
mod inner;
mod intake;
mod key;
mod ledger;
mod locks;
mod log;
mod log_check;
mod long_keys;
mod memtable;
mod merge;
mod packed;
mod purge;
mod queue;
mod range_shadow;
mod row_cache;
mod row_reader;
mod row_source;
mod running;
mod scan;
mod setup;
mod shield;
mod store;
mod value;
mod write;
mod write_batch;

pub use commit::SyncMode;
pub use setup::EmbeddedOptions;
pub use store::EmbeddedStore;
