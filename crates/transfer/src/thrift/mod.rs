//! Clients of Thrift servers, which read and write messages with the library of the Thrift project.
//!
//! ```text
//!   value    values of messages            client   a connection, with one call at a time
//!   pages    the live cells of a server    schema   its keyspaces
//! ```

mod client;
mod pages;
mod schema;
mod value;

pub use client::ThriftClient;
pub(crate) use pages::ThriftPages;
pub use schema::{keyspaces, partitioner};
pub use value::{Fields, ThriftValue};
