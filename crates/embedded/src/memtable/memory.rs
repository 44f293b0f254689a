//! The memtables of a store: the active one, which is written to, and the frozen ones.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use parking_lot::RwLock;
use smallvec::SmallVec;

use super::entry_map::EntryMap;
use super::table::Memtable;
use crate::log::RowRecord;
use crate::tables::Snapshot;

/// Frozen memtables that a store in memory may have before some are merged.
const LAYERS_MAX: usize = 8;

/// Memtables that no longer change, newest first. In a durable store there is at most one, the one that is being
/// flushed.
pub(crate) type Frozen = Arc<[Arc<Memtable>]>;

/// The memtables.
#[derive(Default)]
pub(crate) struct Memory {
    /// The memtable that is written to. It is only replaced between two writes, and under the lock of `frozen`.
    active: ArcSwap<Memtable>,
    frozen: RwLock<Frozen>,
    /// Size of the active memtable, in bytes. Kept here so that it can be read without loading the memtable.
    active_bytes: AtomicUsize,
}

/// A view of memtables and tables. Later writes to a row may be visible, but each of them completely or not at all, and
/// the memtables are never older than the tables.
pub(crate) struct MemoryView {
    active: Arc<Memtable>,
    frozen: Frozen,
    /// `None` in a store in memory.
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Memory {
    /// Returns a view of memtables and tables at one time. `tables` returns the snapshot of the tables.
    ///
    /// `tables` is called under the lock: a memtable that is frozen later cannot be flushed before, so the snapshot of
    /// the tables has no entries that are newer than these memtables.
    pub(crate) fn view(&self, tables: impl FnOnce() -> Option<Arc<Snapshot>>) -> MemoryView {
        let frozen = self.frozen.read();
        let snapshot = tables();
        MemoryView { active: self.active.load_full(), frozen: frozen.clone(), snapshot }
    }

    /// Applies changes to the active memtable. The caller holds the locks of the rows, and prevents a freeze.
    pub(crate) fn apply<'a>(&self, records: impl Iterator<Item = RowRecord<'a>>) {
        let active = self.active.load();
        let mut grown = 0;
        for RowRecord { family, prefix, changes } in records {
            grown += active.with_rows(family, |rows| rows.apply(prefix, changes));
        }
        if grown != 0 {
            active.add_bytes(grown);
            self.active_bytes.store(active.bytes(), Ordering::Relaxed);
        }
    }

    /// Returns the approximate size of the active memtable in bytes.
    pub(crate) fn active_bytes(&self) -> usize {
        self.active_bytes.load(Ordering::Relaxed)
    }

    /// Returns the frozen memtables, newest first.
    pub(crate) fn frozen(&self) -> Frozen {
        self.frozen.read().clone()
    }

    /// Freezes the active memtable and starts a new one. The caller prevents writes.
    pub(crate) fn freeze(&self) {
        let mut frozen = self.frozen.write();
        let next = Arc::<Memtable>::default();
        let full = self.active.swap(next);
        *frozen = std::iter::once(full).chain(frozen.iter().cloned()).collect();
        self.active_bytes.store(0, Ordering::Relaxed);
    }

    /// Freezes the active memtable unless it is empty. The caller prevents writes.
    pub(crate) fn freeze_if_used(&self) {
        if !self.active.load().is_empty() {
            self.freeze();
        }
    }

    /// Merges frozen memtables that no snapshot shares, if there are more than `LAYERS_MAX` frozen ones. Only for a
    /// store in memory. Reads and writes continue during the merge. Its result is discarded if memtables are frozen or
    /// replaced before it ends.
    pub(crate) fn merge_unshared(&self) {
        let earlier = self.frozen();
        // A snapshot or a read that has this list shares all its memtables.
        if earlier.len() <= LAYERS_MAX || Arc::strong_count(&earlier) > 2 {
            return;
        }
        let groups = groups_to_merge(&earlier);
        if groups.is_empty() {
            return;
        }
        let mut merged = Vec::new();
        let mut at = 0;
        for group in groups {
            merged.extend_from_slice(&earlier[at..group.start]);
            let is_lowest = group.end == earlier.len();
            merged.push(Arc::new(Memtable::merged(&earlier[group.clone()], is_lowest)));
            at = group.end;
        }
        merged.extend_from_slice(&earlier[at..]);
        debug_assert!(
            at <= earlier.len() && merged.len() < earlier.len(),
            "a memtable was merged twice or lost"
        );
        let merged = Frozen::from(merged);
        let mut frozen = self.frozen.write();
        if Arc::ptr_eq(&frozen, &earlier) {
            *frozen = merged;
        }
    }

    /// Drops the frozen memtables, after they have been flushed.
    pub(crate) fn drop_frozen(&self) {
        let flushed = std::mem::take(&mut *self.frozen.write());
        // The entries are freed here, after the lock was released, since that can take long.
        drop(flushed);
    }

    /// Replaces all memtables by an empty active one and these frozen ones. Returns the earlier memtables. The caller
    /// prevents writes.
    pub(crate) fn replace(&self, others: Frozen) -> (Arc<Memtable>, Frozen) {
        let mut frozen = self.frozen.write();
        let next = Arc::<Memtable>::default();
        self.active_bytes.store(0, Ordering::Relaxed);
        (self.active.swap(next), std::mem::replace(&mut *frozen, others))
    }

    /// Drops the rows of a generation of a column family. The caller prevents writes to it and its flush.
    pub(crate) fn forget(&self, family: u64) {
        let mut frozen = self.frozen.write();
        self.active.load().forget(family);
        // Readers and snapshots may share a frozen memtable, so a copy without the generation replaces it.
        *frozen = frozen.iter().map(|table| Memtable::without(table, family)).collect();
    }

