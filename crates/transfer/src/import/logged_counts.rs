//! The contents of commit logs by column family: how many rows, cells and tombstones an import would take from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::as_of::ClockShift;
use super::logs::Logs;
use super::losses::Losses;
use super::read_thread::read_on_thread;
use super::summary::FamilySummary;
use super::unfound::UnfoundWrites;
use super::{FamilyName, ImportError, ImportOptions, Inventory};
use crate::endpoint::Endpoint;

/// The content of commit logs.
#[derive(Debug, Default)]
pub struct LoggedCounts {
    /// By column family. Rows count once for each write.
    pub families: BTreeMap<FamilyName, FamilySummary>,
    /// The reasons for doubt about which writes are counted.
    pub doubts: Losses,
    /// The parts that cannot be read.
    pub losses: Losses,
    /// Writes of column families that are not counted.
    pub unfound: UnfoundWrites,
}

impl LoggedCounts {
    /// Reads the logs that an inventory lists. Writes that are in SSTables are left out, as by an import. `definitions` has
    /// the column families, which commit logs do not describe.
    ///
    /// # Errors
    ///
    /// If system tables are damaged, unless damage is skipped, and if the import is stopped.
    pub async fn of(
        inventory: &Inventory,
        definitions: &Endpoint,
        options: &ImportOptions,
    ) -> Result<LoggedCounts, ImportError> {
        let logs = Logs::of(inventory, definitions, options, ClockShift::default())?;
        let interruption = options.interruption.clone();
        let logs = Arc::new(logs);
        let counts = read_on_thread(move || count(&logs)).await?;
        if interruption.is_stopped() {
            return Err(ImportError::Interrupted("the commit logs are not counted".to_owned()));
        }
        Ok(counts)
    }
}

fn count(logs: &Logs) -> LoggedCounts {
    let mut counts = LoggedCounts { doubts: logs.doubts(), ..LoggedCounts::default() };
    for log in logs.found() {
        let read = logs.read(log, |cf, row, _| {
            // Some releases log writes of nothing.
            if !row.deletion.is_deleted() && row.atoms.is_empty() {
                return true;
            }
            counts.families.entry(FamilyName::of(cf)).or_default().count_write(&row);
            true
        });
        counts.losses.append(read.losses);
        counts.unfound.append(read.unfound);
    }
    counts
}
