//! thriftstore: a server for applications written for Thrift-era Cassandra.
//!
//! The program: its command line, and how the parts of a server are put together. Everything else is in `crates/`, where
//! each crate uses only those before it:
//!
//! ```text
//!   base  config  wire                 types and utilities; the configuration; bytes to messages
//!   store  embedded  cluster           the trait of stores, and the two stores
//!   cql-syntax  db  cql                the syntax of CQL; requests; statements
//!   net  server                        sockets, and the server of both protocols
//!
//!   sstable  transfer  traffic         companions: files of old servers, copies and imports, recordings,
//!   double  console  stress            the test double, the admin server, the load tool
//! ```
//!
//! Other Rust programs use two things: [`testing`], which starts a server in a test, and [`marshal`], for comparators of their
//! own (`examples/custom_comparator`).

// `println!` panics if nobody reads any more: `base::util::output` prints instead.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod cli;

pub use base::marshal;
pub use double::testing;
