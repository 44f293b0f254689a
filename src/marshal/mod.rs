//! Comparators: how the names of a column family are validated, ordered and shown.

mod abstract_type;
mod ascii_type;
mod bytes_type;
mod lexical_uuid_type;
mod long_type;
mod stored;
mod time_uuid_type;
mod types;
mod utf8_type;
mod uuid_text;

pub use abstract_type::{AbstractType, MarshalError, StoredOrder, TypeRef, at};
pub use ascii_type::AsciiType;
pub use bytes_type::BytesType;
pub use lexical_uuid_type::LexicalUUIDType;
pub use long_type::LongType;
pub use time_uuid_type::TimeUUIDType;
pub use types::{COUNTER_COLUMN_TYPE, PACKAGE, TYPES, Types};
pub use utf8_type::UTF8Type;
