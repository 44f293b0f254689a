//! Requests to the cluster, through the ScyllaDB driver.
//!
//! | | |
//! |---|---|
//! | `link`, `gate`, `replica_order`, `retries`, `error`, `status`, `node_counts`, `node_watch` | the driver's session: limits, retries, errors |
//! | `tls`, `connect_error` | connecting |
//! | `facts` | whether the cluster is fit for a gateway |
//! | `table`, `tables`, `shape`, `values`, `token` | tables that are in use, and the statements on them |
//! | `write`, `cas` | mutations and conditional updates as statements |
//! | `read`, `scan`, `paging`, `rows`, `splits` | reads, and the conversion of their results |
//! | `cql`, `cql_types` | statements that clients write themselves |
//! | `keyspaces`, `metadata_records` | creating keyspaces and tables, and the metadata records that all gateways share |
//! | `store` | the `Store` trait and its extensions |

mod cas;
mod connect_error;
mod cql;
mod cql_types;
mod error;
mod facts;
mod gate;
mod keyspaces;
mod link;
mod metadata_records;
mod node_counts;
mod node_watch;
mod paging;
mod read;
mod replica_order;
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

pub use link::Link as ClusterLink;
pub use store::ClusterStore;
