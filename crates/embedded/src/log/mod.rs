//! The commit log: every write, in the order of arrival, until it is in a table.
//!
//! ```text
//!   CommitLog   appends to the last segment, syncs, switches to the next segment, removes old ones
//!   Segment     a file: a head, then records and marks
//!   record      one write of any number of rows: length, checksums, payload
//!   changes     changes to entries of one row
//!   mark        how much of the log is durable
//!   replay      reads segments back, and distinguishes a torn end from damage
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod changes;
mod commit_log;
mod format_1;
mod mark;
mod piece;
mod record;
mod replay;
mod segment;
mod segment_head;
mod stored_segment;

pub(crate) use changes::{ChangeList, Changes};
pub(crate) use commit_log::CommitLog;
pub(crate) use mark::MarkPosition;
pub(crate) use piece::LogPiece;
pub(crate) use record::{RecordBuilder, RowRecord, SealedRecord};
pub(crate) use replay::{Replayed, end_of_records, replay, segments_of};
pub(crate) use segment::{Segment, path_of};
pub(crate) use stored_segment::read_segment;
