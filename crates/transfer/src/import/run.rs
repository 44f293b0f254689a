//! Imports one column family after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::as_of::ClockShift;
use super::counters::CounterMerge;
use super::import_progress::ImportProgress;
use super::import_target::ImportTarget;
use super::logged_rows::{FamilyLog, LoggedKind, LoggedRows, SharedRows};
use super::logs::Logs;
use super::losses::Lost;
use super::merge::FamilyMerge;
use super::read_thread::{BatchSender, PARALLEL, ReadThread};
use super::row_batcher::{RowBatcher, send_rows_of};
use super::source_partitioner::order_of_files;
use super::sstable_rows::{ReadOptions, SstableRows};
use super::summary::{ReadSummary, Summary};
use super::{FamilyName, ImportError, ImportOptions, Inventory, LeftOut, SstableFile};
use crate::endpoint::Endpoint;
use crate::rows::{Counts, Delivered, Meter, NoTarget, Pump, RateLimit};
use base::schema::CfDef;
use base::util::Clock;

impl ImportOptions {
    pub(super) fn read_options(
        &self,
        inventory: &Inventory,
        shift: ClockShift,
        counts: &Arc<Counts>,
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

    pub(super) fn pump(&self, parallel: usize) -> Pump {
        Pump { parallel, interruption: self.interruption.clone(), rate: RateLimit::default() }
    }

    /// Returns an error if a signal has stopped the import, with the work that is not done.
    pub(super) fn check_interruption(&self, left: std::fmt::Arguments<'_>) -> Result<(), ImportError> {
        if self.interruption.is_stopped() {
            return Err(ImportError::Interrupted(left.to_string()));
        }
        Ok(())
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
    let path = options.progress_file.as_deref();
    let mut progress = ImportProgress::open(path, &name, options, clock.now_s())?;
    progress.note_files(inventory.families.values().flatten())?;
    let (mut done_before, mut bytes_before) = (0, 0);
    for (name, tables) in &inventory.families {
        let is_done =
            |table: &&SstableFile| progress.is_done(&table.part()) || progress.is_done(&name.to_string());
        for table in tables.iter().filter(is_done) {
            done_before += 1;
            bytes_before += table.bytes;
        }
    }
    let counts = Counts::of_files(inventory.bytes(), bytes_before);
    let read = options.read_options(inventory, progress.shift(), &counts);
    let target = match to {
        Some(to) => Some(ImportTarget::begin(to, clock, progress, options.checkpoint_every)?),
        None => None,
    };
    let summary = Summary { shift: read.shift, done_before, ..doubts };
    let mut run = ImportRun { inventory, options, read, target, summary };
    let meter = options.shows_progress.then(|| Meter::start(counts, true));
    let outcome = run.import_all().await;
    if outcome.is_err()
        && let Some(target) = &mut run.target
        && let Err(error) = target.checkpoint().await
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
fn families(inventory: &Inventory, logged: Option<&SharedRows>) -> BTreeMap<FamilyName, Vec<SstableFile>> {
    let mut families = inventory.families.clone();
    if let Some(logged) = logged {
        for name in logged.lock().families() {
            families.entry(name.clone()).or_default();
        }
    }
    families
}

/// The work of one thread: SSTables of a column family.
struct ReadJob {
    /// The names that the progress file gets once all is imported.
    parts: Vec<String>,
    tables: Vec<SstableFile>,
    /// The definition of the target; `None` without a target.
    cf: Option<Arc<CfDef>>,
    order: ReadOrder,
    /// Describes an import that was stopped within this job.
    stopped: String,
}

/// The order in which the rows of a job are read.
enum ReadOrder {
    /// One table after the other.
    ByTable,
    /// Rows of counters, each with its shards in all tables and in commit logs.
    Counters(Option<FamilyLog>),
    /// All tables at the same time, in the order of the ring, in which a data directory stores rows. The target gets the
    /// batches one after the other, so that the tables that it flushes have no keys in common.
    Merged {
        /// The last row of an earlier run.
        after: Option<Bytes>,
        /// Time between two places from which another run can continue.
        every: Option<Duration>,
    },
}

/// A running import.
struct ImportRun<'a> {
    inventory: &'a Inventory,
    options: &'a ImportOptions,
    read: ReadOptions,
    /// `None` if nothing is written.
    target: Option<ImportTarget>,
    summary: Summary,
}

impl ImportRun<'_> {
    async fn import_all(&mut self) -> Result<(), ImportError> {
        let inventory = self.inventory;
        let logs = match &self.target {
            Some(target) => {
                let shift = target.progress.shift();
                Some(Arc::new(Logs::of(inventory, &target.to, self.options, shift)?))
            }
            None => None,
        };
        let counters = match &logs {
            Some(logs) => {
                let partitioner = order_of_files(inventory, &self.options.partitioner);
                LoggedRows::read_all(logs, partitioner, LoggedKind::Counters).await?
            }
            None => None,
        };
        for (name, tables) in &families(inventory, counters.as_ref()) {
            self.read.counts.set_title(name.to_string());
            let cf = self.target.as_ref().map(|target| target.to.column_family(&name.keyspace, &name.name));
            match cf {
                None => self.import_tables(name, tables, None).await?,
                Some(None) => self.summary.undefined.push(name.clone()),
                Some(Some(cf)) => self.import_family(name, tables, cf, counters.as_ref()).await?,
            }
        }
        if let Some((target, logs)) = self.target.as_mut().zip(logs) {
            // Without the SSTables, commit logs would have half of the data.
            logs.import(&target.writer, &mut self.summary).await?;
            target.end().await?;
        }
        Ok(())
    }

    async fn import_family(
        &mut self,
        name: &FamilyName,
        tables: &[SstableFile],
        cf: Arc<CfDef>,
        counters: Option<&SharedRows>,
    ) -> Result<(), ImportError> {
        let Some(target) = &self.target else { return Ok(()) };
        if cf.is_counter() {
            let order = ReadOrder::Counters(counters.map(|rows| FamilyLog::of(rows, name)));
            let stopped = format!("{name} may be imported in part");
            let (parts, tables) = (vec![name.to_string()], tables.to_vec());
            return self.import_job(name, ReadJob { parts, tables, cf: Some(cf), order, stopped }).await;
        }
        if !target.is_bulk() {
            return self.import_tables(name, tables, Some(cf)).await;
        }
        let mut tables = tables.to_vec();
        tables.retain(|table| !target.progress.is_done(&table.part()));
        let after = target.progress.reached(&name.to_string(), &tables);
        let order = ReadOrder::Merged { after, every: target.checkpoint_every() };
        let parts = tables.iter().map(SstableFile::part).collect();
        let stopped = format!("{name} is imported in part");
        self.import_job(name, ReadJob { parts, tables, cf: Some(cf), order, stopped }).await
    }

    /// Imports one table after the other.
    async fn import_tables(
        &mut self,
        name: &FamilyName,
        tables: &[SstableFile],
        cf: Option<Arc<CfDef>>,
    ) -> Result<(), ImportError> {
        for table in tables {
            let (part, tables, cf) = (table.part(), vec![table.clone()], cf.clone());
            let stopped = format!("{part} may be imported in part");
            let job = ReadJob { parts: vec![part], tables, cf, order: ReadOrder::ByTable, stopped };
            self.import_job(name, job).await?;
        }
        Ok(())
    }

    /// Imports the rows of a job that are not imported yet, and records it.
    async fn import_job(&mut self, name: &FamilyName, job: ReadJob) -> Result<(), ImportError> {
        let is_done =
            |part: &String| self.target.as_ref().is_some_and(|target| target.progress.is_done(part));
        if job.parts.iter().all(is_done) {
            return Ok(());
        }
        let first = match job.order {
            ReadOrder::Merged { .. } => &name.to_string(),
            _ => &job.parts[0],
        };
        self.options.check_interruption(format_args!("{first} and what follows is not imported"))?;
        let (parts, tables, stopped) = (job.parts.clone(), job.tables.clone(), job.stopped.clone());
        let pump =
            self.options.pump(if matches!(job.order, ReadOrder::Merged { .. }) { 1 } else { PARALLEL });
        let read = self.read.for_family(job.cf.as_deref());
        let label = job.cf.clone().unwrap_or_else(|| Arc::new(CfDef::new(&name.keyspace, &name.name)));
        let thread = ReadThread::start(move |sender| job.read(label, &read, sender));
        let family = name.to_string();
        let read = match &mut self.target {
            None => thread.pump(&pump, &Arc::new(NoTarget), async |_| Ok(())).await,
            Some(target) => {
                let writer = target.writer.clone();
                let delivered = async |batch: Delivered<()>| match batch.place {
                    Some(key) => target.reach(&family, &tables, &key).await,
                    None => Ok(()),
                };
                thread.pump(&pump, &writer, delivered).await
            }
        }?;
        self.options.check_interruption(format_args!("{stopped}"))?;
        // Another run must not take a part with gaps for a whole one.
        let is_whole = read.losses.is_empty();
        self.summary.families.entry(name.clone()).or_default().add(&read.family);
        self.summary.losses.append(read.losses);
        match &mut self.target {
            Some(target) if is_whole => target.finish(&family, parts).await,
            _ => Ok(()),
        }
    }
}

impl ReadJob {
    /// Reads the rows, on a thread for blocking work.
    fn read(
        self,
        cf: Arc<CfDef>,
        read: &ReadOptions,
        sender: BatchSender,
    ) -> Result<ReadSummary, ImportError> {
        let mut batcher = RowBatcher::new(cf.clone(), sender);
        let mut finished = ReadSummary::default();
        match self.order {
            ReadOrder::ByTable => {
                for table in &self.tables {
                    let mut table = SstableRows::open(table, read)?;
                    let counters = send_rows_of(&mut table, &mut batcher)?;
                    if counters > 0 && self.cf.is_some() {
                        table.lose_counters(counters);
                    }
                    finished.add(table.finish());
                }
            }
            ReadOrder::Counters(log) => {
                finished.family = log.as_ref().map(FamilyLog::counts).unwrap_or_default();
                let mut merge = CounterMerge::new(&self.tables, log, read, cf)?;
                while let Some(row) = merge.next_row()? {
                    if !batcher.send_row(row) {
                        break;
                    }
                }
                finished.add(merge.finish());
            }
            ReadOrder::Merged { after, every } => {
                let mut merge = FamilyMerge::new(cf, &self.tables, read.clone(), after)?;
                merge.feed(&mut batcher, every)?;
                finished = merge.finish();
            }
        }
        Ok(finished)
    }
}
