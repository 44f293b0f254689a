//! The archive: a continuous backup of an embedded store to object storage, and restores of any moment from it.
//!
//! ```text
//!   ARCHIVE/                                        what --archive names
//!     tables/CHECKSUM-BYTES                         a table. Uploaded once, whatever full backups name it
//!     lines/LINE/RUN/begin                          claims the run for one server                        run
//!     lines/LINE/RUN/full/N                         a full backup: the manifest, and the names of tables  full_backup
//!     lines/LINE/RUN/log/N                          a part: the next piece of the commit log              log_part
//! ```
//!
//! A *line* is the history of one data directory. A *run* is a part of it without a gap: it begins when the server starts,
//! or when the archive could not follow and begins anew. A server continues a line only if its data directory is the one
//! that wrote the last run: it creates `begin` of the next run, which fails if it exists. So nothing of another server is
//! ever overwritten, and a restored or copied data directory begins a line of its own.
//!
//! | | |
//! |---|---|
//! | `error`, `time`, `location`, `bucket` | object storage: its address, requests with retries |
//! | `object`, `names`, `log_part`, `full_backup`, `run` | the formats of the objects, and their names |
//! | `log_stream`, `full_upload`, `retention`, `archiver` | the thread that archives a store |
//! | `inventory`, `replay`, `restore`, `verify` | readers of an archive |

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod archiver;
mod bucket;
mod error;
mod full_backup;
mod full_upload;
mod inventory;
mod location;
mod log_part;
mod log_stream;
mod names;
mod object;
mod replay;
mod restore;
mod retention;
mod run;
mod time;
mod verify;

pub use archiver::{ArchiveOptions, Archiver, FullSchedule};
pub use error::ArchiveError;
pub use inventory::{LineSummary, RunSummary, list};
pub use location::{ArchiveLocation, choose_cryptography};
/// For tests that put an object storage with faults in front of an archive.
pub use object_store;
pub use restore::{RestoreOptions, RestoreSummary, restore};
pub use time::{format_time, parse_time};
pub use verify::{ArchiveVerified, verify};

/// A result of this crate.
pub type Result<T, E = ArchiveError> = std::result::Result<T, E>;
