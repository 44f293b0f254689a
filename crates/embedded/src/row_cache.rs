//! The row cache: rows that are read or written often, with all their entries, in memory.
//!
//! A point read from tables takes one or two microseconds, and opening a range takes five. A read from a cached row
//! takes a fraction of one microsecond, and a write finds there the cells that it replaces. A row is loaded on its
//! second use within some time, so rows that are written once, or only scanned, cost nothing:
//!
//! ```text
//!                     the cache has                        the request
//!   read  K           nothing; K is marked as used         reads memtables and tables
//!   read  K           nothing -> K is loaded               locks K, reads all its entries, answers from the cache
//!   write K           K with the new cells                 log, memtable, then the cache, all under the lock of K
//!   write K, 1 MB     K marked as too large                log, memtable; reads of K use memtables and tables again
//!   other rows        nothing: K was evicted               the limit in bytes was reached
//! ```
//!
//! Two rules keep it correct. A row is loaded and changed under its row lock, so no write is missed while it is loaded.
//! A change is applied after the log has accepted it and before the lock is released, so a cached row always has all
//! acknowledged writes. The row's own lock makes a change of several cells visible all at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use smallvec::SmallVec;

use super::key::RowPrefix;
use super::log::Changes;
use super::packed::PackedEntries;
use super::value;
use base::util::KeyHasher;
use base::util::metrics::ShardedCounter;
use store::Result;

/// Rows with more entries than this are not cached.
const ENTRIES_MAX: usize = 1024;
/// Rows with more bytes than this are not cached.
const ROW_BYTES_MAX: usize = 64 * 1024;
/// Bytes of memory for a row besides its entries and its key, which is stored twice: the row, its place in the cache,
/// and what the allocator adds.
const OVERHEAD_BYTES: usize = size_of::<CachedRow>() + 144;
/// Bytes of a key that needs no allocation.
const SHORT_KEY: usize = 24;
/// Bits that record which rows were used, by hash.
const SEEN_BITS: usize = 1 << 20;

/// A row of one generation of a column family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RowId {
    /// Column family and generation.
    pub family: u64,
    pub key: Bytes,
}

/// A `RowId` as the cache stores it: short keys are stored inline, so that comparing them needs no further memory
/// access.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct StoredId {
    family: u64,
    key: SmallVec<[u8; SHORT_KEY]>,
}

impl Equivalent<StoredId> for RowId {
    fn equivalent(&self, stored: &StoredId) -> bool {
        self.family == stored.family && self.key[..] == stored.key[..]
    }
}

/// All entries of a row.
#[derive(Debug)]
pub(crate) struct RowContent {
    pub entries: PackedEntries,
    /// A cell with a later timestamp wins over every cell of the row.
    pub newest: i64,
}

/// A row in the cache.
#[derive(Debug)]
pub(crate) struct CachedRow {
    /// `None` if the row is too large to be cached.
    content: RwLock<Option<RowContent>>,
    /// Its size when it was last inserted in the cache.
    weighed: AtomicUsize,
    prefix: RowPrefix,
}

/// A read lock on the entries of a row. Writers wait until it is dropped.
pub(crate) type RowView<'a> = parking_lot::MappedRwLockReadGuard<'a, RowContent>;

/// A row and its size when it was inserted: the weight of an item in `quick_cache` must not change.
#[derive(Debug, Clone)]
struct WeightedRow {
    row: Arc<CachedRow>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<StoredId, WeightedRow> for ByBytes {
    fn weight(&self, id: &StoredId, weighed: &WeightedRow) -> u64 {
        // The row's prefix contains the key, too.
        weighed.bytes + (2 * id.key.len() + OVERHEAD_BYTES) as u64
    }
}

/// The row cache, limited by its size in bytes.
pub(crate) struct RowCache {
    rows: Cache<StoredId, WeightedRow, ByBytes, KeyHasher>,
    seen: TouchedRows,
    /// False if the limit is 0 bytes.
    is_enabled: bool,
    /// Reads that found their row here.
    pub hits: ShardedCounter,
    misses: ShardedCounter,
}

/// Returns whether a row of this size is cached.
fn fits(entries: &PackedEntries) -> bool {
    entries.len() <= ENTRIES_MAX && entries.bytes() <= ROW_BYTES_MAX
}

impl RowContent {
    /// Applies a change. Returns the position of its key, or where it was.
    fn change(&mut self, key: &[u8], value: Option<&[u8]>, likely: usize) -> usize {
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
    /// Returns the prefix of the keys of its entries.
    pub(crate) fn prefix(&self) -> &RowPrefix {
        &self.prefix
    }

    /// Returns the entries. `None` if the row is too large to be cached.
    pub(crate) fn view(&self) -> Option<RowView<'_>> {
        RwLockReadGuard::try_map(self.content.read(), Option::as_ref).ok()
    }

