//! The sorted runs of a tree, in memory, as the last change left them.
//!
//! The library guards its list of tables with a lock, and holds it while it syncs a new list to the disk. With a busy
//! disk that takes a third of a second. So readers do not use the library's list but copies of it. Each change of a
//! tree, a flush or a merge, adds one. It is used by readers whose snapshot is of that time or later:
//!
//! ```text
//!   a merge of tables 1, 2 and 5 into 6      library: lock, sync the list 3 | 6, unlock
//!   sequence number                    17                                            18
//!   copies                             1 2 3 | 5                                     3 | 6
//! ```
//!
//! A reader must not use a later copy than its snapshot's: a merge drops entries that later ones hide, and a flush adds
//! entries that were written after the reader's view of the memtables.
//!
//! A file is removed when the last copy that has its table is dropped. Removing a large file takes milliseconds, so a
//! copy is never dropped by a reader: `retired` keeps replaced lists of copies until no reader has them.

use std::ops::{Bound, Range};
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use lsm_tree::merge::Merger;
use lsm_tree::mvcc_stream::MvccStream;
use lsm_tree::table::filter::standard_bloom::Builder as BloomFilter;
use lsm_tree::{
    AbstractTree, AnyTree, BoxedIterator, InternalValue, SeqNo, SequenceNumberCounter, Table, UserKey,
};
use parking_lot::Mutex;
use xxhash_rust::xxh3::Xxh3;

/// Bounds of a range of keys.
pub(super) type KeyRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// An iterator over entries in the order of their keys, from either end.
pub(super) type SortedEntries = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<InternalValue>> + Send>;

/// A sorted run: tables that do not overlap, in the order of their keys.
struct TableRun {
    level: usize,
    tables: Vec<Table>,
}

/// The sorted runs of a tree. Runs with newer entries come first.
#[derive(Default)]
pub(super) struct Runs(Vec<TableRun>);

/// The runs of a tree at one time, and the first sequence number at which they are visible.
#[derive(Clone)]
struct Copy {
    from: SeqNo,
    runs: Arc<Runs>,
}

/// The runs of a tree for each snapshot that a reader holds.
pub(super) struct RunHistory {
    /// In the order of their sequence numbers. Never empty.
    copies: ArcSwap<Vec<Copy>>,
    retired: Mutex<Vec<Arc<Vec<Copy>>>>,
}

impl TableRun {
    /// Returns whether its tables ascend without overlaps, for assertions.
    fn is_sorted(&self) -> bool {
        self.tables.is_sorted_by(|a, b| largest(a) <= smallest(b))
    }

    /// Returns the table that has a key if any of the run has it.
    fn table_of(&self, key: &[u8]) -> Option<&Table> {
        let at = self.tables.partition_point(|table| largest(table) < key);
        self.tables.get(at).filter(|table| smallest(table) <= key)
    }

    /// Returns the positions of the tables that overlap a range of keys. Empty or reversed if there are none.
    fn overlapping(&self, from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> Range<usize> {
        let begin = self.tables.partition_point(|table| match from {
            Bound::Included(from) => largest(table) < &from[..],
            Bound::Excluded(from) => largest(table) <= &from[..],
            Bound::Unbounded => false,
        });
        let end = self.tables.partition_point(|table| match to {
            Bound::Included(to) => smallest(table) <= &to[..],
            Bound::Excluded(to) => smallest(table) < &to[..],
            Bound::Unbounded => true,
        });
        begin..end
    }
}

fn smallest(table: &Table) -> &[u8] {
    table.metadata.key_range.min()
}

fn largest(table: &Table) -> &[u8] {
    table.metadata.key_range.max()
}

/// Returns a checksum of the metadata of tables, which the tree library has read from their files. It differs for
/// every two tables: the metadata has the time of writing in nanoseconds.
pub(super) fn sum_of_metadata<'a>(tables: impl Iterator<Item = &'a Table>) -> u64 {
    let mut tables: Vec<_> =
        tables.map(|table| (table.path.file_name().unwrap_or_default(), table)).collect();
    tables.sort_by_key(|(file, _)| *file);
    let mut sum = Xxh3::new();
    for (file, table) in tables {
        let data = &table.metadata;
        // The number is also in the file, which may have been renamed.
        let numbers = [data.id, data.file_size, data.item_count, data.tombstone_count];
        let keys = [smallest(table), largest(table)];
        sum.update(format!("{file:?} {numbers:?} {} {keys:?}", *data.created_at).as_bytes());
    }
    sum.digest()
}

