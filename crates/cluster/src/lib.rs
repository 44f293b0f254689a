//! The store on a cluster of Cassandra 4 and 5 or ScyllaDB, through the ScyllaDB driver. Each column family is one
//! table.
//!
//! | | |
//! |---|---|
//! | `options`, `tls`, `connect_error` | connecting to the cluster |
//! | `link`, `gate`, `retries`, `error`, `status` | the driver's session: limits, retries, errors |
//! | `table`, `tables`, `names`, `shape`, `values`, `token` | a column family as a table, and the statements on it |
//! | `write`, `cas` | mutations and conditional updates as statements |
//! | `read`, `scan`, `paging`, `rows`, `splits` | reads, and the conversion of their results |
//! | `cql`, `cql_types` | statements that clients write themselves |
//! | `keyspaces`, `metadata_records` | creating keyspaces and tables, and the metadata records that all gateways share |
//! | `exported` | tables for code that writes their files |
//! | `store` | the `Store` trait and its extensions |
//!
//! For example, in a Standard column family `Posts` with the comparator UTF8Type each column is a row of the table:
//!
//! ```text
//!   insert("austen", Posts, "title" = "Emma" @10)      INSERT INTO "Blog"."Posts" (key, column1, value)
//!                                                      VALUES (?, ?, ?) USING TIMESTAMP ?
//!   get_slice("austen", Posts, "a" to "z")             SELECT column1, value, WRITETIME(value), TTL(value)
//!                                                      FROM "Blog"."Posts"
//!                                                      WHERE key = ? AND column1 >= ? AND column1 <= ?
//! ```
//!
//! Differences from the embedded store are listed in docs/cluster.md.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![warn(missing_docs)]

mod cas;
mod connect_error;
mod cql;
mod cql_types;
mod error;
mod exported;
mod gate;
mod keyspaces;
pub mod limits;
mod link;
mod metadata_records;
mod names;
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
mod tables;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "without_tls.rs"]
mod tls;
mod token;
mod values;
mod write;

pub use exported::{ClusterTable, keyspace_statement};
pub use link::Link as ClusterLink;
pub use options::{ClusterOptions, ClusterTls};
pub use store::ClusterStore;
