//! Imports one column family after the other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::counters::{CounterMerge, Logged};
use super::logged_counters::LoggedCounters;
use super::logs::Logs;
use super::progress::Progress;
use super::reader::{Reader, read_pieces};
use super::summary::{FamilySummary, Lost, Summary};
use super::transfer::{Piece, transfer};
use super::{FamilyName, FoundTable, ImportError, Inventory};
use crate::compat::features::releases::NEWEST;
use crate::copy::{Interruption, Side, Writer};
use crate::partitioner::PartitionerRef;
use crate::schema::{CfDef, TableDef};
use crate::sstable::{TableOptions, named_partitioner};
use crate::util::Clock;

/// How an import is run.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The partitioner of the files that do not name their own.
    pub partitioner: PartitionerRef,
    pub skips_damage: bool,
    pub progress_file: Option<PathBuf>,
    pub interruption: Interruption,
}

/// Imports all that the inventory lists. Without a target everything is read and checked, and nothing written.
///
/// # Errors
///
/// At damage that is not skipped, if the target has other kinds of names, or fails.
pub async fn import(
    inventory: &Inventory,
    to: Option<Arc<Side>>,
    clock: Arc<Clock>,
    options: &ImportOptions,
) -> Result<Summary, ImportError> {
    let name = to.as_ref().map(|to| to.name.clone()).unwrap_or_default();
    let mut progress = Progress::open(options.progress_file.as_deref(), &name)?;
    let writer = to.clone().map(|to| Writer::new(to, clock)).transpose()?.map(Arc::new);
    let mut summary = Summary::default();
    let logs = match &to {
        Some(to) => Some(Arc::new(Logs::of(inventory, to, &options.interruption)?)),
        None => None,
    };
    let logged = match logs.clone().filter(|logs| logs.may_have_counters()) {
        Some(logs) => Some(read_counters(inventory, logs, options).await?),
        None => None,
    };
    for (name, tables) in &families(inventory, logged.as_ref()) {
        let cf = to.as_ref().and_then(|to| to.column_family(&name.keyspace, &name.name));
        if to.is_some() && cf.is_none() {
            summary.undefined.push(name.clone());
            continue;
        }
        let target = writer.clone().zip(cf.clone());
        let logged = logged.clone().map(|counters| Logged { counters, family: name.clone() });
        let family = Family { name, tables, cf, target, logged, options };
        family.import(&mut progress, &mut summary).await?;
    }
    if let Some((logs, writer)) = logs.zip(writer.as_ref()) {
        // Without the SSTables, commit logs would have half of the data.
        logs.import(writer, &mut summary).await?;
    }
    Ok(summary)
}

/// Reads the counters in commit logs, in the order of the partitioner that the files name, or else of the options.
async fn read_counters(
    inventory: &Inventory,
    logs: Arc<Logs>,
    options: &ImportOptions,
) -> Result<Arc<Mutex<LoggedCounters>>, ImportError> {
    let named = inventory.families.values().flatten().find_map(|table| named_partitioner(&table.descriptor));
    let partitioner = named.unwrap_or_else(|| options.partitioner.clone());
    let read = tokio::task::spawn_blocking(move || LoggedCounters::read(logs, partitioner)).await;
    let counters = read.map_err(|error| ImportError::Thread(error.to_string()))?;
    Ok(Arc::new(Mutex::new(counters)))
}

/// Returns the column families with their SSTables, and those of which only commit logs have counters.
fn families(
    inventory: &Inventory,
    logged: Option<&Arc<Mutex<LoggedCounters>>>,
) -> BTreeMap<FamilyName, Vec<FoundTable>> {
    let mut families = inventory.families.clone();
    for name in logged.into_iter().flat_map(|logged| logged.lock().families().clone()) {
        families.entry(name).or_default();
    }
    families
}

/// A column family that is imported.
struct Family<'a> {
    name: &'a FamilyName,
    tables: &'a [FoundTable],
    /// The definition; `None` if there is no target.
    cf: Option<Arc<CfDef>>,
    target: Option<(Arc<Writer>, Arc<CfDef>)>,
    /// What commit logs have, if it is a family of counters.
    logged: Option<Logged>,
    options: &'a ImportOptions,
}

