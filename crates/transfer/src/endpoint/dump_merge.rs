//! Compares dumps of two endpoints with the same order of rows, by reading both at the same time.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::cell_lookup::{SLACK_S, difference_of};
use super::difference::{Difference, DifferenceKind};
use super::{Differences, StoreWalk};
use crate::rows::{RowCounter, RowSource, Tally, ring_position};
use base::marshal::AbstractType;
use base::model::{CellKind, Change, DeletionTime};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use db::Restore;

/// The position of a change in a column family: token and key of the row, then the order of a dump.
pub(crate) type MergeKey = (Vec<u8>, Bytes, u8, Vec<u8>, u8, Vec<u8>, Bytes);

/// The steps of the merge after which a comparison shows its progress and notices a signal.
const STEPS: u64 = 1024;

/// A step of the merge: a change that both dumps have, or a difference.
enum MergeStep {
    Same,
    Different(Difference),
}

/// Reads a dump, in the order of the ring.
pub(crate) struct DumpReader<S> {
    source: S,
    cf: Arc<CfDef>,
    partitioner: PartitionerRef,
    waiting: VecDeque<(MergeKey, Bytes, Change)>,
    is_over: bool,
    counter: RowCounter,
    tally: Tally,
}

impl<S> DumpReader<S> {
    /// Creates a reader at the start of a dump. `partitioner` orders its rows.
    pub(crate) fn new(source: S, cf: Arc<CfDef>, partitioner: PartitionerRef) -> DumpReader<S> {
        let (waiting, counter, tally) = (VecDeque::new(), RowCounter::default(), Tally::default());
        DumpReader { source, cf, partitioner, waiting, is_over: false, counter, tally }
    }

    /// Returns the counts of the data that was read since the last time.
    pub(crate) fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// Returns the last row that was read.
    pub(crate) fn last_key(&self) -> Option<&Bytes> {
        self.counter.last_key.as_ref()
    }

    /// Reads until there is a change or the dump ends. Tombstones past their gc_grace at `now_s` are skipped, because
    /// each store removes them at its own time.
    async fn fill(&mut self, now_s: i32) -> Result<(), S::Error>
    where
        S: RowSource,
    {
        while self.waiting.is_empty() && !self.is_over {
            let Some(batch) = self.source.next().await? else {
                self.is_over = true;
                break;
            };
            self.tally.add(self.counter.count(&batch.rows));
            for row in batch.rows {
                let (token, key) = ring_position(&self.partitioner, row.key);
                for change in row.changes {
                    let Some(change) = self.unless_purgeable(change, now_s) else { continue };
                    let rank = rank(&self.cf, &token, &key, &change);
                    self.waiting.push_back((rank, key.clone(), change));
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

/// Compares all changes of two dumps with the same order. Calls `seen` now and then, which may end the comparison.
///
/// # Errors
///
/// The first error of the sources and of `seen`.
pub(crate) async fn compare_dumps<S: RowSource>(
    from: &mut DumpReader<S>,
    to: &mut DumpReader<StoreWalk>,
    now_s: i32,
    differences: &mut Differences,
    mut seen: impl FnMut(&mut DumpReader<S>) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    let mut steps = 0u64;
    while let Some(step) = next(from, to, now_s).await? {
        if let MergeStep::Different(difference) = step {
            differences.add(&from.cf, &difference);
        }
        steps += 1;
        if steps.is_multiple_of(STEPS) {
            seen(from)?;
        }
    }
    Ok(())
}

/// Takes the next change of both dumps; `None` at the end of both.
async fn next<S: RowSource>(
    from: &mut DumpReader<S>,
    to: &mut DumpReader<StoreWalk>,
    now_s: i32,
) -> Result<Option<MergeStep>, S::Error> {
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
pub(crate) fn rank(cf: &CfDef, token: &[u8], key: &Bytes, change: &Change) -> MergeKey {
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
