//! The database: checks a request as the old server did, plans it, and has the store run it.

mod args;
mod database;
mod describe;
mod error;
mod index;
mod login;
mod read;
mod request;
mod reserved;
mod ring_order;
mod schema;
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
pub use error::Error;
pub use index::{INDEX_KEYS, IndexReads, Indexes};
pub use login::{
    Access, Authenticator, Credential, Hasher, LoginGuard, Logins, PasswordMode, Permission, PermissionSet,
    Resource, Role, RoleKeeper, Roles, SimpleAuthenticator, User,
};
pub use read::{GetResult, MultiSliceRequest, Ranges, Reads};
pub use request::Request;
pub use reserved::is_reserved;
pub use ring_order::RingOrder;
pub use schema::{
    CfRequest, ColumnRequest, KsRequest, Restore, SchemaChanges, StoredSchema, check_families,
    described_keyspace,
};
pub use traces::{Trace, TraceEvent, Traces};
pub use write::{CasOutcome, CasRequest, Writes};
