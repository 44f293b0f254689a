//! The database: checks a request as the old server did, plans it, and has the store run it.

mod access;
mod access_file;
mod attempts;
mod authenticate;
mod cas;
mod cells;
mod counts;
mod database;
mod describe;
mod error;
mod family_ids;
mod index_build;
mod indexed_reads;
mod indexes;
mod login_guard;
mod many_rows;
mod multi_slice;
mod properties;
mod ranges;
mod reads;
mod request;
mod reserved;
mod restore;
mod rights;
mod ring_walk;
mod role_login;
mod roles;
mod schema_change;
mod schema_check;
mod schema_edit;
mod schema_events;
mod schema_limits;
mod schema_notes;
mod schema_request;
mod schema_settings;
mod schema_version;
mod shared_change;
mod shared_schema;
mod table_cells;
mod table_index;
mod traces;
mod truncate;
mod unchecked_name;
mod unchecked_slice;
mod user;
mod user_files;
mod validate;
mod validate_read;
mod validate_write;
mod writes;

pub use access::Access;
pub use authenticate::{Authenticator, Credential, PasswordMode, SimpleAuthenticator};
pub use cas::{CasOutcome, CasRequest};
pub use database::{Database, DatabaseParts};
pub use describe::{ColumnFamilyDescription, TokenRange, cql_version};
pub use error::Error;
pub use login_guard::LoginGuard;
pub use multi_slice::MultiSliceRequest;
pub use reads::GetResult;
pub use request::{
    ColumnOrSuper, ColumnParent, ColumnPath, CounterColumn, CounterSuper, Deletion, IndexClause,
    IndexExpression, IndexOperator, KeyRange, MutationRequest, NewColumn, NewSuper, RequestedRange, RowBatch,
    SlicePredicate,
};
pub use reserved::is_reserved;
pub use restore::described_keyspace;
pub use roles::{Hasher, Permission, PermissionSet, Resource, Role, RoleKeeper, Roles};
pub use schema_limits::check_families;
pub use schema_request::{CfRequest, ColumnRequest, KsRequest};
pub use table_index::INDEX_KEYS;
pub use traces::{Trace, TraceEvent};
pub use user::User;
