//! Rows of one generation of a column family, in ring order.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use parking_lot::{Mutex, RwLock};

use super::entry_map::EntryMap;
use crate::storage::embedded::log::Changes;
use crate::storage::embedded::row_cache::EntryChange;

/// What an entry takes beside its bytes: its place in a chunk, and what the allocator and shared bytes add.
const ENTRY_OVERHEAD: usize = 128;
/// What a row takes beside its entries.
const ROW_OVERHEAD: usize = 256;

/// What all keys of a row begin with.
type Prefix = Arc<[u8]>;

/// Writes that a row gathers before they are put in order.
const RECENT_MAX: usize = 8;

/// One row. Who writes to a row that is in the row cache need not look at it here: changes are left where they come
/// in, and put in order many at a time or when somebody reads.
#[derive(Default)]
struct Row {
    /// Readers clone it, which is quick.
    map: Arc<EntryMap>,
    /// Writes after all that the map has, oldest first.
    recent: Vec<Changes>,
}

impl Row {
    /// Puts recent changes in order. Returns how many bytes that has made free.
    fn settle(&mut self) -> usize {
        if self.recent.is_empty() {
            return 0;
        }
        let mut changes: Vec<EntryChange> = self.recent.drain(..).flatten().collect();
        // Of one key, the later stay behind the earlier.
        changes.sort_by(|(a, _), (b, _)| a.cmp(b));
        let map = Arc::make_mut(&mut self.map);
        changes.into_iter().filter_map(|change| map.put(change)).map(|old| bytes_of(&old)).sum()
    }
}

/// Rows by the prefix of their keys.
#[derive(Default)]
pub struct Rows {
    /// Every row twice: to find one is four times as fast here as by its order.
    by_prefix: RwLock<HashMap<Prefix, Arc<Mutex<Row>>>>,
    in_order: RwLock<BTreeMap<Prefix, Arc<Mutex<Row>>>>,
    bytes: AtomicIsize,
}

impl Rows {
    /// Makes changes to one row, all at once for whoever reads it. Returns how many bytes that takes, or makes free.
    pub fn apply(&self, prefix: &[u8], changes: Changes) -> isize {
        let (row, mut grown) = self.row_or_make(prefix);
        let mut row = row.lock();
        grown += changes.bytes() + changes.left() * ENTRY_OVERHEAD;
        row.recent.push(changes);
        let freed = if row.recent.len() >= RECENT_MAX { row.settle() } else { 0 };
        let grown = isize::try_from(grown).unwrap_or(isize::MAX) - isize::try_from(freed).unwrap_or(0);
        self.bytes.fetch_add(grown, Ordering::Relaxed);
        grown
    }

    fn row_or_make(&self, prefix: &[u8]) -> (Arc<Mutex<Row>>, usize) {
        if let Some(row) = self.by_prefix.read().get(prefix) {
            return (row.clone(), 0);
        }
        let mut by_prefix = self.by_prefix.write();
        if let Some(row) = by_prefix.get(prefix) {
            return (row.clone(), 0);
        }
        let (prefix, row) = (Prefix::from(prefix), Arc::new(Mutex::new(Row::default())));
        self.in_order.write().insert(prefix.clone(), row.clone());
        by_prefix.insert(prefix.clone(), row.clone());
        (row, prefix.len() + ROW_OVERHEAD)
    }

    /// What is known of a row.
    pub fn get(&self, prefix: &[u8]) -> Option<Arc<EntryMap>> {
        let row = self.by_prefix.read().get(prefix).cloned()?;
        Some(self.map_of(&row))
    }

    fn map_of(&self, row: &Mutex<Row>) -> Arc<EntryMap> {
        let mut row = row.lock();
        // The memtable's own count keeps these bytes: it only errs on the safe side.
        let freed = isize::try_from(row.settle()).unwrap_or(0);
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
        row.map.clone()
    }

    /// The first row from `low` on and before `high`, which may be open.
    pub fn first(&self, low: &[u8], high: Option<&[u8]>) -> Option<Vec<u8>> {
        let rows = self.in_order.read();
        let high = high.map_or(Bound::Unbounded, Bound::Excluded);
        if matches!(high, Bound::Excluded(high) if high <= low) {
            return None;
        }
        rows.range::<[u8], _>((Bound::Included(low), high)).next().map(|(prefix, _)| prefix.to_vec())
    }

    /// Every row, in order.
    pub fn all(&self) -> Vec<(Prefix, Arc<EntryMap>)> {
        let rows = self.in_order.read();
        rows.iter().map(|(prefix, row)| (prefix.clone(), self.map_of(row))).collect()
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> isize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn is_empty(&self) -> bool {
        self.by_prefix.read().is_empty()
    }
}

fn bytes_of((key, value): &EntryChange) -> usize {
    key.len() + value.as_ref().map_or(0, bytes::Bytes::len) + ENTRY_OVERHEAD
}
