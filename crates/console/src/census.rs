//! The number of rows and bytes of column families. The rows are counted when a page needs it, for a short time and up to a
//! limit, so that a large database costs no more than a small one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::limits::{CENSUS_FAMILIES_MIN, CENSUS_FAMILY_BYTES_MAX, CENSUS_MS, CENSUS_PIECE_BYTES};
use base::model::Change;
use base::schema::{CfDef, FamilyName};
use db::Database;
use store::DumpCommand;

/// For how long counts are shown without counting again.
const FRESH: Duration = Duration::from_secs(5);
/// For how long counts are remembered.
const KEPT: Duration = Duration::from_secs(3600);

/// The rows of a column family with live cells, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FamilySize {
    pub rows: u64,
    pub bytes: u64,
    /// Whether there may be more.
    pub is_cut: bool,
}

impl FamilySize {
    /// Returns the size of this column family and another one.
    pub(crate) fn and(self, other: FamilySize) -> FamilySize {
        FamilySize {
            rows: self.rows + other.rows,
            bytes: self.bytes + other.bytes,
            is_cut: self.is_cut || other.is_cut,
        }
    }
}

/// The sizes of column families.
pub(crate) type Sizes = HashMap<FamilyName, FamilySize>;

/// The last counts, with their times.
#[derive(Debug, Default)]
pub(crate) struct Census(Mutex<HashMap<FamilyName, Counted>>);

#[derive(Debug, Clone, Copy)]
struct Counted {
    at: Instant,
    size: FamilySize,
}

impl Census {
    /// Returns the sizes of column families. It counts those again whose last count is old, as many as there is time
    /// for; column families that were never counted are missing. `None` if the store is a cluster.
    pub(crate) async fn take(&self, database: &Database, families: &[Arc<CfDef>]) -> Option<Sizes> {
        if !database.store().can_dump() {
            return None;
        }
        let end = Instant::now() + Duration::from_millis(CENSUS_MS);
        let old = self.old(families);
        for (at, cf) in old.iter().enumerate() {
            let now = Instant::now();
            let left = end.saturating_duration_since(now);
            if left.is_zero() && at >= CENSUS_FAMILIES_MIN {
                break;
            }
            // Each of the others gets an equal part of the time.
            let share = left / u32::try_from(old.len() - at).unwrap_or(u32::MAX);
            let size = measure(database, cf, now + share).await?;
            self.0.lock().insert(FamilyName::of(cf), Counted { at: now, size });
        }
        let mut counts = self.0.lock();
        // Those that were dropped, or that nobody has looked at for long.
        counts.retain(|_, counted| counted.at.elapsed() < KEPT);
        let sizes = families.iter().map(|cf| FamilyName::of(cf));
        Some(sizes.filter_map(|name| counts.get(&name).map(|counted| (name, counted.size))).collect())
    }

    /// Returns the column families whose last count is old, those that were never counted first.
    fn old(&self, families: &[Arc<CfDef>]) -> Vec<Arc<CfDef>> {
        let counts = self.0.lock();
        let counted_at = |cf: &Arc<CfDef>| counts.get(&FamilyName::of(cf)).map(|counted| counted.at);
        let mut old = families.to_vec();
        old.retain(|cf| counted_at(cf).is_none_or(|at| at.elapsed() >= FRESH));
        old.sort_by_key(counted_at);
        old
    }
}

/// Counts the rows of a column family until a limit or a time. A failure of the disk ends the count.
async fn measure(database: &Database, cf: &Arc<CfDef>, end: Instant) -> Option<FamilySize> {
    let mut size = FamilySize::default();
    let (mut after, mut last) = (None, None);
    loop {
        let command = DumpCommand { cf: cf.clone(), after, max_bytes: CENSUS_PIECE_BYTES };
        let Ok(piece) = database.store().dump(command)?.await else { break };
        for row in piece.rows {
            let bytes: usize = row.changes.iter().map(live_bytes).sum();
            if bytes > 0 && last.as_ref() != Some(&row.key) {
                size.rows += 1;
                size.bytes += row.key.len() as u64;
                last = Some(row.key);
            }
            size.bytes += bytes as u64;
        }
        after = piece.place;
        if after.is_none() {
            return Some(size);
        }
        if size.bytes > CENSUS_FAMILY_BYTES_MAX || Instant::now() >= end {
            break;
        }
    }
    Some(FamilySize { is_cut: true, ..size })
}

/// Returns the bytes of a live cell; 0 for everything else. A cell counts at least 1.
fn live_bytes(change: &Change) -> usize {
    match change {
        Change::Cell { super_column, cell } if cell.is_live() => {
            let holder = super_column.as_ref().map_or(0, |name| name.len());
            (holder + cell.name.len() + cell.value.len()).max(1)
        }
        _ => 0,
    }
}
