//! Decides which SSTables of a column family are obsolete, by their ancestors and the compactions that were in
//! progress.

use std::collections::{BTreeMap, BTreeSet};

/// The SSTables of a column family of a node by their generations, with their ancestors.
pub(super) type Generations = BTreeMap<u64, BTreeSet<u64>>;

/// Why an SSTable is obsolete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The compaction that wrote it was not finished.
    Unfinished,
    /// Other SSTables have its rows.
    Compacted,
}

/// The SSTables that are not read.
pub(super) type Obsolete = BTreeMap<u64, Why>;

/// Returns the obsolete SSTables of a column family of counters of 1.1.3 to 1.2.
///
/// These servers remove each ancestor of an SSTable (`ColumnFamilyStore`). Leveled compactions write several SSTables, so
/// the ancestors of a first one may have rows that no other has: 2.0 has another rule for this reason. As long as all
/// ancestors are there, they have all of its rows, and the new SSTable is left out instead.
pub(super) fn of_counters(sstables: &Generations) -> Obsolete {
    without_products(sstables, |ancestors| ancestors.iter().all(|of| sstables.contains_key(of)))
}

/// Returns the obsolete SSTables of 2.0 to 2.2, given the sources of all compactions that `system.compactions_in_progress`
/// has of the column family (`ColumnFamilyStore.removeUnfinishedCompactionLeftovers`).
pub(super) fn of_unfinished(sstables: &Generations, sources: &BTreeSet<u64>) -> Obsolete {
    without_products(sstables, |ancestors| {
        ancestors.iter().all(|of| sources.contains(of) && sstables.contains_key(of))
    })
}

/// Leaves out the products of compactions that were not finished, and the ancestors of all others.
fn without_products(sstables: &Generations, is_product: impl Fn(&BTreeSet<u64>) -> bool) -> Obsolete {
    let mut obsolete = Obsolete::new();
    let mut compacted = BTreeSet::new();
    for (generation, ancestors) in sstables {
        if !ancestors.is_empty() && is_product(ancestors) {
            obsolete.insert(*generation, Why::Unfinished);
        } else {
            compacted.extend(ancestors);
        }
    }
    for generation in compacted.into_iter().filter(|generation| sstables.contains_key(generation)) {
        obsolete.insert(generation, Why::Compacted);
    }
    obsolete
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads SSTables such as `1 2 4<1,2`.
    fn sstables(text: &str) -> Generations {
        let numbers = |list: &str| list.split(',').map(|number| number.parse().unwrap()).collect();
        let one = |word: &str| match word.split_once('<') {
            Some((generation, ancestors)) => (generation.parse().unwrap(), numbers(ancestors)),
            None => (word.parse().unwrap(), BTreeSet::new()),
        };
        text.split_whitespace().map(one).collect()
    }

    fn read(sstables: &Generations, obsolete: &Obsolete) -> String {
        let left: Vec<String> =
            sstables.keys().filter(|of| !obsolete.contains_key(of)).map(u64::to_string).collect();
        left.join(" ")
    }

    /// The rules as scripts: the SSTables with their ancestors, the sources in `compactions_in_progress`, and those that
    /// are read.
    const SCRIPT: &str = "
        1.2 | 1 2 3               |         | 1 2 3     | nothing was compacted
        1.2 | 3 4<1,2             |         | 3 4       | the sources are gone
        1.2 | 2 3 4<1,2           |         | 3 4       | one is left
        1.2 | 1 2 3 4<1,2         |         | 1 2 3     | all are there: they have all rows
        1.2 | 1 2 4<1,2 5<1,2     |         | 1 2       | a leveled compaction writes several
        1.2 | 1 4<1,2 5<1,4       |         | 4         | 4 is complete; 5 has the rows of both, as they are there
        1.2 | 1 4<1,2 5<1,2,4     |         | 5         | 2 was deleted after 5 was begun
        1.2 | 1 6 5<1,4,6         |         | 5         | 4 was deleted after the compaction of 5
        2.0 | 1 2 4<1,2           | 1,2     | 1 2       | the compaction was not finished
        2.0 | 1 2 4<1,2 5<1,2     | 1,2     | 1 2       | .. nor the second of its SSTables
        2.0 | 2 4<1,2             | 1,2     | 4         | it was finished, and 1 deleted already
        2.0 | 1 2 4<1,2           | 7,8     | 4         | another compaction was not finished
        2.0 | 1 2 3 4<1,2 5<3     | 1,2,3   | 1 2 3     | two compactions
        2.0 | 1 2 3               | 1,2     | 1 2 3     | nothing was written yet
        2.0 | 4 6<1,2             | 4       | 4 6       | ancestors that are gone
    ";

    #[test]
    fn each_release_reads_the_sstables_of_its_rule() {
        for line in SCRIPT.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let [release, found, sources, expected, _] = fields[..] else { panic!("{line}") };
            let found = sstables(found);
            let sources = sources.split(',').filter_map(|number| number.parse().ok()).collect();
            let obsolete = match release {
                "1.2" => of_counters(&found),
                _ => of_unfinished(&found, &sources),
            };
            assert_eq!(read(&found, &obsolete), expected, "{line}");
        }
    }

    proptest::proptest! {
        /// No rows are lost by either rule as long as an SSTable has the rows of all its ancestors.
        #[test]
        fn each_row_is_in_an_sstable_that_is_read(
            flushed in 1u64..6,
            steps in proptest::collection::vec((0usize..6, 0usize..6, 0usize..4), 1..8),
        ) {
            // The rows of an SSTable are the numbers of the flushed ones that it has.
            let mut rows: BTreeMap<u64, BTreeSet<u64>> = (1..=flushed).map(|of| (of, BTreeSet::from([of]))).collect();
            let mut found: Generations = rows.keys().map(|of| (*of, BTreeSet::new())).collect();
            for (one, other, deleted) in steps {
                let generations: Vec<u64> = found.keys().copied().collect();
                let sources = BTreeSet::from([one, other].map(|at| generations[at % generations.len()]));
                // Ancestors that are still there are taken over.
                let older = sources.iter().flat_map(|of| &found[of]).filter(|of| found.contains_key(of));
                let ancestors: BTreeSet<u64> = older.chain(&sources).copied().collect();
                let product = rows.keys().last().unwrap() + 1;
                let of_product = sources.iter().flat_map(|of| rows[of].clone()).collect();
                rows.insert(product, of_product);
                found.insert(product, ancestors);
                for source in sources.into_iter().take(deleted) {
                    found.remove(&source);
                }
            }
            let obsolete = of_counters(&found);
            let read: BTreeSet<u64> =
                found.keys().filter(|of| !obsolete.contains_key(of)).flat_map(|of| rows[of].clone()).collect();
            proptest::prop_assert_eq!(read, (1..=flushed).collect::<BTreeSet<u64>>());
        }
    }
}
