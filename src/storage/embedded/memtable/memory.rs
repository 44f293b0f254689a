//! The memtables of a store: the one that is written to, and those that are frozen.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use parking_lot::RwLock;

use super::entry_map::EntryMap;
use super::table::Memtable;
use crate::storage::embedded::log::RowRecord;
use crate::storage::embedded::tables::Snapshot;

/// How many frozen memtables a store in memory reads from before some are merged.
const LAYERS_MAX: usize = 8;

/// Memtables that nobody writes to, newest first. In a durable store there is at most one: that which is being flushed.
pub type Frozen = Arc<[Arc<Memtable>]>;

/// The memtables.
#[derive(Default)]
pub struct Memory {
    /// The one that is written to. Another takes its place while nobody writes, and under the lock of `frozen`.
    active: ArcSwap<Memtable>,
    frozen: RwLock<Frozen>,
    /// What the active memtable takes, for those who only want to know that.
    active_bytes: AtomicUsize,
}

/// Memory and tables at one moment. What is written later to a row may be seen, but never half of a change to it,
/// and never what is older than what the tables' part shows.
pub struct View {
    active: Arc<Memtable>,
    frozen: Frozen,
    /// `None` in a store that has no tables.
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Memory {
    /// Looks at memory and tables at once.
    ///
    /// The lock is held over both: what is frozen after this cannot be flushed before the tables have been looked at,
    /// so their snapshot holds nothing that is newer than the memtables.
    pub fn view(&self, tables: impl FnOnce() -> Option<Arc<Snapshot>>) -> View {
        let frozen = self.frozen.read();
        let snapshot = tables();
        View { active: self.active.load_full(), frozen: frozen.clone(), snapshot }
    }

    /// Makes changes. The caller holds the locks of the rows, and nobody freezes meanwhile.
    pub fn apply<'a>(&self, records: impl Iterator<Item = RowRecord<'a>>) {
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

    /// About how many bytes the active memtable takes.
    pub fn active_bytes(&self) -> usize {
        self.active_bytes.load(Ordering::Relaxed)
    }

    /// Memtables that are frozen, newest first.
    pub fn frozen(&self) -> Frozen {
        self.frozen.read().clone()
    }

    /// Starts a new memtable. The caller sees to it that nobody writes meanwhile.
    pub fn freeze(&self) {
        let mut frozen = self.frozen.write();
        let next = Arc::<Memtable>::default();
        let full = self.active.swap(next);
        *frozen = std::iter::once(full).chain(frozen.iter().cloned()).collect();
        self.active_bytes.store(0, Ordering::Relaxed);
    }

    /// The same, unless the active memtable is empty.
    pub fn freeze_if_used(&self) {
        if !self.active.load().is_empty() {
            self.freeze();
        }
    }

    /// Merges frozen memtables that no snapshot shares, where there are more than `LAYERS_MAX` of all. Only for a store
    /// without tables. Reads and writes go on meanwhile; when memtables are frozen or replaced meanwhile, nothing is merged.
    pub fn merge_unshared(&self) {
        let earlier = self.frozen();
        // A snapshot or a read that has the whole list shares all memtables of it.
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
        let merged = Frozen::from(merged);
        let mut frozen = self.frozen.write();
        if Arc::ptr_eq(&frozen, &earlier) {
            *frozen = merged;
        }
    }

    /// Forgets what the tables now hold.
    pub fn let_go(&self) {
        let flushed = std::mem::take(&mut *self.frozen.write());
        // Many entries are freed here, and not under the lock.
        drop(flushed);
    }

    /// Puts others in the place of all memtables, and an empty one before them. Returns the earlier ones. The caller sees
    /// to it that nobody writes meanwhile.
    pub fn replace(&self, others: Frozen) -> (Arc<Memtable>, Frozen) {
        let mut frozen = self.frozen.write();
        let next = Arc::<Memtable>::default();
        self.active_bytes.store(0, Ordering::Relaxed);
        (self.active.swap(next), std::mem::replace(&mut *frozen, others))
    }

    /// Forgets a generation of a column family. Nobody writes to it or flushes it meanwhile.
    pub fn forget(&self, family: u64) {
        let mut frozen = self.frozen.write();
        self.active.load().forget(family);
        // Others may hold a frozen one: they keep what it has.
        *frozen = frozen.iter().map(|table| Memtable::without(table, family)).collect();
    }

    /// Whether a generation has entries here.
    pub fn holds(&self, family: u64) -> bool {
        let frozen = self.frozen.read();
        let holds = |table: &Arc<Memtable>| table.rows(family).is_some_and(|rows| !rows.is_empty());
        holds(&self.active.load()) || frozen.iter().any(holds)
    }

    /// About how many bytes all memtables take.
    pub fn bytes(&self) -> usize {
        let frozen = self.frozen.read();
        self.active.load().bytes() + frozen.iter().map(|table| table.bytes()).sum::<usize>()
    }
}

/// The neighbours that are worth merging: memtables that no other list has, each at most twice as large as all newer ones
/// of its group.
fn groups_to_merge(layers: &[Arc<Memtable>]) -> Vec<Range<usize>> {
    let is_shared = |layer: &Arc<Memtable>| Arc::strong_count(layer) > 1;
    let mut groups = Vec::new();
    let mut start = 0;
    while start < layers.len() {
        let (mut end, mut bytes) = (start, usize::MAX / 2);
        while let Some(layer) = layers.get(end).filter(|layer| !is_shared(layer))
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

impl View {
    /// What memory knows of a row, newest first.
    pub fn row(&self, family: u64, prefix: &[u8]) -> Vec<EntryMap> {
        // A row in neither costs no memory.
        self.memtables().filter_map(|table| table.rows(family)?.get(prefix)).collect()
    }

    /// The first row of which memory knows something, from `low` on and before `high`.
    pub fn first_row(&self, family: u64, low: &[u8], high: Option<&[u8]>) -> Option<Vec<u8>> {
        self.memtables().filter_map(|table| table.rows(family)?.first(low, high)).min()
    }

    fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        std::iter::once(&*self.active).chain(self.frozen.iter().map(|table| &**table))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::storage::embedded::log::ChangeList;

    /// Family, row and key of an entry.
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

    /// All values, as a read finds them.
    fn entries(view: &View) -> BTreeMap<Place, u8> {
        let mut found = BTreeMap::new();
        for (family, row) in (0..FAMILIES).flat_map(|family| (0..ROWS).map(move |row| (family, row))) {
            let layers = view.row(family, &[row]);
            for key in 0..KEYS {
                let value = layers.iter().find_map(|layer| layer.get(&[key])).flatten();
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
        fn merging_changes_no_answer(ops in prop::collection::vec(op(), 0..150)) {
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
                let view = View { active: Arc::default(), frozen: frozen.clone(), snapshot: None };
                prop_assert_eq!(&entries(&view), expected);
            }
            // Without snapshots few layers are left, and as many bytes are counted as there are.
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
