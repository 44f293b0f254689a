//! The database: checks a request as the old server did, plans it, and has the store run it.
//!
//! ```text
//!   Database          what all requests share: store, catalog, partitioner, clock
//!   Request           what one call or statement runs under: keyspace, consistency level, release, catalog
//!     Reads             rows by their keys, counts                        read/
//!     Ranges            ranges of rows                                    read/
//!     Writes            columns, counters, deletions, batches             write/
//!     IndexReads        rows by indexed values                            index/
//!   Indexes           entries of secondary indexes, and their building    index/
//!   SchemaChanges     changes of the schema by clients                    schema/
//!   StoredSchema      the schema as the store has it                      schema/
//!   Restore           definitions and rows of another store               schema/
//!   Snapshots         snapshots of the whole database, in memory          snapshots.rs
//!   Describe          descriptions of the cluster and its schema          describe/
//!   Logins            logins, users and roles                             login/
//!   Activity          slow requests and errors, for the console           activity/
//!   RingOrder         tokens, parts of ranges, names of index entries
//!   Validation        checks in the order and words of a release
//! ```
//!
//! `Database` returns the types at the first level (`database.logins()`), `Request` those indented below it
//! (`request.reads()`).

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

pub mod activity;
mod args;
#[cfg(test)]
#[path = "../../../tests/support/corpus.rs"]
mod corpus;
mod database;
mod describe;
mod error;
pub mod faults;
mod future;
mod index;
pub mod limits;
mod login;
mod metrics;
mod read;
mod request;
pub mod request_log;
mod reserved;
mod ring_order;
mod schema;
mod snapshots;
mod table_cells;
mod traces;
mod validate;
mod write;

pub use args::{
    ColumnOrSuper, ColumnParent, ColumnPath, CounterColumn, CounterSuper, Deletion, IndexClause,
    IndexExpression, IndexOperator, KeyRange, MutationRequest, NewColumn, NewSuper, RequestedRange, RowBatch,
    SlicePredicate,
};
pub use database::{Database, DatabaseParts};
pub use describe::{ColumnFamilyDescription, Describe, TokenRange, cql_version};
pub use error::{Error, Result};
pub use future::DbFuture;
pub use index::{INDEX_ENTRIES, INDEX_KEYS, IndexReads, Indexes, entry_value};
pub use login::{
    Access, Authenticator, Credential, Hasher, LoginGuard, Logins, PasswordMode, Permission, PermissionSet,
    Resource, Role, RoleKeeper, Roles, SimpleAuthenticator, User,
};
pub use metrics::DatabaseMetrics;
pub use read::{GetResult, ManyRows, MultiSliceRequest, Ranges, Reads, StoredRows, StoredRowsArgs};
pub use request::Request;
pub use reserved::is_reserved;
pub use ring_order::{RingOrder, RingRange};
pub use schema::{
    CfRequest, ColumnRequest, KsRequest, Restore, SchemaChanges, StoredSchema, check_families,
    described_keyspace,
};
pub use snapshots::{DatabaseSnapshot, Snapshots};
pub use table_cells::type_of_value;
pub use traces::{Trace, TraceEvent, Traces};
pub use validate::check_counter_level;
pub use write::{CasOutcome, CasRequest, Writes, check_expiry};
