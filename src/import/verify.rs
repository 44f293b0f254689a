//! Compares what files have with what a target has, both ways: every cell, deletion and counter.
//!
//! The files are read again, with their commit logs, and merged to what a store with them would dump (`file_dump`). The
//! target is dumped. Both are in the order of the ring and of names, so they are compared side by side, and memory does
//! not depend on their size.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::as_of::ClockShift;
use super::counters::Logged;
use super::file_dump::{FileDump, what_differs};
use super::logged_counters::LoggedCounters;
use super::logged_rows::LoggedRows;
use super::logs::Logs;
use super::meter::{Meter, ReadCounts};
use super::progress::Progress;
use super::reader::ReadOptions;
use super::transfer::read_on_thread;
use super::{FamilyName, FoundTable, ImportError, ImportOptions, Inventory};
use crate::compat::features::releases::NEWEST;
use crate::copy::{CopyError, Differences, DumpSource, MergeStep, Side, Stream, Walk, next_of_dumps};
use crate::partitioner::PartitionerRef;
use crate::schema::{CfDef, TableDef};
use crate::sstable::named_partitioner;
use crate::util::Clock;

/// Pieces of files that wait for the comparison.
const WAITING: usize = 8;
/// Rows of a page. A dump has none.
const ROWS: usize = 256;
/// Steps of the comparison after which a signal is noticed.
const STEPS: u64 = 1024;

/// What a comparison has found.
#[derive(Debug, Default)]
pub struct Verified {
    /// Cells and deletions that were compared.
    pub compared: u64,
    /// How many of them differ. The first ones are printed.
    pub differences: u64,
}

/// Compares all that the inventory lists with the target. Differences are printed. `shift` is that of an import that has
/// just run; otherwise the progress file has it.
///
/// # Errors
///
/// If the target cannot be dumped or has another order, at damage that is not skipped, and if the comparison is stopped.
pub async fn verify(
    inventory: &Inventory,
    (to, clock): (Arc<Side>, Arc<Clock>),
    options: &ImportOptions,
    shift: Option<ClockShift>,
) -> Result<Verified, ImportError> {
    let partitioner = check_comparable(&to)?;
    let shift = shift.map_or_else(|| recorded_shift(options, &to.name, clock.now_s()), Ok)?;
    let counts = Arc::<ReadCounts>::default();
    let logs = Arc::new(Logs::of(inventory, &to, (options, shift))?);
    let _meter = options.shows_progress.then(|| Meter::start(counts.clone(), inventory.bytes(), 0));
    let read = options.read_options(inventory, (shift, &counts));
    let verify = Verify { to, clock, options, logs, partitioner, read };
    verify.all(inventory).await
}

/// Returns the partitioner of a target that can be compared with files.
///
/// # Errors
///
/// If the target is a cluster.
pub fn check_comparable(to: &Side) -> Result<PartitionerRef, ImportError> {
    match (&to.partitioner, to.can_dump()) {
        (Some(partitioner), true) => Ok(partitioner.clone()),
        _ => Err(CopyError::of(to, "only a data directory can be compared with files").into()),
    }
}

/// Returns the shift of the import that wrote the progress file.
fn recorded_shift(options: &ImportOptions, to: &str, now_s: i32) -> Result<ClockShift, ImportError> {
    let file = options.progress_file.as_deref().filter(|file| file.exists());
    if options.as_of.is_some() && file.is_none() {
        let why = "the import's seconds are only known from its progress file: set --progress-file";
        return Err(ImportError::Nothing(why.to_owned()));
    }
    Ok(Progress::open(file, to, (options.as_of, now_s))?.shift())
}

/// A running comparison.
struct Verify<'a> {
    to: Arc<Side>,
    clock: Arc<Clock>,
    options: &'a ImportOptions,
    logs: Arc<Logs>,
    /// That of the target.
    partitioner: PartitionerRef,
    read: ReadOptions,
}

