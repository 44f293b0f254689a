//! Compares dumps of two endpoints with the same order of rows, by reading both at the same time.

use std::cmp::Ordering;
use std::collections::VecDeque;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::cell_lookup::{SLACK_S, difference_of};
use super::difference::{Difference, DifferenceKind};
use super::store_walk::StoreWalk;
use crate::TransferError;
use crate::rows::Tally;
use base::marshal::AbstractType;
use base::model::{CellKind, Change, DeletionTime};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use db::Restore;
use store::RowPiece;

/// The position of a change in a column family: token and key of the row, then the order of a dump.
pub type MergeKey = (Vec<u8>, Bytes, u8, Vec<u8>, u8, Vec<u8>, Bytes);

/// A step of the merge: a change that both endpoints have, or a difference.
pub enum MergeStep {
    Same,
    Different(Difference),
}

/// Where the rows of one endpoint come from, in the order of the ring, each as a dump has it.
pub enum DumpSource {
    /// A store.
    Store(StoreWalk),
    /// A thread that reads files.
    Thread(mpsc::Receiver<Result<Vec<RowPiece>, TransferError>>),
}

/// The dump of one endpoint.
pub struct DumpReader {
    source: DumpSource,
    cf: std::sync::Arc<CfDef>,
    partitioner: PartitionerRef,
    waiting: VecDeque<(MergeKey, Bytes, Change)>,
    is_over: bool,
    /// Counts the data that has been read.
    pub tally: Tally,
    pub last_key: Option<Bytes>,
}

impl DumpReader {
    pub fn new(source: DumpSource, cf: std::sync::Arc<CfDef>, partitioner: PartitionerRef) -> DumpReader {
        let (waiting, tally) = (VecDeque::new(), Tally::default());
        DumpReader { source, cf, partitioner, waiting, is_over: false, tally, last_key: None }
    }

    /// Reads until there is a change or the dump ends. Tombstones past their gc_grace at `now_s` are skipped, because
    /// each store removes them at its own time.
    async fn fill(&mut self, now_s: i32) -> Result<(), TransferError> {
        while self.waiting.is_empty() && !self.is_over {
            let rows = match &mut self.source {
                DumpSource::Store(walk) => walk.next().await?.map(|batch| batch.rows),
                DumpSource::Thread(pieces) => pieces.recv().await.transpose()?,
            };
            let Some(rows) = rows else {
                self.is_over = true;
                break;
            };
            let mut rows_begun = 0;
            for row in &rows {
                rows_begun += u64::from(self.last_key.as_ref() != Some(&row.key));
                self.last_key = Some(row.key.clone());
            }
            self.tally.add(Tally::of(&rows, rows_begun));
            for row in rows {
                let mut token = Vec::new();
                self.partitioner.token(&row.key, &mut token);
                for change in row.changes {
                    let Some(change) = self.unless_purgeable(change, now_s) else { continue };
                    let rank = rank(&self.cf, &token, &row.key, &change);
                    self.waiting.push_back((rank, row.key.clone(), change));
                }
            }
        }
        Ok(())
    }

    fn unless_purgeable(&self, change: Change, now_s: i32) -> Option<Change> {
        let gc_before = now_s.saturating_sub(self.cf.gc_grace_s);
        let is_kept = |deletion: &DeletionTime| deletion.local_deletion_time > gc_before;
        match change {
            Change::Cell { super_column, cell } => {
                let cell = cell.at(now_s, Restore::behaviour());
                (!cell.is_purgeable(gc_before)).then_some(Change::Cell { super_column, cell })
            }
            Change::DeleteRow { deletion } => is_kept(&deletion).then_some(Change::DeleteRow { deletion }),
            Change::DeleteSuper { name, deletion } => {
                is_kept(&deletion).then_some(Change::DeleteSuper { name, deletion })
            }
            Change::DeleteRange(range) => is_kept(&range.deletion).then_some(Change::DeleteRange(range)),
        }
    }
}

