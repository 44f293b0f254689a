//! Looks at differences again, and repairs them in the target.
//!
//! While clients write, a comparison reads one side before a write and the other after it. So each difference is looked at
//! again after a pause; what is still different is repaired by its timestamp:
//!
//! ```text
//!   source              target              the target gets
//!   a newer cell        an older or none    the source's cell
//!   none                a cell              a tombstone with the cell's timestamp, which hides no later write
//!   a counter           another total       the difference, if neither total has changed during a second pause
//!   an older cell       a newer cell        nothing: it is reported
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::selection::Pair;
use crate::endpoint::{Difference, DifferenceKind, Differences, Endpoint, RowWriter, difference_of};
use crate::rows::{RowBatch, RowTarget};
use crate::{Interruption, TransferError};
use base::model::{Cell, Change, Predicate};
use base::schema::CfDef;
use base::util::Clock;
use store::RowPiece;

/// Differences of a column family that are looked at again. If there are more, rows are missing: another copy is faster.
pub(super) const AGAIN_MAX: usize = 100_000;

/// The interval at which a pause checks whether the writes have arrived.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Repairs the target of a copy.
pub(super) struct Repair {
    pub from: Arc<Endpoint>,
    pub to: Arc<Endpoint>,
    pub clock: Arc<Clock>,
    /// The pause between two looks.
    pub pause: RepairPause,
    /// Stops the repair between two differences.
    pub interruption: Interruption,
}

/// The pause between two looks at a difference: writes to one side must reach the other one within it.
#[derive(Clone)]
pub struct RepairPause {
    /// The shortest pause.
    pub time: Duration,
    /// Returns whether all writes older than this have reached both sides. The pause lasts until they have; an error ends the
    /// repair.
    pub have_arrived: Arc<dyn Fn(Duration) -> Result<bool, String> + Send + Sync>,
}

impl RepairPause {
    /// Returns a pause of this length, within which all writes arrive.
    pub fn of(time: Duration) -> RepairPause {
        RepairPause { time, have_arrived: Arc::new(|_| Ok(true)) }
    }
}

impl std::fmt::Debug for RepairPause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.time.fmt(formatter)
    }
}

/// A cell on both sides.
struct BothCells {
    source: Option<Cell>,
    target: Option<Cell>,
}

impl BothCells {
    /// Returns how the cells differ, without their times of expiry.
    fn difference(&self) -> Option<DifferenceKind> {
        match (&self.source, &self.target) {
            (None, None) => None,
            (Some(_), None) => Some(DifferenceKind::OnlyInSource),
            (None, Some(_)) => Some(DifferenceKind::OnlyInTarget),
            (Some(source), Some(target)) => difference_of(source, target, false),
        }
    }

    /// Returns the cell that the target must get; `None` if the timestamps do not decide.
    fn repaired(&self, now_s: i32) -> Option<Cell> {
        match (&self.source, &self.target) {
            (Some(source), None) => Some(source.clone()),
            (Some(source), Some(target)) if source.timestamp > target.timestamp => Some(source.clone()),
            (None, Some(target)) => Some(Cell::tombstone(target.name.clone(), target.timestamp, now_s)),
            _ => None,
        }
    }

    fn totals(&self) -> (Option<i64>, Option<i64>) {
        (self.source.as_ref().and_then(Cell::count), self.target.as_ref().and_then(Cell::count))
    }
}

impl Repair {
    /// Looks at differences of a column family again. Adds those that stay to `differences`, and returns how many are
    /// repaired.
    pub(super) async fn repair(
        &self,
        pair: &Pair,
        found: Vec<Difference>,
        differences: &mut Differences,
    ) -> Result<u64, TransferError> {
        if found.is_empty() {
            return Ok(0);
        }
        self.pause(pair).await?;
        let mut still = Vec::new();
        for difference in found {
            self.check_interruption(pair)?;
            let both = self.look(pair, &difference).await?;
            if both.difference().is_some() {
                still.push((difference, both));
            }
        }
        if pair.from.is_counter() && !still.is_empty() {
            self.pause(pair).await?;
        }
        let mut repaired = 0;
        for (difference, both) in still {
            self.check_interruption(pair)?;
            let kind = self.repair_one(pair, &difference, both).await?;
            match kind {
                None => repaired += 1,
                Some(kind) => differences.add(&pair.from, &Difference { kind, ..difference }),
            }
        }
        Ok(repaired)
    }