    /// Applies changes. Returns the size of the row in bytes, 0 if it has become too large.
    fn apply(&self, changes: Changes<'_>) -> usize {
        let mut guard = self.content.write();
        let Some(content) = guard.as_mut() else { return 0 };
        let mut likely = 0;
        for (key, value) in changes {
            // A value that makes any row too large is not copied.
            let is_large = value.is_some_and(|value| value.len() > ROW_BYTES_MAX);
            if !is_large {
                likely = content.change(key, value, likely) + 1;
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
    /// Returns a cache of at most `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> RowCache {
        let rows_expected = usize::try_from(bytes / 1024).unwrap_or(usize::MAX).max(16);
        let lifecycle = quick_cache::sync::DefaultLifecycle::default();
        RowCache {
            rows: Cache::with(rows_expected, bytes, ByBytes, KeyHasher::default(), lifecycle),
            seen: TouchedRows::new(if bytes == 0 { 1 } else { SEEN_BITS }),
            is_enabled: bytes > 0,
            hits: ShardedCounter::new(),
            misses: ShardedCounter::new(),
        }
    }

    /// Returns the bytes that the cache holds.
    pub(crate) fn bytes(&self) -> u64 {
        self.rows.weight()
    }

    /// Counts a read that did not find its row here. A cache without room is not used.
    pub(crate) fn record_miss(&self) {
        if self.is_enabled {
            self.misses.add(1);
        }
    }

    /// Returns how many reads did not find their row here.
    pub(crate) fn misses(&self) -> u64 {
        self.misses.get()
    }

    pub(crate) fn get(&self, id: &RowId) -> Option<Arc<CachedRow>> {
        self.rows.get(id).map(|weighed| weighed.row)
    }

    /// Returns whether a row that is not cached was used recently, so that it should be loaded. Marks it as used.
    pub(crate) fn is_worth_loading(&self, id: &RowId) -> bool {
        self.is_enabled && self.seen.touch(id)
    }

    /// Loads a row from its entries, which must come in order. The caller holds the row's lock. A row that is too large
    /// is marked as such.
    pub(crate) fn load<Key: AsRef<[u8]>>(
        &self,
        id: &RowId,
        prefix: &RowPrefix,
        entries: impl Iterator<Item = Result<(Key, Bytes)>>,
    ) -> Result<Arc<CachedRow>> {
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
        debug_assert!(self.is_enabled || bytes == 0 || cfg!(test), "a cache without room would be used");
        row.weighed.store(bytes, Ordering::Relaxed);
        let id = StoredId { family: id.family, key: SmallVec::from_slice(&id.key) };
        self.rows.insert(id, WeightedRow { row, bytes: bytes as u64 });
    }

    /// Applies changes that the log has accepted. The caller has held the row's lock since it found the row in the
    /// cache.
    pub(crate) fn apply(&self, id: &RowId, row: &Arc<CachedRow>, changes: Changes<'_>) {
        let now = row.apply(changes);
        debug_assert!(row.view().is_none_or(|row| fits(&row.entries)), "the cache would exceed its limit");
        let weighed = row.weighed.load(Ordering::Relaxed);
        if now.abs_diff(weighed) > 1024 || now == 0 && weighed > 0 {
            self.weigh(id, row.clone(), now);
        }
    }
}

/// Records which rows were used, one bit for each by its hash. All bits are cleared when too many are set.
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

    /// Sets the bit of a row. Returns whether it was set.
    fn touch(&self, id: &RowId) -> bool {
        use std::hash::BuildHasher;
        let place = usize::try_from(self.hasher.hash_one(id) % (self.bits.len() as u64 * 64)).unwrap_or(0);
        let mask = 1 << (place % 64);
        let was_set = self.bits[place / 64].fetch_or(mask, Ordering::Relaxed) & mask != 0;
        // With a quarter of the bits set, one of four unused rows would pass for a used one.
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
    use crate::log::ChangeList;
    use base::model::Cell;

    fn id(key: &'static str) -> RowId {
        RowId { family: 1, key: Bytes::from_static(key.as_bytes()) }
    }

    #[test]
    fn changes_keep_the_order_and_large_rows_are_dropped() {
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
    fn newest_is_the_latest_timestamp_of_the_row() {
        let cache = RowCache::new(1 << 20);
        let live = |timestamp| {
            let mut value = Vec::new();
            value::encode_cell((&Cell::live(Bytes::new(), Bytes::new(), timestamp)).into(), None, &mut value);
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
    fn a_row_is_worth_loading_on_its_second_use() {
        let cache = RowCache::new(1 << 20);
        assert!(!cache.is_worth_loading(&id("x")));
        assert!(cache.is_worth_loading(&id("x")));
    }
}
