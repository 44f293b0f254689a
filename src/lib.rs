//! thriftstore: a server for applications written for Thrift-era Cassandra.
//!
//! Layers, each using only those above it: `util`, `compat`, `marshal`, `schema`, `model`, `partitioner`, `config`,
//! `storage`, `db`, `cql`, `thrift`, `native`, `server`, `control`, `testing`, `stress`, `sstable`, `copy`, `import`,
//! `traffic`, `admin`, `cli`.

// The lint `missing_docs` is on for the layers that other code implements or builds on: comparators, partitioners, the
// schema, the types of reads and writes, stores, and the database, on which all protocols build. It is also on for the
// tables of `compat`, whose rows need an explanation.

// `println!` panics if nobody reads any more: `util::output` prints instead.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod admin;
pub mod cli;
#[warn(missing_docs)]
pub mod compat;
pub mod config;
pub mod control;
pub mod copy;
pub mod cql;
#[warn(missing_docs)]
pub mod db;
pub mod import;
#[warn(missing_docs)]
pub mod marshal;
#[warn(missing_docs)]
pub mod model;
pub mod native;
#[warn(missing_docs)]
pub mod partitioner;
#[warn(missing_docs)]
pub mod schema;
pub mod server;
pub mod sstable;
#[warn(missing_docs)]
pub mod storage;
pub mod stress;
pub mod testing;
pub mod thrift;
pub mod traffic;
pub mod util;
