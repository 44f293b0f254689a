//! Rows of one generation of a column family, in ring order.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};

use super::entry_map::EntryMap;
use crate::storage::embedded::log::Changes;
use crate::storage::embedded::packed::{PackedEntries, SLOT_BYTES};
use crate::util::{prefetch, prefetch_all};

/// What a row takes beside its entries: its first chunk, what holds that, its places in two maps of rows, and what the
/// allocator adds.
const ROW_OVERHEAD: usize = size_of::<PackedEntries>() + 242;

/// What all keys of a row begin with.
type Prefix = Arc<[u8]>;

/// One row. Readers clone the map, which is quick.
type Row = Mutex<EntryMap>;

/// Where a memtable has a row, so that who writes to it again need not look for it. It does not keep the row.
#[derive(Debug, Default)]
pub struct RowPlace {
    row: Mutex<(u64, Weak<Row>)>,
    /// Where in memory the row was, its first entries and their slots, to bring them near. They may have moved since.
    addresses: [AtomicUsize; 3],
}

impl RowPlace {
    /// The row in a memtable of this number, if that is the last that was noted.
    fn get(&self, memtable: u64) -> Option<Arc<Row>> {
        let place = self.row.lock();
        if place.0 == memtable { place.1.upgrade() } else { None }
    }

    fn set(&self, memtable: u64, row: &Arc<Row>) {
        *self.row.lock() = (memtable, Arc::downgrade(row));
    }

    fn note_addresses(&self, row: &Arc<Row>, map: &EntryMap) {
        let [entries, slots] = map.addresses();
        for (noted, address) in self.addresses.iter().zip([Arc::as_ptr(row).addr(), entries, slots]) {
            // Who reads them need not have the line anew when nothing has changed.
            if noted.load(Ordering::Relaxed) != address {
                noted.store(address, Ordering::Relaxed);
            }
        }
    }

    /// Brings near what is touched first by who is going to write to the row, so that it need not wait for one after
    /// another.
    pub fn prefetch(&self) {
        let [row, entries, _] = self.addresses.each_ref().map(|address| address.load(Ordering::Relaxed));
        prefetch(row);
        prefetch_all(entries, size_of::<PackedEntries>());
    }

    /// Brings near the slot where the first change is likely to belong.
    pub fn prefetch_slot(&self, likely: usize) {
        prefetch(self.addresses[2].load(Ordering::Relaxed).wrapping_add(likely * SLOT_BYTES));
    }
}

/// Rows by the prefix of their keys.
#[derive(Default)]
pub struct Rows {
    /// Every row twice: to find one is four times as fast here as by its order.
    by_prefix: RwLock<HashMap<Prefix, Arc<Row>>>,
    in_order: RwLock<BTreeMap<Prefix, Arc<Row>>>,
    bytes: AtomicIsize,
}

impl Rows {
    /// Makes changes to one row, all at once for whoever reads it. `memtable` is the number of the one that these are
    /// the rows of, `known` where one has the row and where in it to look first. Returns how many bytes that takes, or
    /// makes free.
    pub fn apply(
        &self,
        memtable: u64,
        prefix: &[u8],
        changes: Changes<'_>,
        known: Option<(&RowPlace, usize)>,
    ) -> isize {
        let mut likely = known.map_or(0, |(_, likely)| likely);
        let (row, mut grown) = match known.and_then(|(place, _)| place.get(memtable)) {
            Some(row) => (row, 0),
            None => {
                let made = self.row_or_make(prefix);
                if let Some((place, _)) = known {
                    place.set(memtable, &made.0);
                }
                made
            }
        };
        let mut map = row.lock();
        map.prefetch(likely, changes.len());
        for (key, value) in changes {
            let (place, by) = map.put(key, value, likely);
            likely = place + 1;
            grown += by;
        }
        if let Some((place, _)) = known {
            place.note_addresses(&row, &map);
        }
        if grown != 0 {
            self.bytes.fetch_add(grown, Ordering::Relaxed);
        }
        grown
    }

    /// What several hold together, newest first; nobody writes to them any more. Rows that only one of them has are
    /// shared with it. Below the lowest there is nothing that a removal could hide.
    pub fn merged(newest_first: &[Arc<Rows>], is_lowest: bool) -> Rows {
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

    fn row_or_make(&self, prefix: &[u8]) -> (Arc<Row>, isize) {
        if let Some(row) = self.by_prefix.read().get(prefix) {
            return (row.clone(), 0);
        }
        let mut by_prefix = self.by_prefix.write();
        if let Some(row) = by_prefix.get(prefix) {
            return (row.clone(), 0);
        }
        let (prefix, row) = (Prefix::from(prefix), Arc::<Row>::default());
        self.in_order.write().insert(prefix.clone(), row.clone());
        by_prefix.insert(prefix.clone(), row.clone());
        (row, (prefix.len() + ROW_OVERHEAD).cast_signed())
    }

    /// What is known of a row.
    pub fn get(&self, prefix: &[u8]) -> Option<EntryMap> {
        let row = self.by_prefix.read().get(prefix).cloned()?;
        let map = row.lock().clone();
        Some(map)
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
    pub fn all(&self) -> Vec<(Prefix, EntryMap)> {
        let rows = self.in_order.read();
        rows.iter().map(|(prefix, row)| (prefix.clone(), row.lock().clone())).collect()
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> isize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn is_empty(&self) -> bool {
        self.by_prefix.read().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::embedded::log::ChangeList;

    fn keys(rows: &Rows) -> Vec<Vec<u8>> {
        rows.get(b"r").map_or(Vec::new(), |map| map.iter().map(|(key, _)| key.to_vec()).collect())
    }

    #[test]
    fn a_place_is_good_for_one_memtable_and_keeps_nothing_of_it() {
        let place = RowPlace::default();
        let put = |rows: &Rows, memtable, key: &[u8]| {
            let mut changes = ChangeList::default();
            changes.add(key, Some(b"value"));
            rows.apply(memtable, b"r", changes.iter(), Some((&place, 9)))
        };
        let earlier = Rows::default();
        let first = put(&earlier, 0, b"a");
        assert!(put(&earlier, 0, b"b") < first, "the row is there already");
        let row = earlier.by_prefix.read()[&b"r"[..]].clone();
        let noted = place.addresses.each_ref().map(|address| address.load(Ordering::Relaxed));
        assert_eq!((noted[0], &noted[1..]), (Arc::as_ptr(&row).addr(), &row.lock().addresses()[..]));
        let kept = Arc::downgrade(&row);
        drop(row);
        let later = Rows::default();
        put(&later, 1, b"c");
        assert_eq!((keys(&earlier), keys(&later)), (vec![b"a".to_vec(), b"b".to_vec()], vec![b"c".to_vec()]));
        drop(later);
        assert!(place.get(1).is_none());
        drop(earlier);
        assert!(kept.upgrade().is_none());
    }
}
