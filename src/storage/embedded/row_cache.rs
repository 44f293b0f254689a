//! Rows that are read or written often, kept whole in memory.
//!
//! The engine answers a point read in one or two microseconds and opens a range in five; a cached row answers
//! either in a fraction of one, and tells a write what it replaces. A row is loaded on its second touch within a
//! while, so that rows that are written once, or scanned past, cost nothing. Whoever loads or changes a cached
//! row holds its row lock, and a change enters the cache after the engine has taken it: so a cached row is never
//! older than what was acknowledged, and readers see a row's mutation whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Rows of more entries than this are left to the engine.
const ENTRIES_MAX: usize = 1024;
/// Rows of more bytes than this are left to the engine.
const ROW_BYTES_MAX: usize = 64 * 1024;
/// What an entry or a row costs beside its bytes.
const OVERHEAD_BYTES: usize = 96;
/// Rows that touches are remembered of: a bit each.
const SEEN_BITS: usize = 1 << 20;

/// A row of one generation of a column family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowId {
    /// Column family and generation.
    pub family: u64,
    pub key: Bytes,
}

/// One entry: its key relative to the row, and its value as the engine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key's first bytes, so that to compare two keys is seldom to look them up.
    head: u128,
    pub key: Bytes,
    pub value: Bytes,
}
/// A change to one entry: its relative key, and its new value or `None` for its removal.
pub type EntryChange = (Bytes, Option<Bytes>);

/// A row in the cache.
#[derive(Debug)]
pub struct CachedRow {
    /// `None`: the row is too large to be kept.
    content: RwLock<Option<Content>>,
    /// Its bytes when the cache was last told.
    weighed: AtomicUsize,
}

/// All entries of a row, in order.
#[derive(Debug, Default)]
struct Content {
    entries: Vec<Entry>,
    /// What they take, `OVERHEAD_BYTES` each included.
    bytes: usize,
}

/// The entries of a row as they are now. Writers wait while they are looked at.
pub type RowView<'a> = parking_lot::MappedRwLockReadGuard<'a, [Entry]>;

/// A row and its weight when it was put in: the cache must not see it change.
#[derive(Debug, Clone)]
struct Weighed {
    row: Arc<CachedRow>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<RowId, Weighed> for ByBytes {
    fn weight(&self, id: &RowId, weighed: &Weighed) -> u64 {
        weighed.bytes + (id.key.len() + OVERHEAD_BYTES) as u64
    }
}

/// The cache. Its size is a limit on bytes.
pub struct RowCache {
    rows: Cache<RowId, Weighed, ByBytes, std::hash::RandomState>,
    seen: Doorkeeper,
}

/// The first bytes of a key as a number. Of two keys with different numbers, the smaller has the smaller one.
fn head_of(key: &[u8]) -> u128 {
    let mut head = [0; 16];
    let length = key.len().min(head.len());
    head[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(head)
}

impl Entry {
    pub fn new(key: Bytes, value: Bytes) -> Entry {
        Entry { head: head_of(&key), key, value }
    }

    fn bytes(&self) -> usize {
        self.key.len() + self.value.len() + OVERHEAD_BYTES
    }

    fn compare(&self, head: u128, key: &[u8]) -> std::cmp::Ordering {
        self.head.cmp(&head).then_with(|| self.key[..].cmp(key))
    }
}

/// Where a key stands among entries in order, or would stand. `likely` is where to look first: who asks for several
/// keys asks for neighbours.
pub fn search(entries: &[Entry], key: &[u8], likely: usize) -> Result<usize, usize> {
    let head = head_of(key);
    if entries.get(likely).is_some_and(|entry| entry.compare(head, key).is_eq()) {
        return Ok(likely);
    }
    entries.binary_search_by(|entry| entry.compare(head, key))
}

impl Content {
    /// Whether a row of this size is kept.
    fn fits(&self) -> bool {
        self.entries.len() <= ENTRIES_MAX && self.bytes <= ROW_BYTES_MAX
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        self.entries.push(entry);
    }

    /// Makes a change. It is part of a record, of which no more is kept than what is needed. Says where its key stands
    /// or stood.
    fn apply(&mut self, (key, value): EntryChange, likely: usize) -> usize {
        let value = value.map(|value| Bytes::copy_from_slice(&value));
        let found = search(&self.entries, &key, likely);
        match (found, value) {
            (Ok(at), Some(value)) => {
                let old = std::mem::replace(&mut self.entries[at].value, value);
                self.bytes = self.bytes + self.entries[at].value.len() - old.len();
            }
            (Ok(at), None) => self.bytes -= self.entries.remove(at).bytes(),
            (Err(at), Some(value)) => {
                let entry = Entry::new(Bytes::copy_from_slice(&key), value);
                self.bytes += entry.bytes();
                self.entries.insert(at, entry);
            }
            (Err(_), None) => {}
        }
        found.unwrap_or_else(|at| at)
    }
}

impl CachedRow {
    /// The row's entries; `None` when it is too large to be kept.
    pub fn view(&self) -> Option<RowView<'_>> {
        RwLockReadGuard::try_map(self.content.read(), |content| {
            content.as_ref().map(|kept| &kept.entries[..])
        })
        .ok()
    }

    /// Makes changes; returns the bytes that the row now takes.
    fn apply(&self, changes: impl Iterator<Item = EntryChange>) -> usize {
        let mut guard = self.content.write();
        let Some(content) = guard.as_mut() else { return 0 };
        changes.fold(0, |likely, change| content.apply(change, likely) + 1);
        if content.fits() {
            return content.bytes;
        }
        *guard = None;
        0
    }
}

impl RowCache {
    /// A cache of at most so many bytes.
    pub fn new(bytes: u64) -> RowCache {
        let rows_expected = usize::try_from(bytes / 1024).unwrap_or(usize::MAX).max(16);
        let lifecycle = quick_cache::sync::DefaultLifecycle::default();
        RowCache {
            rows: Cache::with(rows_expected, bytes, ByBytes, std::hash::RandomState::new(), lifecycle),
            seen: Doorkeeper::new(),
        }
    }

