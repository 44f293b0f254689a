//! Moves rows: copies between stores and servers, imports of the files of old servers, and comparisons of both.
//!
//! ```text
//!   rows       the pipeline: moves rows from a source to a target, counts and displays them, records the progress
//!   endpoint   stores and servers that rows are read from and written to: a data directory, a cluster, a Thrift server
//!   thrift     clients of Thrift servers           native   a client of servers of the native protocol
//!   copy       column families from one endpoint to another, or to SSTables
//!   export     rows as files that other programs open, and back
//!   import     the files of old servers: SSTables, commit logs, and the schema that their system tables have
//! ```
//!
//! For example, a copy of one column family from a server of 0.6 to a data directory:
//!
//! ```text
//!   Location::Thrift("old:9160")                         Location::Data("/var/lib/thriftstore")
//!        | open                                               | open
//!     Endpoint   pages of get_range_slices                 Endpoint   a database
//!        |                                                    ^
//!        +--- rows, 256 at a time ---> pump --- batches, 16 at once
//!                                       |
//!                                  progress file: Blog/Books is copied up to the key "austen"
//! ```
//!
//! [`copy::run()`] copies and compares as its [`copy::CopyOptions`] say; [`copy::export()`] writes SSTables, and
//! [`export::export()`] files for other programs.
//! [`import::import()`] reads the files of an [`import::Inventory`], and returns an [`import::Summary`] with all that is
//! lost or in doubt. A [`TransferError`] or an [`import::ImportError`] ends a transfer; finished parts stay. An
//! [`Interruption`] stops one.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

pub mod copy;
pub mod endpoint;
mod error;
pub mod export;
pub mod import;
pub mod native;
mod rows;
pub mod thrift;

pub use error::TransferError;
pub use rows::{Interruption, RateLimit};
