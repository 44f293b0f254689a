//! Runs a whole copy, column family by column family.

use std::path::PathBuf;
use std::sync::Arc;

use super::DEFAULT_PARALLEL;
use super::family_copy::{FamilyCopy, Found};
use super::progress_file::ProgressFile;
use super::repair::RepairPause;
use super::selection::{self, Selection};
use crate::endpoint::{DEFAULT_ROWS, Differences, Endpoint};
use crate::rows::{Pump, RateLimit, Tally};
use crate::{Interruption, TransferError};
use base::util::output::{print_line, report_line};
use base::util::{Clock, listed};

/// Column families without rows that are listed; further ones are counted.
const LISTED_EMPTY_MAX: usize = 20;

/// The task of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Copies, and compares nothing.
    Copy,
    /// Copies, and then compares both endpoints.
    CopyAndVerify,
    /// Compares both endpoints, and writes nothing.
    Verify,
}

/// The options of a copy, and of an export.
#[derive(Debug, Clone)]
pub struct CopyOptions {
    /// Whether to copy, to compare, or both.
    pub task: Task,
    /// The column families to copy or to compare.
    pub selection: Selection,
    /// The file that records finished parts, so that a later run goes on after them; `None` records nothing.
    pub progress_file: Option<PathBuf>,
    /// Maximum number of rows of a page.
    pub rows_at_a_time: usize,
    /// Batches that are written or looked up concurrently.
    pub parallel: usize,
    /// Repairs the differences of a comparison in the target, after this pause; `None` only reports them.
    pub repair_after: Option<RepairPause>,
    /// The bytes per second that are read from the source, by a copy and by each pass of a comparison.
    pub rate: RateLimit,
    /// Stops the run between two batches.
    pub interruption: Interruption,
}

impl Default for CopyOptions {
    /// Returns the options to copy everything, without a progress file.
    fn default() -> CopyOptions {
        CopyOptions {
            task: Task::Copy,
            selection: Selection::default(),
            progress_file: None,
            rows_at_a_time: DEFAULT_ROWS.into(),
            parallel: DEFAULT_PARALLEL.into(),
            repair_after: None,
            rate: RateLimit::default(),
            interruption: Interruption::default(),
        }
    }
}

impl CopyOptions {
    pub(super) fn pump(&self) -> Pump {
        Pump { parallel: self.parallel, interruption: self.interruption.clone(), rate: self.rate }
    }
}

/// Copies and compares. Differences are an error.
pub async fn run(
    from: Arc<Endpoint>,
    to: Arc<Endpoint>,
    clock: Arc<Clock>,
    options: &CopyOptions,
) -> Result<(), TransferError> {
    let work = FamilyCopy { from, to, clock, options };
    if options.task != Task::Verify {
        let (families, total) = copy_all(&work).await?;
        print_line!("copied: {families} column families, {} rows, {} cells", total.rows, total.cells);
    }
    if options.task != Task::Copy {
        verify_all(&work).await?;
    }
    Ok(())
}

/// Copies all column families, without printing the sum. Returns how many they are, and the numbers of rows and cells.
pub async fn copy_families(
    from: Arc<Endpoint>,
    to: Arc<Endpoint>,
    clock: Arc<Clock>,
) -> Result<(usize, u64, u64), TransferError> {
    let options = CopyOptions::default();
    let work = FamilyCopy { from, to, clock, options: &options };
    let (families, total) = copy_all(&work).await?;
    Ok((families, total.rows, total.cells))
}

/// Returns the number of column families, and the tally of all runs.
async fn copy_all(work: &FamilyCopy<'_>) -> Result<(usize, Tally), TransferError> {
    // Refuse a file of another copy before creating anything.
    let path = work.options.progress_file.as_deref();
    let mut file = ProgressFile::open(path, &work.from.name, &work.to.name)?;
    let pairs = selection::prepare(&work.from, &work.to, &work.options.selection).await?;
    if !work.from.can_dump() {
        report_line!("{} only returns live columns: no tombstones are copied", work.from.name);
    }
    let (mut total, mut empty) = (Tally::default(), Vec::new());
    for (number, pair) in pairs.iter().enumerate() {
        let name = pair.name();
        let recorded = file.family(&name);
        if recorded.is_done {
            report_line!(
                "{name} was copied before: {} rows, {} cells",
                recorded.tally.rows,
                recorded.tally.cells
            );
            total.add(recorded.tally);
            continue;
        }
        if work.options.interruption.is_stopped() {
            return Err(TransferError::Interrupted(format!(
                "{name} and the column families after it are not copied"
            )));
        }
        let title = format!("{name} ({} of {})", number + 1, pairs.len());
        let copied = work.copy(pair, &mut file, title).await?;
        if copied.rows == 0 {
            empty.push(name);
        }
        total.add(copied);
    }
    print_empty(&empty);
    Ok((pairs.len(), total))
}

/// Prints the column families without rows in the source, in one line.
fn print_empty(names: &[String]) {
    if !names.is_empty() {
        report_line!("no rows in the source: {}", listed(names, LISTED_EMPTY_MAX));
    }
}

async fn verify_all(work: &FamilyCopy<'_>) -> Result<(), TransferError> {
    let pairs = selection::existing(&work.from, &work.to, &work.options.selection)?;
    let mut differences = Differences::default();
    let (mut total, mut empty, mut repaired) = (Tally::default(), Vec::new(), 0);
    for (number, pair) in pairs.iter().enumerate() {
        let title = format!("comparing {} ({} of {})", pair.name(), number + 1, pairs.len());
        let mut found = Found { differences: &mut differences, again: Vec::new(), repaired: 0 };
        let compared = work.verify(pair, &mut found, title).await?;
        repaired += found.repaired;
        if compared.rows == 0 {
            empty.push(pair.name());
        }
        total.add(compared);
    }
    print_empty(&empty);
    print_line!("compared: {} column families, {} rows, {} cells", pairs.len(), total.rows, total.cells);
    if work.options.repair_after.is_some() {
        print_line!("repaired: {repaired} cells");
    }
    match differences.count {
        0 => Ok(()),
        count => Err(TransferError::Different(count)),
    }
}
