//! Descriptions of the cluster and its schema for clients.

mod cluster;

pub use cluster::{ColumnFamilyDescription, Describe, TokenRange, cql_version};