/// Takes the next change of both dumps; `None` at the end of both.
pub async fn next(
    from: &mut DumpReader,
    to: &mut DumpReader,
    now_s: i32,
) -> Result<Option<MergeStep>, TransferError> {
    from.fill(now_s).await?;
    to.fill(now_s).await?;
    let order = match (from.waiting.front(), to.waiting.front()) {
        (None, None) => return Ok(None),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some((one, ..)), Some((other, ..))) => one.cmp(other),
    };
    let one = if order.is_le() { from.waiting.pop_front() } else { None };
    let other = if order.is_ge() { to.waiting.pop_front() } else { None };
    let step = match (one, other) {
        (Some((_, key, change)), None) => missing(key, &change, DifferenceKind::OnlyInSource, now_s),
        (None, Some((_, key, change))) => missing(key, &change, DifferenceKind::OnlyInTarget, now_s),
        (Some((_, key, one)), Some((_, _, other))) => match kind_of(&one, &other) {
            Some(kind) => MergeStep::Different(difference(key, &one, kind)),
            None => MergeStep::Same,
        },
        (None, None) => MergeStep::Same,
    };
    Ok(Some(step))
}

/// Returns the step for a change that only one endpoint has. A cell that expires about now may be an already purgeable
/// tombstone on the other endpoint.
fn missing(key: Bytes, change: &Change, kind: DifferenceKind, now_s: i32) -> MergeStep {
    let expires_now = matches!(change, Change::Cell { cell, .. }
        if matches!(cell.kind, CellKind::Expiring { expires_at_s, .. } if expires_at_s <= now_s.saturating_add(SLACK_S)));
    if expires_now { MergeStep::Same } else { MergeStep::Different(difference(key, change, kind)) }
}

fn difference(key: Bytes, change: &Change, kind: DifferenceKind) -> Difference {
    let (super_column, column) = match change {
        Change::Cell { super_column, cell } => (super_column.clone(), Some(cell.name.clone())),
        Change::DeleteSuper { name, .. } => (Some(name.clone()), None),
        Change::DeleteRow { .. } => (None, None),
        Change::DeleteRange(range) => (range.super_column.clone(), None),
    };
    Difference { key, super_column, column, kind }
}

/// Returns how two changes with the same position differ.
fn kind_of(one: &Change, other: &Change) -> Option<DifferenceKind> {
    match (one, other) {
        (Change::Cell { cell: one, .. }, Change::Cell { cell: other, .. }) => {
            let is_tombstone = !one.is_live() && !other.is_live();
            if is_tombstone && one.kind != other.kind {
                Some(DifferenceKind::Deletion)
            } else {
                difference_of(one, other, true)
            }
        }
        (Change::DeleteRow { deletion: one }, Change::DeleteRow { deletion: other })
        | (Change::DeleteSuper { deletion: one, .. }, Change::DeleteSuper { deletion: other, .. }) => {
            (one != other).then_some(DifferenceKind::Deletion)
        }
        (Change::DeleteRange(one), Change::DeleteRange(other)) => {
            (one.deletion != other.deletion).then_some(DifferenceKind::Deletion)
        }
        _ => Some(DifferenceKind::Value),
    }
}

fn ordered(comparator: &dyn AbstractType, name: &[u8]) -> Vec<u8> {
    let mut ordered = Vec::with_capacity(name.len() + 9);
    comparator.ordered(name, &mut ordered);
    ordered
}

/// Returns the position of a change in the dump of a column family.
pub fn rank(cf: &CfDef, token: &[u8], key: &Bytes, change: &Change) -> MergeKey {
    let nothing = Bytes::new;
    let (class, holder, inner, name, more) = match change {
        Change::DeleteRow { .. } => (0, Vec::new(), 0, Vec::new(), nothing()),
        Change::DeleteRange(range) => {
            let holder = range.super_column.as_ref().map_or(Vec::new(), |name| name.to_vec());
            (1, holder, u8::from(range.super_column.is_some()), range.start.to_vec(), range.finish.clone())
        }
        Change::DeleteSuper { name, .. } => (2, ordered(&*cf.comparator, name), 0, Vec::new(), nothing()),
        Change::Cell { super_column: Some(holder), cell } => {
            let names = cf.subcomparator().unwrap_or(&cf.comparator);
            (2, ordered(&*cf.comparator, holder), 1, ordered(&**names, &cell.name), nothing())
        }
        Change::Cell { super_column: None, cell } => {
            (2, Vec::new(), 1, ordered(&*cf.comparator, &cell.name), nothing())
        }
    };
    (token.to_vec(), key.clone(), class, holder, inner, name, more)
}
