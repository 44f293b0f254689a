//! Commit logs: the writes that a server had not flushed to SSTables when it stopped.
//!
//! ```text
//!   version    which releases wrote a file      segment    the records of a file
//!   section    sections of 2.1 and later        mutation   the changes of one row in a record
//! ```
//!
//! A write has its position in the log. The server replays those writes only that no SSTable has: see `flushed`.

mod mutation;
mod section;
mod segment;
mod version;

use std::path::Path;
use std::sync::Arc;

pub use mutation::{LogFamily, LogRow};

use super::error::SstableError;
use super::flushed::LogPosition;
use super::modern::LogTable;
use segment::Segment;
use version::LogVersion;

/// Reads the writes of a commit log, in their order.
#[derive(Debug)]
pub struct CommitLog {
    segment: Segment,
}

/// A write: changes of one row in one or several column families.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWrite {
    /// Where the record of the write ends.
    pub position: LogPosition,
    /// The row, once for each column family.
    pub rows: Vec<LogRow>,
}

impl CommitLog {
    /// Opens a commit log.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another release.
    pub fn open(path: &Path) -> Result<CommitLog, SstableError> {
        Ok(CommitLog { segment: Segment::open(path)? })
    }

    /// Returns the next write. `None` at the end, which is where the server would end its replay: at the first record that
    /// was not written completely. `tables` finds what the schema says of a column family: whether it has super columns,
    /// which logs from 0.7 on do not say, and from 3.0 on the types of its columns.
    ///
    /// # Errors
    ///
    /// If a record has its checksum and cannot be decoded.
    pub fn next_write(
        &mut self,
        tables: impl Fn(&LogFamily) -> Option<Arc<LogTable>>,
    ) -> Result<Option<LogWrite>, SstableError> {
        let Some(record) = self.segment.next_record()? else { return Ok(None) };
        let decoded = mutation::decode(&record.mutation, self.segment.version(), &tables);
        let rows = decoded.map_err(|error| match error {
            SstableError::Damaged(damage) => SstableError::damaged(
                self.segment.path(),
                u64::from(record.position.position),
                format!("the write that ends here cannot be read: {}", damage.why),
            ),
            other => other,
        })?;
        Ok(Some(LogWrite { position: record.position, rows }))
    }

    /// Returns how many records were passed over because their checksum is wrong, as the server does.
    pub fn skipped(&self) -> u64 {
        self.segment.skipped()
    }

    /// Whether the deletion of a counter wins whatever its timestamp (2.1 and later).
    pub fn counter_deletions_are_final(&self) -> bool {
        self.segment.version() >= LogVersion::Four
    }
}
