//! Rows that are read or written often, kept whole in memory.
//!
//! Tables answer a point read in one or two microseconds and open a range in five; a cached row answers either in a
//! fraction of one, and shows a write what it replaces. A row is loaded on its second touch within a while, so that rows
//! that are written once, or scanned past, cost nothing. Whoever loads or changes a cached row holds its row lock, and a
//! change enters the cache after the log has taken it: so a cached row is never older than what was acknowledged, and
//! readers see a row's mutation whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use smallvec::SmallVec;

use super::key::RowPrefix;
use super::log::{Change, Changes};
use super::packed::PackedEntries;
use super::value;
use crate::storage::StoreError;
use crate::util::KeyHasher;

/// Rows of more entries than this are left to memtables and tables.
const ENTRIES_MAX: usize = 1024;
/// Rows of more bytes than this are left to memtables and tables.
const ROW_BYTES_MAX: usize = 64 * 1024;
/// What a row costs beside its entries and twice its key: itself, its place in the cache, and what the allocator adds.
const OVERHEAD_BYTES: usize = size_of::<CachedRow>() + 144;
/// Bytes of a key that is kept beside its row's place.
const SHORT_KEY: usize = 24;
/// Rows that touches are remembered of: a bit each.
const SEEN_BITS: usize = 1 << 20;

/// A row of one generation of a column family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowId {
    /// Column family and generation.
    pub family: u64,
    pub key: Bytes,
}

/// The same as the cache keeps it: short keys lie beside the row's place, where they are compared at no cost.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct KeptId {
    family: u64,
    key: SmallVec<[u8; SHORT_KEY]>,
}

impl Equivalent<KeptId> for RowId {
    fn equivalent(&self, kept: &KeptId) -> bool {
        self.family == kept.family && self.key[..] == kept.key[..]
    }
}

/// All entries of a row.
#[derive(Debug)]
pub struct RowContent {
    pub entries: PackedEntries,
    /// A cell with a later timestamp wins over all of it.
    pub newest: i64,
}

/// A row in the cache.
#[derive(Debug)]
pub struct CachedRow {
    /// `None`: it is too large to be kept.
    content: RwLock<Option<RowContent>>,
    /// Its bytes when the cache was last told.
    weighed: AtomicUsize,
    prefix: RowPrefix,
}

/// A row as it is now. Writers wait while it is looked at.
pub type RowView<'a> = parking_lot::MappedRwLockReadGuard<'a, RowContent>;

/// A row and its weight when it was put in: the cache must not see it change.
#[derive(Debug, Clone)]
struct WeightedRow {
    row: Arc<CachedRow>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<KeptId, WeightedRow> for ByBytes {
    fn weight(&self, id: &KeptId, weighed: &WeightedRow) -> u64 {
        // The prefix has the key, too.
        weighed.bytes + (2 * id.key.len() + OVERHEAD_BYTES) as u64
    }
}

/// The cache. Its size is a limit on bytes.
pub struct RowCache {
    rows: Cache<KeptId, WeightedRow, ByBytes, KeyHasher>,
    seen: TouchedRows,
    /// A cache of no bytes holds nothing.
    is_enabled: bool,
}

/// Whether a row of this size is kept.
fn fits(entries: &PackedEntries) -> bool {
    entries.len() <= ENTRIES_MAX && entries.bytes() <= ROW_BYTES_MAX
}

impl RowContent {
    /// Makes a change. Says where its key stands or stood.
    fn change(&mut self, (key, value): Change<'_>, likely: usize) -> usize {
        if let Some(value) = value {
            self.newest = self.newest.max(value::loses_to_later_than(value));
            return self.entries.put(key, Some(value), likely);
        }
        let found = self.entries.search(key, likely);
        if let Ok(at) = found {
            self.entries.remove(at);
        }
        found.unwrap_or_else(|at| at)
    }
}

impl CachedRow {
    /// What the keys of all its entries begin with.
    pub fn prefix(&self) -> &RowPrefix {
        &self.prefix
    }

    /// The row; `None` when it is too large to be kept.
    pub fn view(&self) -> Option<RowView<'_>> {
        RwLockReadGuard::try_map(self.content.read(), Option::as_ref).ok()
    }

    /// Makes changes; returns the bytes that the row now takes.
    fn apply(&self, changes: Changes<'_>) -> usize {
        let mut guard = self.content.write();
        let Some(content) = guard.as_mut() else { return 0 };
        let mut likely = 0;
        for made in changes {
            // What is too large for any row is not copied into this one.
            let is_large = made.1.is_some_and(|value| value.len() > ROW_BYTES_MAX);
            if !is_large {
                likely = content.change(made, likely) + 1;
            }
            if is_large || !fits(&content.entries) {
                *guard = None;
                return 0;
            }
        }
        content.entries.bytes()
    }
}

impl RowCache {
    /// A cache of at most so many bytes.
    pub fn new(bytes: u64) -> RowCache {
        let rows_expected = usize::try_from(bytes / 1024).unwrap_or(usize::MAX).max(16);
        let lifecycle = quick_cache::sync::DefaultLifecycle::default();
        RowCache {
            rows: Cache::with(rows_expected, bytes, ByBytes, KeyHasher::default(), lifecycle),
            seen: TouchedRows::new(if bytes == 0 { 1 } else { SEEN_BITS }),
            is_enabled: bytes > 0,
        }
    }

    pub fn get(&self, id: &RowId) -> Option<Arc<CachedRow>> {
        self.rows.get(id).map(|weighed| weighed.row)
    }

    /// Whether a row that is not here has been touched a while ago, so that it is worth loading. Remembers it.
    pub fn is_worth_loading(&self, id: &RowId) -> bool {
        self.is_enabled && self.seen.touch(id)
    }

