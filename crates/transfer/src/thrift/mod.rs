//! Clients of Thrift servers.

mod client;
mod pages;
mod schema;

pub use client::ThriftClient;
pub use pages::ThriftPages;
pub use schema::{keyspaces, partitioner};
