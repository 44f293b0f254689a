//! Rows on a cluster of Cassandra 4 and 5 or ScyllaDB, by its driver: one table a column family.
//!
//! `link` is the way there, behind a `gate`, and `retries` says what goes it twice; `table` is a column family as a table, `names` how its names are kept,
//! `shape` the statements on it and `values` what they are sent with. `write`, `read`, `scan` and `cas` turn what is
//! asked into statements, `rows` and `error` turn answers back. `splits` cuts the ring for batch jobs. `cql` runs what
//! clients write themselves. `keyspaces` makes tables, `notes` keeps what all gateways share. What is not as on our own
//! disk is in docs/cluster.md.

mod cas;
mod connect_error;
mod cql;
mod cql_types;
mod error;
mod gate;
mod keyspaces;
mod link;
mod names;
mod notes;
mod options;
mod paging;
mod read;
mod retries;
mod rows;
mod scan;
mod shape;
mod splits;
mod status;
mod store;
mod table;
mod tls;
mod token;
mod values;
mod write;

pub use link::Link as ClusterLink;
pub use options::{ClusterOptions, ClusterTls};
pub use store::ClusterStore;