impl Runs {
    fn of(tree: &AnyTree) -> Runs {
        let version = tree.current_version();
        let levels = version.iter_levels().enumerate();
        let runs = levels.flat_map(|(level, runs)| runs.iter().map(move |run| (level, run)));
        Runs(runs.map(|(level, run)| TableRun { level, tables: run.to_vec() }).collect())
    }

    /// Returns the newest value of a key.
    pub(super) fn get(&self, key: &[u8]) -> lsm_tree::Result<Option<Bytes>> {
        let hash = BloomFilter::get_hash(key);
        for table in self.0.iter().filter_map(|run| run.table_of(key)) {
            if let Some(entry) = table.get(key, SeqNo::MAX, hash)? {
                return Ok((!entry.is_tombstone()).then(|| entry.value.into()));
            }
        }
        Ok(None)
    }

    /// Returns the newest entries of a range of keys. The caller must keep the runs as long as the iterator, or a file
    /// may be removed before the iterator opens it.
    pub(super) fn range(self: &Arc<Self>, range: &KeyRange) -> SortedEntries {
        let (from, to) = range;
        let bounds = (from.as_ref().map(UserKey::from), to.as_ref().map(UserKey::from));
        let mut of_runs: Vec<BoxedIterator<'static>> = Vec::new();
        for (number, run) in self.0.iter().enumerate() {
            let (runs, bounds, tables) = (self.clone(), bounds.clone(), run.overlapping(from, to));
            if !tables.is_empty() {
                // A table is opened when the iteration reaches it.
                let entries = tables.flat_map(move |at| runs.0[number].tables[at].range(bounds.clone()));
                of_runs.push(Box::new(entries));
            }
        }
        let merged = Merger::new(of_runs);
        Box::new(
            MvccStream::new(merged)
                .filter(|entry| entry.as_ref().map_or(true, |entry| !entry.is_tombstone())),
        )
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of runs of a level.
    pub(super) fn runs_of_level(&self, level: usize) -> usize {
        self.0.iter().filter(|run| run.level == level).count()
    }

    /// Returns the size of all tables in bytes.
    pub(super) fn disk_bytes(&self) -> u64 {
        self.tables().map(|(_, table)| table.metadata.file_size).sum()
    }

    /// Returns the numbers of all tables.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.tables().map(|(_, table)| table.id()).collect()
    }

    /// Returns all tables with their levels.
    fn tables(&self) -> impl Iterator<Item = (usize, &Table)> {
        self.0.iter().flat_map(|run| run.tables.iter().map(|table| (run.level, table)))
    }

    fn is_same(&self, other: &Runs) -> bool {
        let places =
            |runs: &Runs| -> Vec<_> { runs.tables().map(|(level, table)| (level, table.id())).collect() };
        places(self) == places(other)
    }
}

impl RunHistory {
    /// Returns the history of a tree that has just been opened.
    pub(super) fn new(tree: &AnyTree) -> RunHistory {
        let copies = vec![Copy { from: 0, runs: Arc::new(Runs::of(tree)) }];
        RunHistory { copies: ArcSwap::from_pointee(copies), retired: Mutex::default() }
    }

    /// Returns the runs that a reader with a sequence number sees.
    pub(super) fn at(&self, sequence: SeqNo) -> Arc<Runs> {
        let copies = self.copies.load();
        let at = copies.partition_point(|copy| copy.from <= sequence);
        debug_assert!(at > 0, "the tables that a reader sees were removed");
        copies[at.saturating_sub(1)].runs.clone()
    }

