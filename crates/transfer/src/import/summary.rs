//! The summary of an import.

use std::collections::BTreeMap;

use super::FamilyName;
use super::as_of::ClockShift;
use super::losses::Losses;
use super::overflow::Overflowed;
use super::unfound::UnfoundWrites;
use base::model::CellKind;
use sstable::{Atom, LogRow};

/// Notes that are kept of a column family.
const NOTES_MAX: usize = 100;

/// The counts of the data that was read of a column family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FamilySummary {
    /// SSTables that were read.
    pub tables: u64,
    /// Rows, once for each SSTable that has a part of them.
    pub rows: u64,
    /// Values, expiring values and counters.
    pub cells: u64,
    /// Deletions of columns, super columns, rows and ranges.
    pub tombstones: u64,
    /// The timestamps of cells.
    pub timestamps: Option<(i64, i64)>,
    /// The versions of the files, and how many have each.
    pub formats: BTreeMap<&'static str, u64>,
    /// Cells that expire before they were written.
    pub overflowed: Overflowed,
    /// Files that are missing without a loss. The first of them.
    pub notes: Vec<String>,
}

impl FamilySummary {
    /// Adds the counts of other SSTables of the same column family. At most `NOTES_MAX` notes are kept.
    pub fn add(&mut self, other: &FamilySummary) {
        self.tables += other.tables;
        self.rows += other.rows;
        self.cells += other.cells;
        self.tombstones += other.tombstones;
        self.overflowed.add(&other.overflowed);
        let room = NOTES_MAX.saturating_sub(self.notes.len());
        self.notes.extend(other.notes.iter().take(room).cloned());
        for (letters, count) in &other.formats {
            *self.formats.entry(letters).or_default() += count;
        }
        for at in other.timestamps.into_iter().flat_map(|(first, last)| [first, last]) {
            self.see(at);
        }
    }

    /// Counts a part of a row.
    pub fn count(&mut self, atom: &Atom) {
        match atom {
            Atom::Cell { cell, .. } => {
                self.see(cell.timestamp);
                match cell.kind {
                    CellKind::Deleted { .. } => self.tombstones += 1,
                    _ => self.cells += 1,
                }
            }
            Atom::Counter { counter, .. } => {
                self.see(counter.timestamp);
                self.cells += 1;
            }
            Atom::SuperDeletion { .. } | Atom::Range(_) => self.tombstones += 1,
        }
    }

    /// Counts a write in a commit log as a row. Some releases log writes of nothing.
    pub(super) fn count_write(&mut self, write: &LogRow) {
        let is_deleted = write.deletion.is_deleted();
        self.rows += u64::from(is_deleted || !write.atoms.is_empty());
        self.tombstones += u64::from(is_deleted);
        for atom in &write.atoms {
            self.count(atom);
            self.overflowed.see(&write.key, atom);
        }
    }

    /// Takes the timestamp of a cell.
    fn see(&mut self, timestamp: i64) {
        let (first, last) = self.timestamps.unwrap_or((timestamp, timestamp));
        self.timestamps = Some((first.min(timestamp), last.max(timestamp)));
    }
}

/// The counts of the data that was read of SSTables, and the losses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadSummary {
    pub family: FamilySummary,
    pub losses: Losses,
}

impl ReadSummary {
    pub(super) fn add(&mut self, other: ReadSummary) {
        self.family.add(&other.family);
        self.losses.append(other.losses);
    }
}

/// The results of an import.
#[derive(Debug, Default)]
pub struct Summary {
    /// By how much the clock of the files was shifted.
    pub shift: ClockShift,
    /// The counts by column family.
    pub families: BTreeMap<FamilyName, FamilySummary>,
    /// The lost data.
    pub losses: Losses,
    /// The data that may be wrong: nothing shows whether it is.
    pub doubts: Losses,
    /// SSTables that earlier runs have imported, as the progress file says. The rest of the summary is without them.
    pub done_before: u64,
    /// Commit logs that were imported.
    pub commit_logs: u64,
    /// Writes in commit logs of column families that are not imported.
    pub unfound: UnfoundWrites,
    /// Column families that the target does not define; they were not imported.
    pub undefined: Vec<FamilyName>,
}

impl Summary {
    /// Returns the sum over all column families.
    pub fn total(&self) -> FamilySummary {
        let mut total = FamilySummary::default();
        self.families.values().for_each(|family| total.add(family));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_widest_range_of_timestamps() {
        let mut one =
            FamilySummary { rows: 2, formats: BTreeMap::from([("ic", 1)]), ..FamilySummary::default() };
        one.see(5);
        one.see(-3);
        let mut other =
            FamilySummary { rows: 1, formats: BTreeMap::from([("ic", 2)]), ..FamilySummary::default() };
        other.see(9);
        one.add(&other);
        assert_eq!((one.rows, one.timestamps, one.formats["ic"]), (3, Some((-3, 9)), 3));
    }
}