    /// Returns whether a generation has entries in memtables.
    pub(crate) fn holds(&self, family: u64) -> bool {
        let frozen = self.frozen.read();
        let holds = |table: &Arc<Memtable>| table.rows(family).is_some_and(|rows| !rows.is_empty());
        holds(&self.active.load()) || frozen.iter().any(holds)
    }

    /// Returns whether no memtable has entries.
    pub(crate) fn is_empty(&self) -> bool {
        let frozen = self.frozen.read();
        self.active.load().is_empty() && frozen.iter().all(|table| table.is_empty())
    }

    /// Returns the approximate size of all memtables in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let frozen = self.frozen.read();
        self.active.load().bytes() + frozen.iter().map(|table| table.bytes()).sum::<usize>()
    }
}

/// Returns groups of adjacent memtables to merge. None of them is shared, and each is at most twice as large as all
/// newer ones of its group together.
fn groups_to_merge(layers: &[Arc<Memtable>]) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    while start < layers.len() {
        let (mut end, mut bytes) = (start, usize::MAX / 2);
        while let Some(layer) = layers.get(end).filter(|layer| Arc::strong_count(layer) == 1)
            && layer.bytes() <= 2 * bytes
        {
            bytes = if end == start { layer.bytes() } else { bytes + layer.bytes() };
            end += 1;
        }
        if end > start + 1 {
            groups.push(start..end);
        }
        start = end.max(start + 1);
    }
    groups
}

impl MemoryView {
    /// Returns the entries of a row in each memtable, newest first.
    pub(crate) fn row(&self, family: u64, prefix: &[u8]) -> SmallVec<[EntryMap; 1]> {
        self.memtables().filter_map(|table| table.rows(family)?.get(prefix)).collect()
    }

    /// Returns the first row in memtables from `low`, inclusive, to `high`, exclusive.
    pub(crate) fn first_row(&self, family: u64, low: &[u8], high: Option<&[u8]>) -> Option<Vec<u8>> {
        self.memtables().filter_map(|table| table.rows(family)?.first(low, high)).min()
    }

    fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        std::iter::once(&*self.active).chain(self.frozen.iter().map(|table| &**table))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::log::ChangeList;

    /// Column family, row and key of an entry.
    type Place = (u64, u8, u8);

    const FAMILIES: u64 = 3;
    const ROWS: u8 = 4;
    const KEYS: u8 = 6;

    #[derive(Debug, Clone)]
    enum Op {
        Put(Place, Option<u8>),
        Freeze,
        Snapshot,
        /// Drops the snapshot at this place, if there is one.
        Drop(usize),
        Merge,
    }

    fn op() -> impl Strategy<Value = Op> {
        let place = (0..FAMILIES, 0..ROWS, 0..KEYS);
        prop_oneof![
            12 => (place, prop::option::of(any::<u8>())).prop_map(|(place, value)| Op::Put(place, value)),
            8 => Just(Op::Freeze),
            2 => Just(Op::Snapshot),
            2 => (0usize..3).prop_map(Op::Drop),
            2 => Just(Op::Merge),
        ]
    }

    fn put(memory: &Memory, (family, row, key): Place, value: Option<u8>) {
        let mut changes = ChangeList::default();
        changes.add(&[key], value.as_ref().map(std::slice::from_ref));
        let record = RowRecord { family, prefix: &[row], changes: changes.iter() };
        memory.apply(std::iter::once(record));
    }

    /// Returns all values as a read finds them.
    fn entries(view: &MemoryView) -> BTreeMap<Place, u8> {
        let mut found = BTreeMap::new();
        for (family, row) in (0..FAMILIES).flat_map(|family| (0..ROWS).map(move |row| (family, row))) {
            let layers = view.row(family, &[row]);
            for key in 0..KEYS {
                let value = layers.iter().find_map(|layer| layer.get(&[key], &Cell::new(0))).flatten();
                if let Some(value) = value {
                    found.insert((family, row, key), value.as_slice()[0]);
                    assert_eq!(view.first_row(family, &[row], Some(&[row + 1])), Some(vec![row]));
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn merging_does_not_change_reads(ops in prop::collection::vec(op(), 0..150)) {
            let memory = Memory::default();
            let mut expected = BTreeMap::new();
            let mut snapshots: Vec<(Frozen, BTreeMap<Place, u8>)> = Vec::new();
            for op in ops {
                match op {
                    Op::Put(place, value) => {
                        put(&memory, place, value);
                        match value {
                            Some(value) => expected.insert(place, value),
                            None => expected.remove(&place),
                        };
                    }
                    Op::Freeze => memory.freeze_if_used(),
                    Op::Snapshot => {
                        memory.freeze_if_used();
                        snapshots.push((memory.frozen(), expected.clone()));
                    }
                    Op::Drop(at) if at < snapshots.len() => drop(snapshots.remove(at)),
                    Op::Drop(_) => {}
                    Op::Merge => memory.merge_unshared(),
                }
                prop_assert_eq!(&entries(&memory.view(|| None)), &expected);
            }
            for (frozen, expected) in &snapshots {
                let view = MemoryView { active: Arc::default(), frozen: frozen.clone(), snapshot: None };
                prop_assert_eq!(&entries(&view), expected);
            }
            // Without snapshots few layers are left, and the counted size is exact.
            snapshots.clear();
            memory.merge_unshared();
            let left = memory.frozen();
            prop_assert!(left.len() <= LAYERS_MAX, "{} layers", left.len());
            for rows in left.iter().flat_map(|table| table.families()) {
                let entries: usize = rows.1.all().iter().map(|(_, map)| map.bytes()).sum();
                prop_assert!(rows.1.bytes() >= entries.cast_signed());
            }
        }
    }
}
