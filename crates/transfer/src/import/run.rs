//! Imports one column family after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::as_of::ClockShift;
use super::counters::{CounterMerge, Logged};
use super::import_progress::ImportProgress;
use super::import_target::ImportTarget;
use super::logged_counters::LoggedCounters;
use super::logs::Logs;
use super::losses::Lost;
use super::merge::{FamilyMerge, Fed};
use super::meter::{Meter, ReadCounts};
use super::read_thread::{Piece, read_on_thread, transfer, transfer_in_order};
use super::row_batcher::send_rows_of;
use super::source_partitioner::order_of_files;
use super::sstable_rows::{ReadOptions, SstableRows};
use super::summary::{FamilySummary, ReadSummary, Summary};
use super::{FamilyName, ImportError, ImportOptions, Inventory, LeftOut, SstableFile};
use crate::endpoint::Endpoint;
use base::compat::features::releases::NEWEST;
use base::schema::{CfDef, TableDef};
use base::util::Clock;

impl ImportOptions {
    pub(super) fn read_options(
        &self,
        inventory: &Inventory,
        shift: ClockShift,
        counts: &Arc<ReadCounts>,
    ) -> ReadOptions {
        ReadOptions {
            partitioner: self.partitioner.clone(),
            layout: None,
            skips_damage: self.skips_damage,
            shift,
            is_modern: inventory.is_modern(),
            counts: counts.clone(),
        }
    }
}

/// Imports all that the inventory lists. Without a target everything is read and checked, and nothing written.
///
/// # Errors
///
/// At damage that is not skipped, if the target has other kinds of names, or fails.
pub async fn import(
    inventory: &Inventory,
    to: Option<Arc<Endpoint>>,
    clock: Arc<Clock>,
    options: &ImportOptions,
) -> Result<Summary, ImportError> {
    let doubts = doubts_of(inventory, options)?;
    let name = to.as_ref().map(|to| to.name.clone()).unwrap_or_default();
    let mut progress =
        ImportProgress::open(options.progress_file.as_deref(), &name, options.as_of, clock.now_s())?;
    progress.note_files(inventory.families.values().flatten())?;
    let counts = Arc::<ReadCounts>::default();
    let read = options.read_options(inventory, progress.shift(), &counts);
    let is_done = |name: &FamilyName, table: &SstableFile| {
        progress.is_done(&table.path.display().to_string()) || progress.is_done(&name.to_string())
    };
    let all =
        inventory.families.iter().flat_map(|(name, tables)| tables.iter().map(move |table| (name, table)));
    let done: Vec<&SstableFile> =
        all.filter(|(name, table)| is_done(name, table)).map(|(_, table)| table).collect();
    let before = done.iter().map(|table| table.bytes).sum();
    let done_before = done.len() as u64;
    let load = match to {
        Some(to) => Some(ImportTarget::begin(to, clock, progress, options.checkpoint_every)?),
        None => None,
    };
    let summary = Summary { shift: read.shift, done_before, ..doubts };
    let mut run = Run { inventory, options, read, load, summary };
    let meter = options.shows_progress.then(|| Meter::start(counts, inventory.bytes(), before));
    let outcome = run.import_all().await;
    if outcome.is_err()
        && let Some(load) = &mut run.load
        && let Err(error) = load.checkpoint().await
    {
        // The next run imports the unrecorded parts again.
        tracing::warn!("the progress is not recorded: {error}");
    }
    drop(meter);
    outcome.map(|()| run.summary)
}

/// Returns a summary with the doubts about the directories.
///
/// # Errors
///
/// The first doubt, unless damage is skipped.
fn doubts_of(inventory: &Inventory, options: &ImportOptions) -> Result<Summary, ImportError> {
    inventory.check_doubts(options)?;
    let mut summary = Summary::default();
    for LeftOut { path, why, .. } in &inventory.doubts {
        summary.doubts.add(Lost { path: path.clone(), what: why.clone() });
    }
    Ok(summary)
}

/// Returns the column families with their SSTables, and those with counters only in commit logs.
fn families(
    inventory: &Inventory,
    logged: Option<&Arc<Mutex<LoggedCounters>>>,
) -> BTreeMap<FamilyName, Vec<SstableFile>> {
    let mut families = inventory.families.clone();
    for name in logged.into_iter().flat_map(|logged| logged.lock().families().clone()) {
        families.entry(name).or_default();
    }
    families
}

