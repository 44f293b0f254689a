//! Replaces the secrets in recordings by keyed hashes.
//!
//! A redacted recording can be replayed: the same bytes become the same hash wherever they are, hashes have the length
//! and the class of what they replace, and different bytes of up to 24 bytes become different hashes.
//!
//! ```text
//!   insert(key "user:4711", Posts, name 0x0000013a.., value "Hello, World")
//!   insert(key "qkzx:9035", Posts, name 0x000001c7.., value "Wtxpe, Jnbsq")     with values, keys and names
//!
//!   INSERT INTO posts (id, title) VALUES (4711, 'Hello, World')
//!   INSERT INTO posts (id, title) VALUES (8260, 'Wtxpe, Jnbsq')                  with any of them
//! ```
//!
//! In Thrift the place of bytes shows their meaning: row key, column name or value. In CQL it depends on the schema,
//! which a recording may lack, so any redaction replaces all constants, bound values and results. Names of keyspaces
//! and column families, timestamps, times to live, counters and limits stay, as does all that is asked of the system
//! keyspaces.
//!
//! | file | |
//! |---|---|
//! | `roles` | what is redacted: values, keys, names |
//! | `key` | the key of the hashes |
//! | `alphabets` | which bytes may replace a byte, so that the class stays |
//! | `hash` | a value without structure |
//! | `structure` | composites and collections: their parts are hashed one by one |
//! | `hashes` | a value by its role |
//! | `order` | names whose order is kept, which needs all names before |
//! | `statement`, `error_text` | constants in CQL, what servers quote in errors |
//! | `thrift`, `native` | whole messages |
//! | `redactor` | the events of a recording |

mod alphabets;
mod error_text;
mod hash;
mod hashes;
mod key;
mod native;
mod order;
mod redactor;
mod roles;
mod statement;
mod structure;
mod thrift;

pub use hashes::Hashes;
pub use key::RedactionKey;
pub use redactor::Redactor;
pub use roles::{DataRole, DataRoles};
pub(crate) use structure::parts;
pub(crate) use thrift::dialect_of;
