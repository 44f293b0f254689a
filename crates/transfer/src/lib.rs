//! Copies rows between stores and servers, and imports the files of old servers.
//!
//! ```text
//!   copy     stores and servers: a data directory, a cluster, a Thrift server, SSTables to be written
//!   import   the files of old servers: SSTables, commit logs, and the schema that their system tables have
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod copy;
pub mod import;
