//! The commit logs: writes that the old servers had not flushed to SSTables.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::as_of::ClockShift;
use super::log_families::LogFamilies;
use super::losses::{Losses, Lost};
use super::read_thread::{BatchSender, PARALLEL, ReadThread};
use super::replay::Replay;
use super::row_batcher::RowBatcher;
use super::summary::{FamilySummary, Summary};
use super::unfound::{Unfound, UnfoundWrites};
use super::{FamilyName, ImportError, ImportOptions, Inventory, NodePath};
use crate::Interruption;
use crate::endpoint::{Endpoint, RowWriter};
use crate::rows::{Pump, RateLimit};
use base::schema::CfDef;
use sstable::{CommitLog, LogFamily, LogPosition, LogRow, SstableError};

/// The findings of reading a commit log, besides its rows.
#[derive(Debug, Default)]
pub(super) struct LogReport {
    /// The damage of the log.
    pub losses: Losses,
    /// Writes of column families that the target does not define.
    pub unfound: UnfoundWrites,
}

/// The commit logs of all nodes, and which of their writes are replayed.
pub(super) struct Logs {
    found: Vec<NodePath>,
    families: LogFamilies,
    replay: Replay,
    interruption: Interruption,
    shift: ClockShift,
}

impl Logs {
    /// Prepares to import the commit logs that an inventory lists.
    ///
    /// # Errors
    ///
    /// If the system tables, which know of each TRUNCATE, are damaged, unless damage is skipped.
    pub(super) fn of(
        inventory: &Inventory,
        to: &Endpoint,
        options: &ImportOptions,
        shift: ClockShift,
    ) -> Result<Logs, ImportError> {
        let families = LogFamilies::of(to, inventory);
        Ok(Logs {
            found: inventory.commit_logs.clone(),
            replay: Replay::of(inventory, &families, options.skips_damage)?,
            families,
            interruption: options.interruption.clone(),
            shift,
        })
    }

    pub(super) fn found(&self) -> &[NodePath] {
        &self.found
    }

    /// Returns the doubts about which writes are replayed.
    pub(super) fn doubts(&self) -> Losses {
        let mut doubts = Losses::default();
        for error in &self.replay.unreadable {
            let what = format!(
                "{error}; so all writes of its column families in commit logs are replayed: nothing is lost, but increments may \
                 count twice, and rows that were deleted or truncated may come back"
            );
            doubts.add(Lost { path: PathBuf::new(), what });
        }
        doubts
    }

    /// Whether there can be counters in the logs.
    pub(super) fn may_have_counters(&self) -> bool {
        !self.found.is_empty() && self.families.have_counters()
    }

    /// Reads a log. Each row of a selected column family that no SSTable has goes to `each`, together with whether a
    /// deletion of a counter is final in this log. `each` returns false to stop.
    pub(super) fn read(
        &self,
        log: &NodePath,
        mut each: impl FnMut(&Arc<CfDef>, LogRow, bool) -> bool,
    ) -> LogReport {
        let mut report = LogReport::default();
        let lost = |what: String| Lost { path: log.path.clone(), what };
        let mut reader = match CommitLog::open(&log.path) {
            Ok(reader) => reader,
            Err(error) => {
                report.losses.add(lost(format!("{error}; lost: all writes of this commit log")));
                return report;
            }
        };
        let deletions_are_final = reader.counter_deletions_are_final();
        loop {
            let write = match reader.next_write(|of| Some(self.families.find(of)?.table.clone())) {
                Ok(None) => break,
                Ok(Some(write)) => write,
                Err(error @ SstableError::Damaged(_)) => {
                    // The records after it are whole.
                    report.losses.add(lost(error.to_string()));
                    continue;
                }
                Err(error) => {
                    report.losses.add(lost(format!("{error}; lost: the rest of this commit log")));
                    break;
                }
            };
            for row in write.rows {
                let Some(family) = self.families.find(&row.family) else {
                    self.miss(log.node, &row.family, write.position, &mut report.unfound);
                    continue;
                };
                let is_wanted =
                    family.is_selected && self.replay.needs(log.node, &family.name, write.position);
                if is_wanted && !each(&family.cf, row, deletions_are_final) {
                    return report;
                }
            }
            if self.interruption.is_stopped() {
                return report;
            }
        }
        for what in reader.lost().sentences() {
            report.losses.add(lost(format!("{}: {what}", log.path.display())));
        }
        report
    }