    pub fn get(&self, id: &RowId) -> Option<Arc<CachedRow>> {
        self.rows.get(id).map(|weighed| weighed.row)
    }

    /// Whether a row that is not here has been touched a while ago, so that it is worth loading. Remembers it.
    pub fn is_worth_loading(&self, id: &RowId) -> bool {
        self.seen.touch(id)
    }

    /// Loads a row from its entries in order, which keep nothing larger than themselves. The caller holds the row's lock. That a row is too large is noted.
    pub fn load(
        &self,
        id: &RowId,
        entries: impl Iterator<Item = Result<Entry, crate::storage::StoreError>>,
    ) -> Result<Arc<CachedRow>, crate::storage::StoreError> {
        let mut content = Content::default();
        for entry in entries {
            content.push(entry?);
            if !content.fits() {
                return Ok(self.put(id, None));
            }
        }
        Ok(self.put(id, Some(content)))
    }

    fn put(&self, id: &RowId, content: Option<Content>) -> Arc<CachedRow> {
        let bytes = content.as_ref().map_or(0, |content| content.bytes);
        let row = Arc::new(CachedRow { content: RwLock::new(content), weighed: AtomicUsize::new(0) });
        self.weigh(id, row.clone(), bytes);
        row
    }

    fn weigh(&self, id: &RowId, row: Arc<CachedRow>, bytes: usize) {
        row.weighed.store(bytes, Ordering::Relaxed);
        // The key may be a slice of a request, which would be kept with it.
        let id = RowId { family: id.family, key: Bytes::copy_from_slice(&id.key) };
        self.rows.insert(id, Weighed { row, bytes: bytes as u64 });
    }

    /// Makes changes that the log has taken. The caller has held the row's lock since it found the row here.
    pub fn apply(&self, id: &RowId, row: &Arc<CachedRow>, changes: impl Iterator<Item = EntryChange>) {
        let now = row.apply(changes);
        let weighed = row.weighed.load(Ordering::Relaxed);
        if now.abs_diff(weighed) > 1024 || now == 0 && weighed > 0 {
            self.weigh(id, row.clone(), now);
        }
    }
}

/// Remembers in a bit what was touched, and forgets everything now and then.
struct Doorkeeper {
    bits: Vec<AtomicU64>,
    set: AtomicU32,
    hasher: std::hash::RandomState,
}

impl Doorkeeper {
    fn new() -> Doorkeeper {
        Doorkeeper {
            bits: (0..SEEN_BITS / 64).map(|_| AtomicU64::new(0)).collect(),
            set: AtomicU32::new(0),
            hasher: std::hash::RandomState::new(),
        }
    }

    /// Sets the bit of an id; says whether it was set.
    fn touch(&self, id: &RowId) -> bool {
        use std::hash::BuildHasher;
        let place = usize::try_from(self.hasher.hash_one(id) % SEEN_BITS as u64).unwrap_or(0);
        let mask = 1 << (place % 64);
        let was_set = self.bits[place / 64].fetch_or(mask, Ordering::Relaxed) & mask != 0;
        // A quarter full, one in four strangers would pass for an acquaintance.
        if !was_set && self.set.fetch_add(1, Ordering::Relaxed) as usize > SEEN_BITS / 4 {
            self.set.store(0, Ordering::Relaxed);
            self.bits.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        was_set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &'static str, value: &'static str) -> Entry {
        Entry::new(Bytes::from_static(key.as_bytes()), Bytes::from_static(value.as_bytes()))
    }

    fn id(key: &'static str) -> RowId {
        RowId { family: 1, key: Bytes::from_static(key.as_bytes()) }
    }

    #[test]
    fn changes_keep_the_order_and_large_rows_are_let_go() {
        let cache = RowCache::new(1 << 20);
        let row = cache.load(&id("r"), [Ok(entry("a", "1")), Ok(entry("c", "3"))].into_iter()).unwrap();
        let (b, c) = (Bytes::from_static(b"b"), Bytes::from_static(b"c"));
        cache.apply(&id("r"), &row, [(b, Some(Bytes::from_static(b"2"))), (c, None)].into_iter());
        assert_eq!(*row.view().unwrap(), [entry("a", "1"), entry("b", "2")]);
        let large = Bytes::from(vec![0; ROW_BYTES_MAX]);
        cache.apply(&id("r"), &row, [(Bytes::from_static(b"d"), Some(large))].into_iter());
        assert!(row.view().is_none());
    }

    #[test]
    fn keys_that_begin_alike_are_told_apart() {
        let keys: [&[u8]; 5] =
            [b"", b"\0", b"sixteen bytes on", b"sixteen bytes on\0", b"sixteen bytes on and on"];
        let entries = keys.map(|key| Entry::new(Bytes::from_static(key), Bytes::new()));
        for (at, key) in keys.iter().enumerate() {
            for likely in 0..6 {
                assert_eq!(search(&entries, key, likely), Ok(at));
            }
        }
        assert_eq!(search(&entries, b"sixteen bytes on a", 0), Err(4));
    }

    #[test]
    fn the_second_touch_counts() {
        let cache = RowCache::new(1 << 20);
        assert!(!cache.is_worth_loading(&id("x")));
        assert!(cache.is_worth_loading(&id("x")));
    }
}
