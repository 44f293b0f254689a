//! thriftstore: a home for applications written for the Thrift-era Cassandra.
//!
//! Layers, each using only those above it: `util`, `compat`, `marshal`, `schema`, `model`, `partitioner`, `config`,
//! `storage`, `db`, `cql`, `thrift`, `native`, `server`, `stress`, `copy`, `cli`.

pub mod cli;
pub mod compat;
pub mod config;
pub mod copy;
pub mod cql;
pub mod db;
pub mod marshal;
pub mod model;
pub mod native;
pub mod partitioner;
pub mod schema;
pub mod server;
pub mod storage;
pub mod stress;
pub mod thrift;
pub mod util;
