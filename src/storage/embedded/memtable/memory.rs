//! The memtables of a store: the one that is written to, and those that are frozen.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use parking_lot::RwLock;

use super::entry_map::EntryMap;
use super::rows::RowPlace;
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

    /// Makes changes. With each record comes where its row is in the memtable, and where in it the first change is
    /// likely to belong, if that is known. The caller holds the locks of the rows, and nobody freezes meanwhile.
    pub fn apply<'a>(&self, records: impl Iterator<Item = (RowRecord<'a>, Option<(&'a RowPlace, usize)>)>) {
        let active = self.active.load();
        let mut grown = 0;
        for (record, known) in records {
            let (number, prefix, changes) = (active.number(), record.prefix, record.changes);
            grown += active.with_rows(record.family, |rows| rows.apply(number, prefix, changes, known));
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
        let next = Arc::new(Memtable::after(&self.active.load()));
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
        let next = Arc::new(Memtable::after(&self.active.load()));
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
