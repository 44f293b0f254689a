//! The rows of one generation of a column family in a memtable, in the order of the ring.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use parking_lot::{Mutex, RwLock};

use super::entry_map::EntryMap;
use crate::log::Changes;
use crate::packed::PackedEntries;
use base::util::KeyMap;

/// Bytes of memory for a row besides its entries: its first chunk and the `Arc` of it, its places in the two maps of
/// rows, and what the allocator adds.
const ROW_OVERHEAD: usize = size_of::<PackedEntries>() + 242;

/// The prefix of all keys of a row.
type Prefix = Arc<[u8]>;

/// One row. Readers clone the map, which is cheap, so they hold the lock only briefly.
type Row = Mutex<EntryMap>;

/// Rows by the prefix of their keys.
#[derive(Default)]
pub(crate) struct Rows {
    /// Each row is in both maps. Finding one by hash is four times as fast as in the sorted map.
    by_prefix: RwLock<KeyMap<Prefix, Arc<Row>>>,
    in_order: RwLock<BTreeMap<Prefix, Arc<Row>>>,
    bytes: AtomicIsize,
}

impl Rows {
    /// Applies changes to one row. Readers see all of them or none. Returns by how many bytes the memtable has grown or
    /// shrunk.
    pub(crate) fn apply(&self, prefix: &[u8], changes: Changes<'_>) -> isize {
        let (row, mut grown) = self.row_or_create(prefix);
        let mut map = row.lock();
        let mut likely = changes.likely;
        for (key, value) in changes {
            let (place, by) = map.put(key, value, likely);
            likely = place + 1;
            grown += by;
        }
        if grown != 0 {
            self.bytes.fetch_add(grown, Ordering::Relaxed);
        }
        grown
    }

    /// Merges the rows of several frozen memtables. A row that is in only one of them is shared with it. If
    /// `is_lowest`, removals are dropped, since no older entries are left that they could hide.
    pub(crate) fn merged(newest_first: &[Arc<Rows>], is_lowest: bool) -> Rows {
        let mut oldest_first = newest_first.iter().rev();
        let mut merged = oldest_first.next().map_or_else(BTreeMap::new, |rows| rows.in_order.read().clone());
        for newer in oldest_first {
            for (prefix, row) in newer.in_order.read().iter() {
                match merged.get_mut(prefix) {
                    Some(below) => {
                        let mut map = below.lock().clone();
                        map.put_all(&row.lock());
                        *below = Arc::new(Mutex::new(map));
                    }
                    None => {
                        merged.insert(prefix.clone(), row.clone());
                    }
                }
            }
        }
        if is_lowest {
            merged.retain(|_, row| {
                let left = row.lock().without_removals();
                if let Some(left) = left {
                    *row = Arc::new(Mutex::new(left));
                }
                !row.lock().is_empty()
            });
        }
        let bytes = |(prefix, row): (&Prefix, &Arc<Row>)| row.lock().bytes() + prefix.len() + ROW_OVERHEAD;
        let bytes = merged.iter().map(bytes).sum::<usize>().cast_signed();
        Rows {
            by_prefix: RwLock::new(
                merged.iter().map(|(prefix, row)| (prefix.clone(), row.clone())).collect(),
            ),
            in_order: RwLock::new(merged),
            bytes: AtomicIsize::new(bytes),
        }
    }

    fn row_or_create(&self, prefix: &[u8]) -> (Arc<Row>, isize) {
        if let Some(row) = self.by_prefix.read().get(prefix) {
            return (row.clone(), 0);
        }
        let mut by_prefix = self.by_prefix.write();
        if let Some(row) = by_prefix.get(prefix) {
            return (row.clone(), 0);
        }
        let (prefix, row) = (Prefix::from(prefix), Arc::<Row>::default());
        let in_order = self.in_order.write().insert(prefix.clone(), row.clone());
        let by_hash = by_prefix.insert(prefix.clone(), row.clone());
        debug_assert!(in_order.is_none() && by_hash.is_none(), "scans and reads would find different rows");
        (row, (prefix.len() + ROW_OVERHEAD).cast_signed())
    }

    /// Returns the entries of a row.
    pub(crate) fn get(&self, prefix: &[u8]) -> Option<EntryMap> {
        let row = self.by_prefix.read().get(prefix).cloned()?;
        let map = row.lock().clone();
        Some(map)
    }

    /// Returns the first row from `low`, inclusive, to `high`, exclusive or unbounded.
    pub(crate) fn first(&self, low: &[u8], high: Option<&[u8]>) -> Option<Vec<u8>> {
        let rows = self.in_order.read();
        let high = high.map_or(Bound::Unbounded, Bound::Excluded);
        if matches!(high, Bound::Excluded(high) if high <= low) {
            return None;
        }
        rows.range::<[u8], _>((Bound::Included(low), high)).next().map(|(prefix, _)| prefix.to_vec())
    }

    /// Returns all rows in the order of the ring.
    pub(crate) fn all(&self) -> Vec<(Prefix, EntryMap)> {
        let rows = self.in_order.read();
        rows.iter().map(|(prefix, row)| (prefix.clone(), row.lock().clone())).collect()
    }

    /// Returns the approximate memory that the rows use, in bytes.
    pub(crate) fn bytes(&self) -> isize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_prefix.read().is_empty()
    }
}
