//! The manifest: column families, tables, log segments and metadata records. It is a file that is replaced as a whole,
//! plus a file of changes if it is large.
//!
//! ```text
//!   Contents       partitioner, token, column families and their generations, log segments, tables, metadata records
//!   Manifest       the contents in memory; a change is written to the disk first
//!   FamilyRecord   the types and the generation of a column family when its data was written
//!   TreeRecord     the newest timestamp and the identity of a directory of tables
//!   document       the contents, or a change to them, as JSON
//!   file           the format of the file with all contents
//!   changes_file   the format of the file of changes
//!   writer         decides which of the two files a change is written to
//! ```
//!
//! Things that must change together are changed in one step. A truncate, for example, only raises the generation of a
//! column family; from then on the log records and tables of the earlier generation are ignored and removed.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod changes_file;
mod contents;
mod document;
mod family_record;
mod file;
mod stored;
mod tree_record;
mod writer;

pub(crate) use contents::{Contents, LogSpan};
pub(crate) use family_record::FamilyRecord;
pub(crate) use stored::{FILE, Manifest};
pub(crate) use tree_record::{TreeIdentity, TreeRecord};
