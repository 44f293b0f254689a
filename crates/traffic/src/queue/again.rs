//! The tables that must be compared or copied again, and the writes that the other server has refused: `again.json` in the
//! directory of a queue.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::failure::QueueError;
use crate::limits::{REPORT_FAMILIES_MAX, REPORT_NAME_CHARS_MAX};
use crate::report::{short, shown_table};
use base::util::replace_file;

const FORMAT: u32 = 1;
/// The name of the entry for all tables that have no entry of their own.
pub const OTHER_TABLES: &str = "(others)";
/// Time between two writes of the file if only numbers change.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// Why a table must be compared or copied again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgainReason {
    /// The queue had no room for a write, by its size or its age.
    Full,
    /// A write that may be sent only once was sent, and its outcome is unknown.
    UnknownOutcome,
    /// A conditional write, which is not sent.
    Conditional,
    /// A statement whose values each server computes for itself, such as `now()`. It is not sent.
    Computed,
    /// A message could not be decoded, or cannot be sent to the other server.
    NotSendable,
    /// The other server has refused a write.
    Refused,
    /// The proxy was killed: the last writes may have reached one server only.
    Killed,
}

impl AgainReason {
    /// Returns the reason as reports print it.
    pub fn text(self) -> &'static str {
        match self {
            AgainReason::Full => "the queue was full",
            AgainReason::UnknownOutcome => "sent once, and the outcome is unknown",
            AgainReason::Conditional => "conditional writes are not sent",
            AgainReason::Computed => {
                "each server computes other values, such as now(), and the write is not sent"
            }
            AgainReason::NotSendable => "messages that cannot be sent to the other server",
            AgainReason::Refused => "the other server refused the write",
            AgainReason::Killed => "the proxy was killed, and the last writes may be on one server only",
        }
    }
}

/// A table of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueTable {
    /// `KEYSPACE.FAMILY`. It is empty for messages that could not be decoded: then it may be any table.
    pub table: String,
    /// Why it is in the list.
    pub reason: AgainReason,
    /// The text of the other server's error. Empty for other reasons.
    #[serde(default)]
    pub error: String,
    /// The number of writes.
    pub writes: u64,
    /// When clients sent the first of them, in microseconds since 1970.
    pub first_us: i64,
    /// When clients sent the last of them.
    pub last_us: i64,
}

impl QueueTable {
    /// Returns the name of the table as messages print it.
    pub fn shown(&self) -> impl fmt::Display {
        shown_table(&self.table).escape_debug()
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct AgainRecord {
    format: u32,
    tables: Vec<QueueTable>,
}

/// The list, and its file.
#[derive(Debug)]
pub(super) struct AgainList {
    path: PathBuf,
    tables: BTreeMap<(String, AgainReason, String), QueueTable>,
    written: Instant,
    is_changed: bool,
}

impl AgainList {
    /// Reads the file, if there is one.
    pub(super) fn open(path: &Path) -> Result<AgainList, QueueError> {
        let record: AgainRecord = match fs::read(path) {
            Ok(json) => serde_json::from_slice(&json)
                .map_err(|_| QueueError::damaged(path, 0, "it is not a list of tables"))?,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => AgainRecord::default(),
            Err(why) => return Err(QueueError::io(path, why)),
        };
        if record.format > FORMAT {
            let (file, found) = (path.to_owned(), record.format);
            return Err(QueueError::OtherFormat { file, found, known: FORMAT });
        }
        let tables = record.tables.into_iter();
        let tables =
            tables.map(|table| ((table.table.clone(), table.reason, table.error.clone()), table)).collect();
        Ok(AgainList { path: path.to_owned(), tables, written: Instant::now(), is_changed: false })
    }

    /// Adds a write. A table that was not in the list is in the file when this returns.
    pub(super) fn add(
        &mut self,
        table: &str,
        reason: AgainReason,
        error: &str,
        at_us: i64,
    ) -> Result<(), QueueError> {
        let error = short(error, REPORT_NAME_CHARS_MAX).into_owned();
        let mut key = (short(table, REPORT_NAME_CHARS_MAX).into_owned(), reason, error);
        if !self.tables.contains_key(&key) && self.tables.len() >= REPORT_FAMILIES_MAX {
            key = (OTHER_TABLES.to_owned(), reason, String::new());
        }
        let is_new = !self.tables.contains_key(&key);
        let (table, _, error) = key.clone();
        let entry = self.tables.entry(key).or_insert(QueueTable {
            table,
            reason,
            error,
            writes: 0,
            first_us: at_us,
            last_us: at_us,
        });
        entry.writes += 1;
        entry.first_us = entry.first_us.min(at_us);
        entry.last_us = entry.last_us.max(at_us);
        self.is_changed = true;
        if is_new || self.written.elapsed() >= WRITE_EVERY { self.write() } else { Ok(()) }
    }

    /// Returns the list.
    pub(super) fn tables(&self) -> Vec<QueueTable> {
        self.tables.values().cloned().collect()
    }

    /// Removes tables that were compared or copied again, unless they have had another write since they looked like this.
    pub(super) fn clear(&mut self, compared: &[QueueTable]) -> Result<(), QueueError> {
        self.tables.retain(|_, table| !compared.contains(table));
        self.is_changed = true;
        self.write()
    }

    /// Writes the file if the list has changed.
    pub(super) fn write(&mut self) -> Result<(), QueueError> {
        if !self.is_changed {
            return Ok(());
        }
        let record = AgainRecord { format: FORMAT, tables: self.tables() };
        let json = serde_json::to_vec_pretty(&record).map_err(std::io::Error::other);
        let written = json.and_then(|json| replace_file(&self.path, &json));
        written.map_err(|why| QueueError::io(&self.path, why))?;
        (self.written, self.is_changed) = (Instant::now(), false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_listed_once_and_stored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("again.json");
        let mut list = AgainList::open(&path).unwrap();
        list.add("k.a", AgainReason::Full, "", 5).unwrap();
        list.add("k.a", AgainReason::Full, "", 3).unwrap();
        list.add("k.a", AgainReason::Refused, "no such column family", 4).unwrap();
        list.write().unwrap();
        let mut again = AgainList::open(&path).unwrap();
        assert_eq!(again.tables(), list.tables());
        let full = &again.tables()[0];
        assert_eq!((&full.table[..], full.writes, full.first_us, full.last_us), ("k.a", 2, 3, 5));
        for number in 0..2 * REPORT_FAMILIES_MAX {
            again.add(&format!("k.{number}"), AgainReason::Full, "", 1).unwrap();
        }
        assert!(again.tables().len() <= REPORT_FAMILIES_MAX + 1);
        assert!(again.tables().iter().any(|table| table.table == OTHER_TABLES && table.writes > 900));
        let compared = again.tables();
        again.add("k.a", AgainReason::Full, "", 9).unwrap();
        again.clear(&compared).unwrap();
        assert_eq!(again.tables().iter().map(|table| table.writes).collect::<Vec<_>>(), [3], "a later write");
        again.clear(&again.tables()).unwrap();
        assert_eq!(AgainList::open(&path).unwrap().tables(), []);
        std::fs::write(&path, r#"{"format": 2, "tables": []}"#).unwrap();
        assert!(matches!(AgainList::open(&path), Err(QueueError::OtherFormat { found: 2, .. })));
        std::fs::write(&path, "{").unwrap();
        assert!(matches!(AgainList::open(&path), Err(QueueError::Damaged { .. })));
    }
}