    /// Returns the numbers of the tables of all copies.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.copies.load().iter().flat_map(|copy| copy.runs.numbers()).collect()
    }

    /// Adds the runs that the tree has now. They are visible from the sequence number `visible` on, which is read after
    /// the tree, so that a change of the tree in between is not visible too early. Returns whether the runs differ from
    /// the last ones.
    pub(super) fn add(&self, tree: &AnyTree, visible: &SequenceNumberCounter) -> bool {
        let mut retired = self.retired.lock();
        let runs = Runs::of(tree);
        let mut copies = Vec::clone(&self.copies.load());
        if copies.last().is_some_and(|last| last.runs.is_same(&runs)) {
            return false;
        }
        let from = visible.get();
        assert!(
            copies.last().is_none_or(|last| last.from <= from),
            "readers would find earlier runs of a tree before later ones"
        );
        debug_assert!(runs.0.iter().all(TableRun::is_sorted), "a binary search of a run would miss tables");
        copies.push(Copy { from, runs: Arc::new(runs) });
        retired.push(self.copies.swap(Arc::new(copies)));
        true
    }

    /// Removes the runs that no reader sees, given the lowest sequence number that a reader holds. Removes the files of
    /// tables that only these runs have.
    pub(super) fn remove_before(&self, lowest: SeqNo) {
        let mut retired = self.retired.lock();
        let copies = self.copies.load();
        let unused = copies.partition_point(|copy| copy.from <= lowest).saturating_sub(1);
        if unused > 0 {
            // `swap` waits for readers that are loading the replaced list, so their references are counted below.
            retired.push(self.copies.swap(Arc::new(copies[unused..].to_vec())));
        }
        drop(copies);
        retired.retain(|copies| Arc::strong_count(copies) > 1);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use lsm_tree::compaction::Leveled;
    use lsm_tree::{Config, Guard};
    use proptest::prelude::*;

    use super::*;

    /// A tree of the library, its runs, and the sequence number below which everything is visible.
    struct TestTree {
        tree: AnyTree,
        history: RunHistory,
        visible: SequenceNumberCounter,
    }

    impl TestTree {
        fn create(directory: &Path) -> TestTree {
            let (sequence, visible) = (SequenceNumberCounter::new(1), SequenceNumberCounter::new(1));
            let tree = Config::new(directory, sequence, visible.clone()).open().unwrap();
            TestTree { history: RunHistory::new(&tree), tree, visible }
        }

        /// Adds a run. Entries without a value are tombstones.
        fn add(&self, entries: impl IntoIterator<Item = (u8, Option<u8>)>) {
            let mut run = self.tree.ingestion().unwrap();
            for (key, value) in entries {
                match value {
                    // A value of 5 KB lets a compaction write several tables.
                    Some(value) => run.write(vec![key], vec![value; 5_000]).unwrap(),
                    None => run.write_tombstone(vec![key]).unwrap(),
                }
            }
            run.finish().unwrap();
            self.history.add(&self.tree, &self.visible);
        }

        /// Merges tables if there are several runs, and keeps what readers from `watermark` on can see.
        fn compact(&self, watermark: SeqNo) {
            let leveled = Leveled::default().with_l0_threshold(2).with_table_target_size(10_000);
            self.tree.compact(Arc::new(leveled), watermark).unwrap();
            self.history.add(&self.tree, &self.visible);
            self.history.remove_before(watermark);
        }

        /// Merges all tables. Returns whether that was a change.
        fn compact_all(&self, watermark: SeqNo) -> bool {
            self.tree.major_compact(10_000, watermark).unwrap();
            let is_change = self.history.add(&self.tree, &self.visible);
            self.history.remove_before(watermark);
            is_change
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Add(BTreeMap<u8, Option<u8>>),
        Compact,
        CompactAll,
    }

    fn step() -> impl Strategy<Value = Step> {
        let entries = prop::collection::btree_map(0..30_u8, prop::option::of(any::<u8>()), 1..12);
        prop_oneof![4 => entries.prop_map(Step::Add), 2 => Just(Step::Compact), 1 => Just(Step::CompactAll)]
    }

    fn bound(kind: u8, key: u8) -> Bound<Vec<u8>> {
        [Bound::Included(vec![key]), Bound::Excluded(vec![key]), Bound::Unbounded][usize::from(kind)].clone()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn runs_return_what_the_library_returns(
            steps in prop::collection::vec(step(), 1..14),
            held in any::<prop::sample::Index>(),
            ranges in prop::collection::vec((0..3_u8, 0..31_u8, 0..3_u8, 0..31_u8), 12),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let tree = TestTree::create(directory.path());
            let (held_from, mut earliest) = (held.index(steps.len()), None);
            for (at, step) in steps.into_iter().enumerate() {
                // From some step on, a reader holds the sequence number of that time.
                if at == held_from {
                    earliest = Some(tree.visible.get());
                }
                let watermark = earliest.unwrap_or_else(|| tree.visible.get());
                match step {
                    Step::Add(entries) => tree.add(entries),
                    Step::Compact => tree.compact(watermark),
                    Step::CompactAll => drop(tree.compact_all(watermark)),
                }
                for sequence in [watermark, tree.visible.get()] {
                    let runs = tree.history.at(sequence);
                    for key in 0..31 {
                        let expected = tree.tree.get([key], sequence).unwrap().map(Bytes::from);
                        prop_assert_eq!(runs.get(&[key]).unwrap(), expected, "key {}", key);
                    }
                    for (from_kind, from, to_kind, to) in &ranges {
                        // The library refuses ranges whose bounds are in the wrong order.
                        let (from, to) = (from.min(to), from.max(to));
                        if from == to && (*from_kind, *to_kind) != (0, 0) {
                            continue;
                        }
                        let range = (bound(*from_kind, *from), bound(*to_kind, *to));
                        let expected = tree.tree.range::<Vec<u8>, _>(range.clone(), sequence, None);
                        let expected: Vec<_> = expected.map(|entry| entry.into_inner().unwrap()).collect();
                        let of = |entry: lsm_tree::Result<InternalValue>| {
                            let entry = entry.unwrap();
                            (entry.key.user_key, entry.value)
                        };
                        let forward: Vec<_> = runs.range(&range).map(of).collect();
                        let mut backward: Vec<_> = runs.range(&range).rev().map(of).collect();
                        backward.reverse();
                        prop_assert_eq!(&forward, &expected);
                        prop_assert_eq!(&backward, &expected);
                    }
                }
            }
        }
    }

    #[test]
    fn the_files_of_replaced_tables_stay_until_no_reader_uses_them() {
        let directory = tempfile::tempdir().unwrap();
        let files = || -> BTreeSet<_> {
            let entries = std::fs::read_dir(directory.path().join("tables")).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect()
        };
        let tree = TestTree::create(directory.path());
        tree.add([(1, Some(1)), (2, Some(2))]);
        tree.add([(2, Some(3))]);
        let sequence = tree.visible.get();
        let reader = tree.history.at(sequence);
        let entries = reader.range(&(Bound::Unbounded, Bound::Unbounded));
        let replaced = files();
        assert!(tree.compact_all(sequence), "the merge is a change");
        let latest = tree.history.at(tree.visible.get());
        assert_eq!((reader.len(), latest.len(), files().len()), (2, 1, 3));
        assert_eq!(entries.count(), 2, "the replaced tables can still be opened");
        drop((reader, latest));
        assert!(files().is_superset(&replaced), "a reader removes no file");
        // The library keeps the list before the last change.
        tree.add([(3, Some(3))]);
        tree.compact_all(tree.visible.get());
        tree.history.remove_before(tree.visible.get());
        assert!(files().is_disjoint(&replaced));
    }
}
