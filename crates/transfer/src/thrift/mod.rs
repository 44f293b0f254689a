//! Clients of Thrift servers, which read and write messages with the library of the Thrift project.
//!
//! ```text
//!   value    values of messages            client       a connection, with one call at a time
//!   pages    the live cells of a server    schema       its keyspaces
//!   writes   rows for a server             definitions  keyspaces and column families for a server
//!   server   a server with its keyspaces   error        the errors of calls
//! ```

mod client;
mod definitions;
mod error;
mod pages;
mod schema;
mod server;
mod value;
mod writes;

pub use client::ThriftClient;
pub(crate) use error::ThriftCallError;
pub(crate) use pages::ThriftPages;
pub use schema::{keyspaces, partitioner};
pub(crate) use server::ThriftServer;
pub use value::{Fields, ThriftValue};
