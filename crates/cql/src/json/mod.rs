//! JSON values, in the formats of Cassandra 2.2 and 3.x.

mod kind;
mod names;
mod object;
mod read;
mod write;

pub use object::{JsonObject, decode_object};
pub use read::from_json;
pub use write::{column_key, to_json};
