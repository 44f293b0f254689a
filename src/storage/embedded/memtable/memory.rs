//! The memtables of a store: the one that is written to, and the one that is being flushed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use fjall::{Database, Snapshot};
use parking_lot::RwLock;

use super::entry_map::EntryMap;
use super::rows::RowPlace;
use super::table::Memtable;
use crate::storage::embedded::log::RowRecord;

/// The memtables.
#[derive(Default)]
pub struct Memory {
    /// The one that is written to. Another takes its place while nobody writes, and under the lock of `frozen`.
    active: ArcSwap<Memtable>,
    /// The one that is being flushed.
    frozen: RwLock<Option<Arc<Memtable>>>,
    /// What the active memtable takes, for those who only want to know that.
    active_bytes: AtomicUsize,
}

/// Memory and engine at one moment. What is written later to a row may be seen, but never half of a change to it,
/// and never what is older than what the engine's part shows.
pub struct View {
    active: Arc<Memtable>,
    frozen: Option<Arc<Memtable>>,
    pub snapshot: Snapshot,
}

impl Memory {
    /// Looks at memory and engine at once.
    ///
    /// The lock is held over both: what is frozen after this cannot be flushed before the engine has been looked at,
    /// so its snapshot holds nothing that is newer than the memtables.
    pub fn view(&self, database: &Database) -> View {
        let frozen = self.frozen.read();
        let snapshot = database.snapshot();
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

    pub fn frozen(&self) -> Option<Arc<Memtable>> {
        self.frozen.read().clone()
    }

    /// Starts a new memtable. The caller sees to it that nobody writes meanwhile, and that nothing is frozen yet.
    pub fn freeze(&self) {
        let mut frozen = self.frozen.write();
        let next = Arc::new(Memtable::after(&self.active.load()));
        *frozen = Some(self.active.swap(next));
        self.active_bytes.store(0, Ordering::Relaxed);
    }

    /// Lets go of what the engine's tables now hold.
    pub fn let_go(&self) {
        let flushed = self.frozen.write().take();
        // Many entries are freed here, and not under the lock.
        drop(flushed);
    }

    /// Forgets a generation of a column family. Nobody writes to it or flushes it meanwhile.
    pub fn forget(&self, family: u64) {
        self.active.load().forget(family);
        if let Some(frozen) = self.frozen() {
            frozen.forget(family);
        }
    }

    /// Whether a generation has entries here.
    pub fn holds(&self, family: u64) -> bool {
        let frozen = self.frozen.read();
        let holds = |table: &Arc<Memtable>| table.rows(family).is_some_and(|rows| !rows.is_empty());
        holds(&self.active.load()) || frozen.as_ref().is_some_and(holds)
    }

    /// About how many bytes wait to be flushed.
    pub fn bytes(&self) -> usize {
        let frozen = self.frozen.read();
        self.active.load().bytes() + frozen.as_ref().map_or(0, |frozen| frozen.bytes())
    }
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
        [Some(&self.active), self.frozen.as_ref()].into_iter().flatten().map(|table| &**table)
    }
}