impl Verify<'_> {
    async fn all(&self, inventory: &Inventory) -> Result<Verified, ImportError> {
        let logged = match self.logs.may_have_counters() {
            true => {
                let (logs, partitioner) = (self.logs.clone(), self.partitioner.clone());
                let read = read_on_thread(move || LoggedCounters::read(logs, partitioner)).await?;
                Some(Arc::new(Mutex::new(read)))
            }
            false => None,
        };
        let mut differences = Differences::default();
        let mut verified = Verified::default();
        for (name, cf) in self.families(inventory) {
            let tables = inventory.families.get(&name).cloned().unwrap_or_default();
            self.check_order(&name, &tables)?;
            self.read.counts.set_title(format!("comparing {name}"));
            let counters = logged.clone().filter(|_| cf.is_counter());
            let dump = FileDump {
                cf: cf.clone(),
                tables,
                read: ReadOptions { layout: Some(TableDef::of(&cf, NEWEST).layout), ..self.read.clone() },
                logged: counters.map(|counters| Logged { counters, family: name.clone() }),
                logged_rows: None,
            };
            verified.compared += self.family(&name, cf, dump, &mut differences).await?;
        }
        verified.differences = differences.count;
        Ok(verified)
    }

    /// Returns the column families of the target that files may have, in the order of their names, in which the counters
    /// of commit logs are read.
    fn families(&self, inventory: &Inventory) -> Vec<(FamilyName, Arc<CfDef>)> {
        let mut names: BTreeSet<FamilyName> = inventory.families.keys().cloned().collect();
        if !self.logs.found().is_empty() {
            let keyspaces = self.to.keyspaces();
            let families = keyspaces.iter().flat_map(|keyspace| keyspace.column_families.values());
            let of_logs = families.map(|cf| FamilyName::of(cf)).filter(|name| inventory.is_selected(name));
            names.extend(of_logs);
        }
        let defined =
            |name: FamilyName| Some((name.clone(), self.to.column_family(&name.keyspace, &name.name)?));
        names.into_iter().filter_map(defined).collect()
    }

    fn check_order(&self, name: &FamilyName, tables: &[FoundTable]) -> Result<(), ImportError> {
        for table in tables {
            let named = named_partitioner(&table.descriptor);
            let own = named.as_ref().unwrap_or(&self.options.partitioner).class_name();
            if own != self.partitioner.class_name() {
                let why = what_differs(name, own, self.partitioner.class_name());
                return Err(CopyError::Schema(why).into());
            }
        }
        Ok(())
    }

    /// Compares a column family. Returns how many changes the files have.
    async fn family(
        &self,
        name: &FamilyName,
        cf: Arc<CfDef>,
        mut dump: FileDump,
        differences: &mut Differences,
    ) -> Result<u64, ImportError> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let logs = Some(self.logs.clone()).filter(|logs| !logs.found().is_empty() && !cf.is_counter());
        let partitioner = self.partitioner.clone();
        let reading = tokio::task::spawn_blocking(move || {
            dump.logged_rows = logs.map(|logs| LoggedRows::read(logs, dump.cf.clone(), partitioner));
            let outcome = dump.run(|rows| sender.blocking_send(Ok(rows)).is_ok());
            if let Err(error) = &outcome {
                // The comparison must not take the rest for missing.
                let error = CopyError::Side { side: "the files".to_owned(), why: error.to_string() };
                let _ = sender.blocking_send(Err(error));
            }
            outcome
        });
        let walk = DumpSource::Store(Walk::new(self.to.clone(), cf.clone(), None, ROWS));
        let mut from = Stream::new(DumpSource::Thread(receiver), cf.clone(), self.partitioner.clone());
        let mut to = Stream::new(walk, cf.clone(), self.partitioner.clone());
        let now_s = self.clock.now_s();
        let mut steps = 0;
        let compared = loop {
            match next_of_dumps(&mut from, &mut to, now_s).await {
                Ok(None) => break Ok(()),
                Ok(Some(MergeStep::Same)) => {}
                Ok(Some(MergeStep::Different(difference))) => differences.add(&cf, &difference),
                Err(error) => break Err(ImportError::from(error)),
            }
            steps += 1;
            if u64::is_multiple_of(steps, STEPS) && self.options.interruption.is_stopped() {
                break Err(ImportError::Interrupted(format!("{name} is compared only in part")));
            }
        };
        let cells = from.tally.cells;
        drop(from);
        // The error of the thread says more than what the comparison got of it.
        let read = reading.await.map_err(|error| ImportError::Thread(error.to_string()))?;
        read.and(compared).map(|()| cells)
    }
}