/// What a thread that reads has found.
type Finished = Result<Vec<(FamilySummary, Vec<Lost>)>, ImportError>;

impl Family<'_> {
    async fn import(&self, progress: &mut Progress, summary: &mut Summary) -> Result<(), ImportError> {
        if self.cf.as_ref().is_some_and(|cf| cf.is_counter()) {
            return self.import_part(self.name.to_string(), self.tables.to_vec(), (progress, summary)).await;
        }
        for table in self.tables {
            let part = table.path.display().to_string();
            self.import_part(part, vec![table.clone()], (&mut *progress, &mut *summary)).await?;
        }
        Ok(())
    }

    /// Imports one SSTable, or all those of counters, and records it.
    async fn import_part(
        &self,
        part: String,
        tables: Vec<FoundTable>,
        (progress, summary): (&mut Progress, &mut Summary),
    ) -> Result<(), ImportError> {
        if progress.is_done(&part) {
            return Ok(());
        }
        if self.options.interruption.is_stopped() {
            return Err(ImportError::Interrupted(format!("{part} and what follows is not imported")));
        }
        let writer = self.target.as_ref().map(|(writer, _)| writer);
        let read = transfer(writer, self.reading(tables)).await?;
        let losses = summary.losses;
        for (family, lost) in read? {
            summary.families.entry(self.name.clone()).or_default().add(&family);
            lost.into_iter().for_each(|lost| summary.lose(lost));
        }
        if self.options.interruption.is_stopped() {
            return Err(ImportError::Interrupted(format!("{part} may be imported in part")));
        }
        // Another run must not take a part with gaps for a whole one.
        if summary.losses > losses { Ok(()) } else { progress.finish(part) }
    }

    /// Returns the work of the thread that reads.
    fn reading(
        &self,
        tables: Vec<FoundTable>,
    ) -> impl FnOnce(mpsc::Sender<Piece>) -> Finished + Send + use<> {
        let cf = self.cf.clone();
        let options = self.options.clone();
        let logged = self.logged.clone();
        move |sender| {
            let layout = cf.as_ref().map(|cf| TableDef::of(cf, NEWEST).layout);
            let send = |rows| {
                let is_sent = |cf: &Arc<CfDef>| sender.blocking_send(Piece { cf: cf.clone(), rows }).is_ok();
                !options.interruption.is_stopped() && cf.as_ref().is_none_or(is_sent)
            };
            let mut readers = Vec::new();
            for table in &tables {
                // Files of 2.1 and later name their partitioner.
                let named = table.descriptor.format.has_statistics_contents;
                let partitioner = (!named).then(|| options.partitioner.clone());
                let open = TableOptions { layout, partitioner };
                let reader = Reader::open(table, &open, options.skips_damage)?;
                readers.push((reader, table.node, table.descriptor.format.counter_deletions_are_final()));
            }
            if cf.as_ref().is_some_and(|cf| cf.is_counter()) {
                let mut merge = CounterMerge::new(readers, logged, &options.partitioner)?;
                while let Some(row) = merge.next_row()? {
                    if !send(vec![row]) {
                        break;
                    }
                }
                let (readers, (rows, cells)) = merge.finish();
                let of_logs = FamilySummary { rows, cells, ..FamilySummary::default() };
                let read = readers.into_iter().map(Reader::finish);
                return Ok(read.chain([(of_logs, Vec::new())]).collect());
            }
            let mut finished = Vec::new();
            for (mut reader, ..) in readers {
                let counters = read_pieces(&mut reader, send)?;
                if counters > 0 && cf.is_some() {
                    let path = reader.path().display().to_string();
                    reader.lose(format!(
                        "{path}: {counters} counters, which the target's definition does not have"
                    ));
                }
                finished.push(reader.finish());
            }
            Ok(finished)
        }
    }
}
