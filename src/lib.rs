//! thriftstore: a home for applications written for the Thrift-era Cassandra.
//!
//! Layers, each using only those above it: `util`, `marshal`, `model`, `partitioner`, `schema`, `config`,
//! `storage`, `db`, `thrift`, `server`, `stress`, and the command line.

pub mod config;
pub mod marshal;
pub mod partitioner;
pub mod schema;
pub mod util;
