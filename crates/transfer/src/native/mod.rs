//! Servers of the CQL native protocol as the source of an export: Cassandra 2.0 and later, ScyllaDB, thriftstore.
//!
//! ```text
//!   client   a connection, with one request at a time: versions 4, 3 and 2, of which old servers have only the last ones
//!   schema   the definitions of tables, from the server's own tables
//!   walk     the rows of a table as the cells that the server has stored
//! ```

mod client;
mod schema;
mod source;
mod walk;

pub use source::NativeSource;
