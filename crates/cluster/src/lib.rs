//! The store on a cluster of Cassandra 4 and 5 or ScyllaDB, through the ScyllaDB driver. Each column family is one
//! table.
//!
//! | | |
//! |---|---|
//! | `options` | connecting to the cluster |
//! | `facts` | the facts that decide whether a cluster is fit for a gateway |
//! | `table`, `names` | a column family as a table |
//! | `keyspace` | a keyspace and its replication |
//! | `driver` | the store: requests through the driver, with the feature `driver` |
//!
//! Without the feature the tables are there for code that writes their files, and a connection is refused.
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
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

#[cfg(feature = "driver")]
mod driver;
#[cfg(not(feature = "driver"))]
#[path = "without_driver.rs"]
mod driver;
mod facts;
mod keyspace;
pub mod limits;
mod names;
mod options;
mod table;

pub use driver::ClusterLink;
#[cfg(feature = "driver")]
pub use driver::ClusterStore;
pub use facts::{ClusterFacts, DEFECTIVE_VERSION};
pub use keyspace::keyspace_statement;
pub use options::{ClusterOptions, ClusterTls};
pub use table::ClusterTable;