    /// Loads a row from its entries in order. The caller holds the row's lock. That a row is too large is noted.
    pub fn load<Key: AsRef<[u8]>>(
        &self,
        id: &RowId,
        prefix: &RowPrefix,
        entries: impl Iterator<Item = Result<(Key, Bytes), StoreError>>,
    ) -> Result<Arc<CachedRow>, StoreError> {
        let mut content = RowContent { entries: PackedEntries::default(), newest: i64::MIN };
        for entry in entries {
            let (key, value) = entry?;
            content.newest = content.newest.max(value::loses_to_later_than(&value));
            content.entries.push(key.as_ref(), &value);
            if !fits(&content.entries) {
                return Ok(self.put(id, prefix, None));
            }
        }
        Ok(self.put(id, prefix, Some(content)))
    }

    fn put(&self, id: &RowId, prefix: &RowPrefix, content: Option<RowContent>) -> Arc<CachedRow> {
        let bytes = content.as_ref().map_or(0, |content| content.entries.bytes());
        let row = Arc::new(CachedRow {
            content: RwLock::new(content),
            weighed: AtomicUsize::new(0),
            prefix: prefix.clone(),
        });
        self.weigh(id, row.clone(), bytes);
        row
    }

    fn weigh(&self, id: &RowId, row: Arc<CachedRow>, bytes: usize) {
        row.weighed.store(bytes, Ordering::Relaxed);
        let id = KeptId { family: id.family, key: SmallVec::from_slice(&id.key) };
        self.rows.insert(id, WeightedRow { row, bytes: bytes as u64 });
    }

    /// Makes changes that the log has taken. The caller has held the row's lock since it found the row here.
    pub fn apply(&self, id: &RowId, row: &Arc<CachedRow>, changes: Changes<'_>) {
        let now = row.apply(changes);
        let weighed = row.weighed.load(Ordering::Relaxed);
        if now.abs_diff(weighed) > 1024 || now == 0 && weighed > 0 {
            self.weigh(id, row.clone(), now);
        }
    }
}

/// Remembers in a bit what was touched, and forgets everything now and then.
struct TouchedRows {
    bits: Vec<AtomicU64>,
    set: AtomicU32,
    hasher: KeyHasher,
}

impl TouchedRows {
    fn new(bits: usize) -> TouchedRows {
        TouchedRows {
            bits: (0..bits.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            set: AtomicU32::new(0),
            hasher: KeyHasher::default(),
        }
    }

    /// Sets the bit of an id; says whether it was set.
    fn touch(&self, id: &RowId) -> bool {
        use std::hash::BuildHasher;
        let place = usize::try_from(self.hasher.hash_one(id) % (self.bits.len() as u64 * 64)).unwrap_or(0);
        let mask = 1 << (place % 64);
        let was_set = self.bits[place / 64].fetch_or(mask, Ordering::Relaxed) & mask != 0;
        // A quarter full, one in four strangers would pass for an acquaintance.
        if !was_set && self.set.fetch_add(1, Ordering::Relaxed) as usize > self.bits.len() * 16 {
            self.set.store(0, Ordering::Relaxed);
            self.bits.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        was_set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cell;
    use crate::storage::embedded::log::ChangeList;

    fn id(key: &'static str) -> RowId {
        RowId { family: 1, key: Bytes::from_static(key.as_bytes()) }
    }

    #[test]
    fn changes_keep_the_order_and_large_rows_are_let_go() {
        let cache = RowCache::new(1 << 20);
        let entry = |key: &'static str, value| Ok((key, Bytes::from_static(value)));
        let row = cache
            .load(&id("r"), &RowPrefix::fixed(b"r"), [entry("a", b"1"), entry("c", b"3")].into_iter())
            .unwrap();
        let mut changes = ChangeList::default();
        changes.add(b"b", Some(b"2"));
        changes.add(b"c", None);
        cache.apply(&id("r"), &row, changes.iter());
        let view = row.view().unwrap();
        let entries: Vec<_> =
            view.entries.iter().filter_map(|(key, value)| Some((key, value?.as_slice()))).collect();
        assert_eq!(entries, [(&b"a"[..], &b"1"[..]), (b"b", b"2")]);
        drop(view);
        let mut changes = ChangeList::default();
        changes.add(b"d", Some(&vec![0; ROW_BYTES_MAX]));
        cache.apply(&id("r"), &row, changes.iter());
        assert!(row.view().is_none());
    }

    #[test]
    fn a_row_knows_its_newest_cell() {
        let cache = RowCache::new(1 << 20);
        let live = |timestamp| {
            let mut value = Vec::new();
            value::encode_cell(&Cell::live(Bytes::new(), Bytes::new(), timestamp), None, &mut value);
            value
        };
        let newest = |row: &CachedRow| row.view().map(|view| view.newest);
        let entry = |key: &'static str, timestamp| Ok((key, Bytes::from(live(timestamp))));
        let row = cache
            .load(&id("r"), &RowPrefix::fixed(b"r"), [entry("a", 5), entry("b", 3)].into_iter())
            .unwrap();
        assert_eq!(newest(&row), Some(5));
        for (timestamp, expected) in [(4, 5), (7, 7), (-1, i64::MAX)] {
            let mut changes = ChangeList::default();
            changes.add(b"b", Some(&live(timestamp)));
            cache.apply(&id("r"), &row, changes.iter());
            assert_eq!(newest(&row), Some(expected));
        }
    }

    #[test]
    fn the_second_touch_counts() {
        let cache = RowCache::new(1 << 20);
        assert!(!cache.is_worth_loading(&id("x")));
        assert!(cache.is_worth_loading(&id("x")));
    }
}
