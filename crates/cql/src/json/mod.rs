//! JSON values, in the formats of Cassandra 2.2 and 3.x.

mod kind;
mod names;
mod object;
mod read;
mod write;

pub(crate) use object::decode_object;
pub(crate) use read::from_json;
pub use write::{column_key, to_json};
