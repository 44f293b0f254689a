//! Rows on a cluster of Cassandra 4 and 5 or ScyllaDB, by its driver: one table a column family.

mod options;

pub use options::{ClusterOptions, ClusterTls};
