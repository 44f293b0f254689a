//! Exports: the rows of a store as files that other programs open.
//!
//! ```text
//!   old disk, data directory, server, cluster          export_source   which column families there are, and their rows
//!       | rows, as a store dumps them
//!     record_maker     lines of a table: rows of CQL, or cells         table_shape     which lines and columns a table has
//!       | records                                                      value           values by their types
//!     json_lines, csv, sql, parquet  (formats, record_writer)                   table_file      one file: limits, counts
//!       | lines
//!   out/Blog.Posts.csv, out/export.json                                manifest        the list of all that was written
//! ```
//!
//! [`export()`] writes; [`read_back()`] reads an export in JSON into a store. Memory does not depend on the size of
//! tables: a row of CQL is in memory, or a part of a row of Thrift.

mod csv;
mod export_source;
mod formats;
mod json_lines;
mod manifest;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod read_back;
mod record_maker;
mod record_writer;
mod run;
mod sql;
mod table_file;
mod table_shape;
mod value;

pub use export_source::ExportSource;
pub use manifest::{LeftOutTable, MANIFEST, WrittenTable};
pub use options::{ExportFormat, ExportOptions};
pub use read_back::{ReadBack, read_back};
pub use run::{Exported, export};
