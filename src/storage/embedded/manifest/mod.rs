//! What the store knows about itself: a small file that is replaced as a whole, and when it is large, one of changes.
//!
//! ```text
//!   Contents       partitioner, token, column families and their generations, log segments, tables, metadata records
//!   Manifest       the contents in memory, and their change: on the disk first, then in memory
//!   FamilyRecord   a column family as it was when its data were written
//!   document       contents, or a change of them, as JSON
//!   file           the format of the file that has everything
//!   changes_file   the format of the file of changes
//!   writer         which of both a change is written to
//! ```
//!
//! Whatever must change together is changed in one step: a truncate is one number that is one higher, and from then on
//! the log's records and the tables of the earlier generation belong to nobody.

mod changes_file;
mod contents;
mod document;
mod family_record;
mod file;
mod stored;
mod writer;

pub use contents::{Contents, FamilyName, LogSpan};
pub use family_record::FamilyRecord;
pub use stored::{FILE, Manifest};