    /// Counts a write of a column family that the target does not define.
    fn miss(&self, node: usize, family: &LogFamily, position: LogPosition, unfound: &mut UnfoundWrites) {
        let Some(found) = self.families.unfound(family) else { return };
        let is_flushed = match &found {
            Unfound::Undefined(name) => !self.replay.needs(node, name, position),
            _ => false,
        };
        if !is_flushed {
            unfound.add(found, 1);
        }
    }

    /// Returns a row that was read, with the seconds of our clock.
    pub(super) fn shifted(&self, mut row: LogRow) -> LogRow {
        row.deletion = self.shift.deletion(row.deletion);
        row.atoms = row.atoms.into_iter().map(|atom| self.shift.atom(atom)).collect();
        row
    }

    /// Imports everything but counters, which [`super::logged_rows`] reads.
    ///
    /// # Errors
    ///
    /// If the target fails, or the import is stopped. The parts of a log that cannot be read are in the summary.
    pub(super) async fn import(
        self: &Arc<Self>,
        writer: &Arc<RowWriter>,
        summary: &mut Summary,
    ) -> Result<(), ImportError> {
        summary.doubts.append(self.doubts());
        for log in &self.found {
            let (logs, log) = (self.clone(), log.clone());
            let stopped =
                ImportError::Interrupted(format!("{} is not imported as a whole", log.path.display()));
            let thread = ReadThread::start(move |sender| {
                let mut families = BTreeMap::new();
                let mut report = logs.read(&log, |cf, row, _| {
                    if cf.is_counter() {
                        return true;
                    }
                    let family = families.entry(FamilyName::of(cf));
                    family.or_insert_with(|| LoggedFamily::new(cf.clone(), sender.clone())).add(&logs, row)
                });
                let mut counters = 0;
                let mut counts = Vec::new();
                for (name, mut family) in families {
                    family.batcher.send(None);
                    counters += family.counters;
                    counts.push((name, family.counts));
                }
                if counters > 0 {
                    let path = log.path.display();
                    let what =
                        format!("{path}: {counters} counters, which the target's definitions do not have");
                    report.losses.add(Lost { path: log.path.clone(), what });
                }
                Ok((counts, report))
            });
            let pump = Pump {
                parallel: PARALLEL,
                interruption: self.interruption.clone(),
                rate: RateLimit::default(),
            };
            let (read, report) = thread.pump(&pump, writer, async |_| Ok(())).await?;
            if self.interruption.is_stopped() {
                return Err(stopped);
            }
            for (name, family) in read {
                summary.families.entry(name).or_default().add(&family);
            }
            summary.losses.append(report.losses);
            summary.unfound.append(report.unfound);
            summary.commit_logs += 1;
        }
        Ok(())
    }
}

/// The rows of a column family in a commit log.
struct LoggedFamily {
    batcher: RowBatcher,
    counts: FamilySummary,
    /// Counters that were left out.
    counters: u64,
}

impl LoggedFamily {
    fn new(cf: Arc<CfDef>, sender: BatchSender) -> LoggedFamily {
        let (batcher, counts) = (RowBatcher::new(cf, sender), FamilySummary::default());
        LoggedFamily { batcher, counts, counters: 0 }
    }

    /// Adds the changes of a row. Returns false if the target takes no more.
    fn add(&mut self, logs: &Logs, row: LogRow) -> bool {
        self.counts.count_write(&row);
        let row = logs.shifted(row);
        let mut is_taken = self.batcher.begin(row.key, row.deletion);
        for atom in row.atoms {
            match atom.into_change() {
                Some(change) => is_taken = self.batcher.add(change),
                None => self.counters += 1,
            }
        }
        is_taken
    }
}
