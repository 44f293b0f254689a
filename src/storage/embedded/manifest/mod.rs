//! What the store knows about itself: one small file that is replaced as a whole.
//!
//! ```text
//!   Contents       partitioner, token, column families and their generations, log segments, tables, metadata records
//!   Manifest       the contents in memory, and their change: on the disk first, then in memory
//!   FamilyRecord   a column family as it was when its data were written
//!   file           the file's format
//! ```
//!
//! Whatever must change together is changed in one step: a truncate is one number that is one higher, and from then on
//! the log's records and the tables of the earlier generation belong to nobody.

mod contents;
mod family_record;
mod file;
mod stored;

pub use contents::{Contents, FamilyName, LogSpan};
pub use family_record::FamilyRecord;
pub use stored::{FILE, Manifest};
