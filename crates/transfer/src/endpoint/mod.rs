//! The stores and servers that rows are read from and written to.
//!
//! ```text
//!   location      parses where a store is                 open          opens it as an Endpoint
//!   store_walk    reads an endpoint in ring order: a dump of all that is stored if it supports dumps, else live cells,
//!                 page by page (`pages`, `store_pages`, and the pages of a Thrift server)
//!   server_tables reads the tables of CQL that a Thrift server does not describe
//!   row_writer    writes rows into an endpoint: `row_sink` is its database or its Thrift server
//!   cell_lookup   compares live cells by looking up each in another endpoint
//!   dump_merge    compares two dumps, including tombstones
//!   difference    prints the differences
//! ```

mod cell_lookup;
mod difference;
mod dump_merge;
#[expect(clippy::module_inception, reason = "the file of the type that gives the folder its name")]
mod endpoint;
mod location;
mod open;
mod pages;
mod row_sink;
mod row_writer;
mod server_tables;
mod store_pages;
mod store_walk;

pub(crate) use cell_lookup::{CellLookup, LookedUp, difference_of};
pub(crate) use difference::{Difference, DifferenceKind, Differences};
pub(crate) use dump_merge::{DumpReader, MergeKey, compare_dumps, rank as dump_rank};
pub use endpoint::Endpoint;
pub(crate) use location::connect;
pub use location::{Location, NativeAddress, ThriftAddress};
pub use open::{OpenOptions, open};
pub(crate) use pages::{PageFuture, Pages};
pub(crate) use row_writer::RowWriter;
pub(crate) use store_walk::StoreWalk;

/// Rows of a page, by default.
pub const DEFAULT_ROWS: u16 = 256;
