//! The embedded store: rows on the local disk, in one commit log, memtables and sorted tables.
//!
//! The design follows LevelDB. The commit log, the memtables and the manifest are implemented here; the sorted tables
//! and their compaction come from the library `lsm-tree`, which is used without a log and without memtables.
//! Differences from LevelDB:
//!
//! - *A write reads first.* Which of two writes to a cell wins depends on their timestamps and on the release of the
//!   client's API. This is decided when the second write arrives, under the row's lock, and only the winner is stored.
//!   So a read never reconciles versions, and an entry in a memtable hides the entries of the same key in all tables.
//! - *A write that is newer than all tables does not read them.* The manifest has the highest timestamp of each tree.
//! - *A truncate deletes no range of keys.* It raises the generation of the column family in the manifest; see
//!   `families`.
//! - *Rows are kept together in memory.* The entries of one row are packed into blocks of memory, in memtables and in
//!   the row cache.
//!
//! ```text
//!   DIR/
//!     THRIFTSTORE            what the directory is; locked while a server runs    format
//!     MANIFEST               column families, generations, log segments, tables,  manifest
//!                            the schema that clients have created
//!     log/7.log              the commit log: writes that are not in tables yet    log
//!     tables/1.2/            a tree: column family 1, generation 2                tables
//!     tables/1.2.long/       its entries with keys from 60,000 bytes on           long_keys
//!     tables/queue/          deletions for the sweeper                            deletion_queue
//!
//!
//!   a write                        write_path: check, lock, look up, reconcile, append, publish
//!      |
//!      |  look up the row          row_cache, else memtables, else tables (read_path, row_source)
//!      v
//!   one record -> log/7.log        write_ahead: it survives a crash completely or not at all
//!      |
//!      v
//!   active memtable  ---freeze--->  frozen memtable  ---flush--->  tables/1.2/
//!                                                                      |
//!                        MANIFEST: lists tables/1.2,                   |  compaction merges levels,
//!                        log needed from segment 8 on                  v  and drops old tombstones
//! ```
//!
//! The files in layers. Each file uses only files of its own layer and of those above it:
//!
//! | | |
//! |---|---|
//! | `key`, `value` | the format of entries |
//! | `packed`, `log`, `memtable`, `row_cache`, `locks` | entries in memory, and the commit log |
//! | `health`, `blocking`, `disk_guard`, `throttle`, `threads`, `disk_threads` | whether writes are accepted, and which threads may wait for the disk |
//! | `manifest`, `tables`, `long_keys`, `pace` | files beside the log, and the rate at which they are copied or verified |
//! | `merge`, `row_source`, `row_reader`, `scan`, `dump` | reading rows from cache, memtables and tables |
//! | `families` | column families and their generations |
//! | `read_path`, `write_batch`, `write_ahead`, `deletion_queue`, `write`, `write_path` | reads and writes |
//! | `commit`, `flush`, `sweeper`, `range_shadow`, `snapshots` | background work, and snapshots of a store in memory |
//! | `format`, `foreign`, `recovery`, `options`, `engine`, `bulk_load`, `store` | opening, bulk loads, and the `Store` trait |
//! | `backup`, `verification` | copy and read a data directory that another process may have open |
//! | `archiving` | the log, the manifest and the tables of an open store for an archive, and restores from one |
//!
//! A store in memory (`EmbeddedStore::in_memory`) has the same parts except the log, the tables and the manifest's
//! file.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod archiving;
mod backup;
mod blocking;
mod bulk_load;
mod commit;
mod deletion_queue;
pub mod disk;
mod disk_guard;
mod disk_threads;
mod dump;
mod engine;
mod families;
mod flush;
mod foreign;
mod format;
mod health;
mod inspection;
mod key;
pub mod limits;
mod locks;
mod log;
mod long_keys;
mod manifest;
mod memtable;
mod merge;
mod options;
mod pace;
mod packed;
mod partitioner;
mod range_shadow;
mod read_path;
mod recovery;
mod row_cache;
mod row_reader;
mod row_source;
mod scan;
mod snapshots;
mod store;
mod stored_slice;
mod sweeper;
mod table_folders;
mod tables;
mod threads;
mod throttle;
mod value;
mod verification;
mod write;
mod write_ahead;
mod write_batch;
mod write_path;

pub use archiving::{
    ArchiveMeter, ArchiveSource, LogBytes, LogPlace, ManifestChange, PinnedBackup, PinnedTable,
    RestoreTarget, RestoredManifest, SmallFile, StorePoint,
};
pub use backup::{BackupOptions, BackupSummary, back_up, back_up_on};
pub use commit::SyncMode;
pub use disk::FreeSpace;
pub use disk_guard::{free_space, reserve as disk_reserve};
pub use foreign::{check_not_foreign, check_not_of_cassandra, check_parents};
pub use format::{DATA_FORMAT, FILE as DATA_FILE};
pub use inspection::{Inspection, inspect, stored_partitioner};
pub use options::EmbeddedOptions;
pub use store::EmbeddedStore;
pub use verification::{Verified, verify};