/// The part that one thread reads: an SSTable, or all SSTables of counters with the commit logs.
struct Part {
    /// Its name in the progress file.
    name: String,
    tables: Vec<SstableFile>,
    logged: Option<Logged>,
}

/// A running import.
struct Run<'a> {
    inventory: &'a Inventory,
    options: &'a ImportOptions,
    read: ReadOptions,
    /// `None` if there is no target.
    load: Option<ImportTarget>,
    summary: Summary,
}

impl Run<'_> {
    async fn import_all(&mut self) -> Result<(), ImportError> {
        let inventory = self.inventory;
        let logs = match &self.load {
            Some(load) => Some(Arc::new(Logs::of(inventory, &load.to, self.options, load.progress.shift())?)),
            None => None,
        };
        let logged = match logs.clone().filter(|logs| logs.may_have_counters()) {
            Some(logs) => Some(self.read_counters(logs).await?),
            None => None,
        };
        for (name, tables) in &families(inventory, logged.as_ref()) {
            self.read.counts.set_title(name.to_string());
            let Some(load) = &self.load else {
                self.import_tables(name, tables, None).await?;
                continue;
            };
            match load.to.column_family(&name.keyspace, &name.name) {
                None => self.summary.undefined.push(name.clone()),
                Some(cf) if cf.is_counter() => {
                    let logged = logged.clone().map(|counters| Logged { counters, family: name.clone() });
                    let part = Part { name: name.to_string(), tables: tables.clone(), logged };
                    self.import_part(name, part, Some(cf)).await?;
                }
                Some(cf) if load.is_bulk() => self.import_merged(name, tables, cf).await?,
                Some(cf) => self.import_tables(name, tables, Some(cf)).await?,
            }
        }
        if let Some((load, logs)) = self.load.as_mut().zip(logs) {
            // Without the SSTables, commit logs would have half of the data.
            logs.import(&load.writer, &mut self.summary).await?;
            load.end().await?;
        }
        Ok(())
    }

    /// Reads the counters in commit logs, in the order of the partitioner that the files name, or else of the options.
    async fn read_counters(&self, logs: Arc<Logs>) -> Result<Arc<Mutex<LoggedCounters>>, ImportError> {
        let partitioner = order_of_files(self.inventory, &self.options.partitioner);
        let counters = read_on_thread(move || LoggedCounters::read(logs, partitioner)).await?;
        Ok(Arc::new(Mutex::new(counters)))
    }

    /// Imports one table after the other.
    async fn import_tables(
        &mut self,
        name: &FamilyName,
        tables: &[SstableFile],
        cf: Option<Arc<CfDef>>,
    ) -> Result<(), ImportError> {
        for table in tables {
            let part =
                Part { name: table.path.display().to_string(), tables: vec![table.clone()], logged: None };
            self.import_part(name, part, cf.clone()).await?;
        }
        Ok(())
    }

    fn is_done(&self, part: &str) -> bool {
        self.load.as_ref().is_some_and(|load| load.progress.is_done(part))
    }

    fn check_interruption(&self, what: &str) -> Result<(), ImportError> {
        if self.options.interruption.is_stopped() {
            return Err(ImportError::Interrupted(what.to_owned()));
        }
        Ok(())
    }

    /// Adds the counts of the read data to the summary. Returns whether all of it was read.
    fn count(&mut self, name: &FamilyName, read: ReadSummary) -> bool {
        let is_whole = read.losses.is_empty();
        self.summary.families.entry(name.clone()).or_default().add(&read.family);
        self.summary.losses.append(read.losses);
        is_whole
    }

    /// Records parts of a column family. Another run must not take a part with gaps for a whole one.
    async fn finish(
        &mut self,
        name: &FamilyName,
        parts: Vec<String>,
        is_whole: bool,
    ) -> Result<(), ImportError> {
        match &mut self.load {
            Some(load) if is_whole => load.finish(&name.to_string(), parts).await,
            _ => Ok(()),
        }
    }

    /// Imports one SSTable, or all SSTables of counters, and records it.
    async fn import_part(
        &mut self,
        name: &FamilyName,
        part: Part,
        cf: Option<Arc<CfDef>>,
    ) -> Result<(), ImportError> {
        if self.is_done(&part.name) {
            return Ok(());
        }
        let what = part.name.clone();
        self.check_interruption(&format!("{what} and what follows is not imported"))?;
        let writer = self.load.as_ref().map(|load| &load.writer);
        let read = transfer(writer, self.reading(part, cf)).await?;
        let is_whole = self.count(name, read?);
        self.check_interruption(&format!("{what} may be imported in part"))?;
        self.finish(name, vec![what], is_whole).await
    }

    /// Imports the tables of a column family together, and records how far they are imported.
    async fn import_merged(
        &mut self,
        name: &FamilyName,
        tables: &[SstableFile],
        cf: Arc<CfDef>,
    ) -> Result<(), ImportError> {
        let part = |table: &SstableFile| table.path.display().to_string();
        let tables: Vec<SstableFile> =
            tables.iter().filter(|table| !self.is_done(&part(table))).cloned().collect();
        if tables.is_empty() {
            return Ok(());
        }
        self.check_interruption(&format!("{name} and what follows is not imported"))?;
        let after = self.load.as_ref().and_then(|load| load.progress.reached(&name.to_string(), &tables));
        let read = self.read_options(&cf);
        let mut merge = {
            let (cf, tables) = (cf.clone(), tables.clone());
            read_on_thread(move || FamilyMerge::new(cf, &tables, read, after)).await??
        };
        loop {
            let Some(load) = &mut self.load else { return Ok(()) };
            let (end, interruption, cf) =
                (load.next_checkpoint(), self.options.interruption.clone(), cf.clone());
            let (back, fed) = transfer_in_order(&load.writer, move |sender| {
                let send = |rows| {
                    !interruption.is_stopped() && sender.blocking_send(Piece { cf: cf.clone(), rows }).is_ok()
                };
                let fed = merge.feed(send, end);
                (merge, fed)
            })
            .await?;
            merge = back;
            match fed? {
                Fed::All => break,
                Fed::Until(key) => load.reach(&name.to_string(), &tables, &key).await?,
                Fed::Stopped => {
                    return Err(ImportError::Interrupted(format!("{name} is imported in part")));
                }
            }
        }
        let is_whole = self.count(name, merge.finish());
        self.finish(name, tables.iter().map(part).collect(), is_whole).await
    }

    fn read_options(&self, cf: &CfDef) -> ReadOptions {
        ReadOptions { layout: Some(TableDef::of(cf, NEWEST).layout), ..self.read.clone() }
    }

    /// Returns the work of the thread that reads.
    fn reading(
        &self,
        Part { tables, logged, .. }: Part,
        cf: Option<Arc<CfDef>>,
    ) -> impl FnOnce(mpsc::Sender<Piece>) -> Result<ReadSummary, ImportError> + Send + use<> {
        let read = cf.as_ref().map_or_else(|| self.read.clone(), |cf| self.read_options(cf));
        let interruption = self.options.interruption.clone();
        move |sender| {
            let send = |rows| {
                let is_sent = |cf: &Arc<CfDef>| sender.blocking_send(Piece { cf: cf.clone(), rows }).is_ok();
                !interruption.is_stopped() && cf.as_ref().is_none_or(is_sent)
            };
            if cf.as_ref().is_some_and(|cf| cf.is_counter()) {
                let mut merge = CounterMerge::new(&tables, logged, &read, cf.clone())?;
                while let Some(row) = merge.next_row()? {
                    if !send(vec![row]) {
                        break;
                    }
                }
                let (readers, (rows, cells)) = merge.finish();
                let of_logs = FamilySummary { rows, cells, ..FamilySummary::default() };
                let mut finished = ReadSummary { family: of_logs, ..ReadSummary::default() };
                readers.into_iter().for_each(|reader| finished.add(reader.finish()));
                return Ok(finished);
            }
            let mut finished = ReadSummary::default();
            for table in &tables {
                let mut reader = SstableRows::open(table, &read)?;
                let counters = send_rows_of(&mut reader, send)?;
                if counters > 0 && cf.is_some() {
                    reader.lose_counters(counters);
                }
                finished.add(reader.finish());
            }
            Ok(finished)
        }
    }
}
