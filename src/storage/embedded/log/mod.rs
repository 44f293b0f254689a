//! The commit log: every write, in the order of arrival, until the engine's tables hold it.
//!
//! ```text
//!   CommitLog   appends to the last segment, syncs, starts another one, removes old ones
//!   Segment     a file: a head, then records
//!   record      one write of any number of rows: length, checksums, payload
//!   changes     what becomes of the entries of one row
//!   replay      reads segments back, and tells a torn end from damage
//! ```

mod changes;
mod commit_log;
mod record;
mod replay;
mod segment;

pub use changes::{Change, ChangeList, Changes};
pub use commit_log::CommitLog;
pub use record::{RecordBuilder, RowRecord, SealedRecord};
pub use replay::{Replayed, end_of_records, is_unused, read_segment, replay, segments_of};
pub use segment::{Segment, path_of};
