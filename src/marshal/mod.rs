//! Comparators: how the names of a column family are validated, ordered and shown.

mod abstract_type;
mod bytes_type;
mod types;

pub use abstract_type::{AbstractType, MarshalError, StoredOrder, TypeRef, at};
pub use bytes_type::BytesType;
pub use types::{PACKAGE, TYPES, Types};
