//! What clients may ask about the cluster and its schema.

mod cluster;

pub use cluster::{ColumnFamilyDescription, Describe, TokenRange, cql_version};
