//! Compares the contents of files and of a target, both ways: every cell, deletion and counter.
//!
//! The files are read again, with their commit logs, and merged to the form in which a store with them would dump them
//! (`file_dump`). The target is dumped. Both are in the order of the ring and of names, so they are compared side by
//! side, and memory does not depend on their size.
//!
//! A cluster cannot be dumped, and may have another partitioner. Each live cell of the files is looked up in it;
//! cells that only the cluster has are not found.

use std::sync::Arc;

use super::as_of::ClockShift;
use super::file_rows::FileRows;
use super::import_progress::ImportProgress;
use super::read_thread::{PARALLEL, ReadThread};
use super::source_partitioner::order_of_files;
use super::summary::ReadSummary;
use super::{FamilyName, ImportError, ImportOptions, Inventory};
use crate::TransferError;
use crate::endpoint::{
    CellLookup, DEFAULT_ROWS, DifferenceKind, Differences, DumpReader, Endpoint, LookedUp, StoreWalk,
    compare_dumps,
};
use crate::rows::Delivered;
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use base::util::Clock;

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct VerifiedImport {
    /// Cells and deletions that were compared; only live cells if the target is a cluster.
    pub compared: u64,
    /// Whether deletions were compared, and data that only the target has was found.
    pub is_complete: bool,
    /// The number of differences. The first ones are printed.
    pub differences: u64,
}

/// Compares all that the inventory lists with the target. Differences are printed. `shift` comes from an import that
/// has just run; otherwise the progress file has it.
///
/// # Errors
///
/// If the target cannot be dumped or has another order, at damage that is not skipped, and if the comparison is stopped.
pub async fn verify(
    inventory: &Inventory,
    to: Arc<Endpoint>,
    clock: Arc<Clock>,
    options: &ImportOptions,
    shift: Option<ClockShift>,
) -> Result<VerifiedImport, ImportError> {
    let partitioner = match check_comparable(&to)? {
        TargetComparison::Dumps(partitioner) => partitioner,
        TargetComparison::Cells => order_of_files(inventory, &options.partitioner),
    };
    let shift = shift.map_or_else(|| recorded_shift(options, &to.name, clock.now_s()), Ok)?;
    let files = FileRows::in_order(inventory, to.clone(), options, shift, partitioner).await?;
    let comparison = FileComparison { to, clock, options, files };
    comparison.all().await
}

/// The ways to compare a target with files.
pub enum TargetComparison {
    /// Both ways, with all deletions. The target has this order of rows, which must be the order of the files.
    Dumps(PartitionerRef),
    /// Each live cell of the files is looked up.
    Cells,
}

/// Returns how a target can be compared with files.
///
/// # Errors
///
/// If it cannot be.
pub fn check_comparable(to: &Endpoint) -> Result<TargetComparison, ImportError> {
    match (&to.partitioner, to.can_dump(), &to.database) {
        (Some(partitioner), true, _) => Ok(TargetComparison::Dumps(partitioner.clone())),
        (_, false, Some(_)) => Ok(TargetComparison::Cells),
        _ => {
            Err(TransferError::of(to, "only a data directory or a cluster can be compared with files").into())
        }
    }
}

/// Returns the shift of the import that wrote the progress file.
fn recorded_shift(options: &ImportOptions, to: &str, now_s: i32) -> Result<ClockShift, ImportError> {
    let file = options.progress_file.as_deref().filter(|file| file.exists());
    if options.as_of.is_some() && file.is_none() {
        let why = "the import's seconds are only known from its progress file: set --progress-file";
        return Err(ImportError::Nothing(why.to_owned()));
    }
    Ok(ImportProgress::open(file, to, options, now_s)?.shift())
}

/// A running comparison.
struct FileComparison<'a> {
    to: Arc<Endpoint>,
    clock: Arc<Clock>,
    options: &'a ImportOptions,
    files: FileRows<'a>,
}

impl FileComparison<'_> {
    async fn all(&self) -> Result<VerifiedImport, ImportError> {
        let mut differences = Differences::default();
        let mut verified = VerifiedImport { is_complete: self.to.can_dump(), ..VerifiedImport::default() };
        for (name, cf) in self.files.families() {
            self.files.set_title(format!("comparing {name}"));
            let thread = self.files.read(&cf)?;
            verified.compared += match self.to.can_dump() {
                true => self.compare_dumps(&name, &cf, thread, &mut differences).await?,
                false => self.look_up(&name, &cf, thread, &mut differences).await?,
            };
        }
        verified.differences = differences.count;
        Ok(verified)
    }

    /// Compares the rows that a thread reads from the files with the dump of the target. Returns how many changes the
    /// files have.
    async fn compare_dumps(
        &self,
        name: &FamilyName,
        cf: &Arc<CfDef>,
        thread: ReadThread<ReadSummary>,
        differences: &mut Differences,
    ) -> Result<u64, ImportError> {
        let walk = StoreWalk::new(self.to.clone(), cf.clone(), None, DEFAULT_ROWS.into());
        let mut from = DumpReader::new(thread, cf.clone(), self.files.partitioner().clone());
        let mut to = DumpReader::new(walk, cf.clone(), self.files.partitioner().clone());
        let now_s = self.clock.now_s();
        compare_dumps(&mut from, &mut to, now_s, differences, |_| self.check_interruption(name)).await?;
        Ok(from.take_tally().cells)
    }

    /// Looks up in the target each live cell that a thread reads of the files. Returns how many there are.
    async fn look_up(
        &self,
        name: &FamilyName,
        cf: &Arc<CfDef>,
        thread: ReadThread<ReadSummary>,
        differences: &mut Differences,
    ) -> Result<u64, ImportError> {
        let lookup = CellLookup {
            other: self.to.clone(),
            cf: cf.clone(),
            clock: self.clock.clone(),
            compares_expiry: self.to.pages.has_expiry_time(),
            missing: DifferenceKind::OnlyInSource,
            only_missing: false,
        };
        let mut cells = 0;
        let delivered = async |batch: Delivered<LookedUp>| {
            cells += batch.outcome.cells;
            differences.add_all(cf, &batch.outcome.differences);
            Ok(())
        };
        thread.pump(&self.options.pump(PARALLEL), &Arc::new(lookup), delivered).await?;
        self.check_interruption(name)?;
        Ok(cells)
    }

    fn check_interruption(&self, name: &FamilyName) -> Result<(), ImportError> {
        self.options.check_interruption(format_args!("{name} is compared only in part"))
    }
}
