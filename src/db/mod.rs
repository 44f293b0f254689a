//! The database: checks a request as the old server did, plans it, and has the store run it.

mod authenticate;
mod database;
mod describe;
mod error;
mod properties;
mod reads;
mod request;
mod validate;
mod writes;

pub use authenticate::{Authenticator, Credential, PasswordMode, SimpleAuthenticator};
pub use database::{Database, DatabaseParts};
pub use describe::{ColumnFamilyDescription, TokenRange, api_version};
pub use error::Error;
pub use reads::Found;
pub use request::{
    ColumnOrSuper, ColumnParent, ColumnPath, Deletion, KeyRange, MutationRequest, NewColumn, NewSuper,
    RequestedRange, RowBatch, SlicePredicate,
};
