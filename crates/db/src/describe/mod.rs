//! Descriptions of the cluster and its schema for clients.

mod cluster;
mod system;

pub use cluster::{ColumnFamilyDescription, Describe, TokenRange, cql_version};
