//! Moves rows: copies between stores and servers, imports of the files of old servers, and comparisons of both.
//!
//! ```text
//!   rows       the pipeline: moves rows from a source to a target, counts and displays them, records the progress
//!   endpoint   stores and servers that rows are read from and written to: a data directory, a cluster, a Thrift server
//!   thrift     clients of Thrift servers
//!   copy       column families from one endpoint to another, or to SSTables
//!   import     the files of old servers: SSTables, commit logs, and the schema that their system tables have
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod copy;
pub mod endpoint;
mod error;
pub mod import;
mod rows;
pub mod thrift;

pub use error::TransferError;
pub use rows::Interruption;