    async fn pause(&self, pair: &Pair) -> Result<(), TransferError> {
        let began = Instant::now();
        tokio::time::sleep(self.pause.time).await;
        while !(self.pause.have_arrived)(began.elapsed()).map_err(TransferError::Interrupted)? {
            self.check_interruption(pair)?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    fn check_interruption(&self, pair: &Pair) -> Result<(), TransferError> {
        if self.interruption.is_stopped() {
            return Err(TransferError::Interrupted(format!("{} is repaired only in part", pair.name())));
        }
        Ok(())
    }

    /// Repairs one difference. Returns how both sides differ still.
    async fn repair_one(
        &self,
        pair: &Pair,
        difference: &Difference,
        both: BothCells,
    ) -> Result<Option<DifferenceKind>, TransferError> {
        let cell = if pair.from.is_counter() {
            // The writer reads the target's total, and adds what is missing.
            let again = self.look(pair, difference).await?;
            if again.totals() == both.totals() { again.source } else { None }
        } else {
            both.repaired(self.clock.now_s())
        };
        let Some(cell) = cell else { return Ok(both.difference_or_value()) };
        let change = Change::Cell { super_column: difference.super_column.clone(), cell };
        let rows = vec![RowPiece { key: difference.key.clone(), changes: vec![change] }];
        let writer = RowWriter::new(self.to.clone(), self.clock.clone())?;
        writer.take(RowBatch { cf: pair.to.clone(), rows, place: None }).await?;
        Ok(self.look(pair, difference).await?.difference())
    }

    async fn look(&self, pair: &Pair, difference: &Difference) -> Result<BothCells, TransferError> {
        // The source last: a write that has come meanwhile is in it before it is in the target.
        let target = cell_of(&self.to, &pair.to, difference).await?;
        let source = cell_of(&self.from, &pair.from, difference).await?;
        Ok(BothCells { source, target })
    }
}

impl BothCells {
    /// Returns how cells differ that cannot be repaired.
    fn difference_or_value(&self) -> Option<DifferenceKind> {
        Some(self.difference().unwrap_or(DifferenceKind::Value))
    }
}

/// Returns the live cell of an endpoint at the place of a difference.
async fn cell_of(
    side: &Endpoint,
    cf: &Arc<CfDef>,
    difference: &Difference,
) -> Result<Option<Cell>, TransferError> {
    let Some(name) = &difference.column else { return Ok(None) };
    let names = Predicate::Names(vec![name.clone()]);
    let super_column: Option<Bytes> = difference.super_column.clone();
    let cells = side.pages.cells(cf, difference.key.clone(), super_column, names).await;
    let cells = cells.map_err(|why| TransferError::of(side, why))?;
    Ok(cells.into_iter().find(|cell| cell.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_decide_a_repair() {
        let cell = |timestamp| Some(Cell::live("n".into(), "v".into(), timestamp));
        let repaired = |source, target| {
            let cell = BothCells { source, target }.repaired(9);
            cell.map(|cell| (cell.timestamp, cell.is_live()))
        };
        assert_eq!(repaired(cell(5), None), Some((5, true)));
        assert_eq!(repaired(cell(5), cell(4)), Some((5, true)));
        assert_eq!(repaired(None, cell(4)), Some((4, false)));
        assert_eq!(repaired(cell(4), cell(5)), None);
        assert_eq!(repaired(cell(4), cell(4)), None);
    }
}
