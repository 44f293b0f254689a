//! Rows on disk: one commit log, memtables, and sorted tables.
//!
//! For a reader who knows LevelDB: the commit log, the memtables and the manifest are ours, the sorted tables and their
//! compaction are the library `lsm-tree`, which here has no log and no memtable of its own. What differs from LevelDB:
//!
//! - *A write reads first.* Which of two writes to a cell wins depends on their timestamps and on the release that the
//!   client speaks to. It is decided when the second write arrives, under the row's lock, and only the winner is stored.
//!   So a read never merges versions, and an entry in a memtable hides the one of its key in every table.
//! - *A write that is newer than all tables does not read.* The manifest has the highest timestamp of each tree.
//! - *A generation instead of a range deletion.* A truncate raises a number in the manifest; see `families`.
//! - *Rows in memory.* Entries of one row lie together, in the memtable and in the row cache, packed.
//!
//! ```text
//!   DIR/
//!     THRIFTSTORE            what the directory is; locked while a server runs     format
//!     MANIFEST               column families, generations, log segments, tables,   manifest
//!                            the schema that clients made
//!     log/7.log              the commit log: what the tables do not hold yet       log
//!     tables/1.2/            a tree: column family 1, generation 2                 tables
//!     tables/1.2.long/       its entries with keys over 60,000 bytes               long_keys
//!     tables/queue/          deletions to look after                               deletion_queue
//!
//!
//!   a write                        write_path: check, lock the rows, look, decide, take, show
//!      |
//!      |  look at the row          row_cache, else memtables, else tables (read_path, row_source)
//!      v
//!   one record -> log/7.log        write_ahead: all of it or nothing survives a crash
//!      |
//!      v
//!   active memtable  ---freeze--->  frozen memtable  ---flush--->  tables/1.2/
//!                                                                      |
//!                        MANIFEST: tables/1.2 is there,                |  compaction merges levels,
//!                        log needed from segment 8 on                  v  tombstones past gc_grace go
//! ```
//!
//! The files by what they know, each using only those above it:
//!
//! | | |
//! |---|---|
//! | `key`, `value` | the entries' format |
//! | `packed`, `log`, `memtable`, `row_cache`, `locks` | memory, and the commit log |
//! | `health`, `blocking`, `disk_guard`, `throttle`, `threads`, `disk_threads` | whether writes are taken, who may wait for the disk |
//! | `manifest`, `tables`, `long_keys` | what is on the disk beside the log |
//! | `merge`, `row_source`, `row_reader`, `scan`, `dump` | reading rows, wherever they are |
//! | `families` | column families and their generations |
//! | `read_path`, `write_batch`, `write_ahead`, `deletion_queue`, `write`, `write_path` | reads and writes |
//! | `commit`, `flush`, `sweeper`, `range_shadow`, `snapshots` | what happens beside them |
//! | `upgrade`, `format`, `foreign`, `recovery`, `options`, `engine`, `store` | opening, and the `Store` trait |
//! | `backup` | copies of a data directory, beside the process that has it open |
//!
//! A store in memory (`EmbeddedStore::in_memory`) is the same without log, tables and manifest file.

mod backup;
mod blocking;
mod commit;
mod deletion_queue;
mod disk_guard;
mod disk_threads;
mod dump;
mod engine;
mod families;
mod flush;
mod foreign;
mod format;
mod health;
mod key;
mod locks;
mod log;
mod long_keys;
mod manifest;
mod memtable;
mod merge;
mod options;
mod packed;
mod range_shadow;
mod read_path;
mod recovery;
mod row_cache;
mod row_reader;
mod row_source;
mod scan;
mod snapshots;
mod store;
mod sweeper;
mod tables;
mod threads;
mod throttle;
mod upgrade;
mod value;
mod write;
mod write_ahead;
mod write_batch;
mod write_path;

pub use backup::{BackupOptions, BackupSummary, back_up, back_up_on};
pub use commit::SyncMode;
pub use foreign::check_not_foreign;
pub use options::EmbeddedOptions;
pub use snapshots::StoreSnapshot;
pub use store::EmbeddedStore;
