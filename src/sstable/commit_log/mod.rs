//! Commit logs: the writes that a server had not flushed to SSTables when it stopped.
//!
//! `segment` finds the records of a file, `mutation` decodes the changes of one row in a record. Replaying writes that are
//! in SSTables already changes nothing, as each has its timestamp; only increments of counters add up.

mod mutation;
mod segment;

use std::path::Path;

pub use mutation::{LogFamily, LogRow};

use super::error::SstableError;
use segment::Segment;

/// Reads the writes of a commit log, in their order.
#[derive(Debug)]
pub struct CommitLog {
    segment: Segment,
}

impl CommitLog {
    /// Opens a commit log of 0.6, 1.2, 2.0 or 2.1.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another release.
    pub fn open(path: &Path) -> Result<CommitLog, SstableError> {
        Ok(CommitLog { segment: Segment::open(path)? })
    }

    /// Returns the changes of the next write, of one row in one or several column families. `None` at the end, which is
    /// where the server would end its replay: at the first record that was not written completely. `is_super` says
    /// whether a column family is a super column family, which 1.2 does not.
    ///
    /// # Errors
    ///
    /// If a record has its checksum and cannot be decoded.
    pub fn next_write(
        &mut self,
        is_super: impl Fn(&LogFamily) -> bool,
    ) -> Result<Option<Vec<LogRow>>, SstableError> {
        match self.segment.next_record()? {
            Some(record) => mutation::decode(&record, self.segment.version(), &is_super).map(Some),
            None => Ok(None),
        }
    }

    /// Returns how many records were passed over because their checksum is wrong, as the server does.
    pub fn skipped(&self) -> u64 {
        self.segment.skipped()
    }
}
