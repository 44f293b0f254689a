//! Compares the embedded store with the reference model: after any operations, compactions and restarts both return the
//! same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod case;
mod names;
mod ops;
mod stored_slices;
use crate::{reference_model, store_support};

use base::partitioner::PARTITIONERS;
use base::util::Release;
use bytes::Bytes;
use case::{Case, Pools};
use names::{SHORT, long_names, names_for};
use ops::{Mix, op};
use proptest::prelude::*;
use store_support as support;

const COMPARATORS: [&str; 12] = [
    "AsciiType",
    "BytesType",
    "CompositeType(UTF8Type,UTF8Type)",
    "IntegerType",
    "LexicalUUIDType",
    "LongType",
    "ReversedType(UTF8Type)",
    "TimeUUIDType",
    "UTF8Type",
    "com.example.AnyCaseType",
    "com.example.FoldedType",
    "com.example.BackwardsType",
];
/// The releases that count super columns in different ways.
const COUNT_RELEASES: [Release; 4] = [Release::V0_3, Release::V0_4, Release::V0_6, Release::V0_7];
/// The releases with range tombstones.
const RANGE_RELEASES: [Release; 2] = [Release::V2_0, Release::V2_1];

fn some_of(names: Vec<Bytes>, most: usize) -> impl Strategy<Value = Vec<Bytes>> {
    between(names, 1, most)
}

fn between(names: Vec<Bytes>, least: usize, most: usize) -> impl Strategy<Value = Vec<Bytes>> {
    let [least, most] = [least, most].map(|size| size.min(names.len()));
    prop::sample::subsequence(names, least..=most)
}

fn any_types() -> impl Strategy<Value = [&'static str; 3]> {
    [0..COMPARATORS.len(), 0..COMPARATORS.len(), 0..COMPARATORS.len()]
        .prop_map(|picked| picked.map(|at| COMPARATORS[at]))
}

/// The least and largest number of names of a case: of the Standard column family, of super columns, and of columns in
/// them.
type Sizes = [(usize, usize); 3];

const FEW: Sizes = [(1, 6), (1, 6), (1, 6)];
/// Several names in few super columns, so that many range tombstones overlap.
const CROWDED: Sizes = [(4, 6), (1, 2), (4, 6)];

fn case(
    releases: &[Release],
    most_keys: usize,
    sizes: Sizes,
) -> impl Strategy<Value = ([&'static str; 3], usize, Release, Pools)> {
    let release = prop::sample::select(releases.to_vec());
    (any_types(), 0..PARTITIONERS.len(), release).prop_flat_map(move |(types, partitioner, release)| {
        let keys = some_of(SHORT.iter().map(|key| Bytes::from_static(key)).collect(), most_keys);
        let names = [0, 1, 2].map(|at| {
            let (least, most) = sizes[at];
            between(names_for(types[at], release), least, most)
        });
        (Just(types), Just(partitioner), Just(release), (keys, names)).prop_map(
            |(types, partitioner, release, (keys, names))| {
                (types, partitioner, release, Pools { keys, names })
            },
        )
    })
}

/// Returns the number of cases of a test; `PROPTEST_CASES` changes it. Seeds of failures are not stored, because they
/// are useless after a strategy changes; a failure becomes a script instead.
fn cases(usual: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(usual),
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn the_store_returns_what_the_model_returns(
        (types, partitioner, release, pools) in case(&Release::ALL, 4, FEW),
        ops in prop::collection::vec(op(Mix::Cells), 1..60),
    ) {
        Case::new(types, PARTITIONERS[partitioner].1(), release, pools).run(ops)?;
    }

    #[test]
    fn counters_have_the_totals_of_the_model(
        (types, partitioner, release, pools) in case(&Release::ALL, 4, FEW),
        ops in prop::collection::vec(op(Mix::Cells), 1..40),
    ) {
        let mut case = Case::new(types, PARTITIONERS[partitioner].1(), release, pools);
        case.counts = true;
        case.run(ops)?;
    }

    #[test]
    fn slices_count_super_columns_as_in_the_model(
        (types, partitioner, release, pools) in case(&COUNT_RELEASES, 1, FEW),
        ops in prop::collection::vec(op(Mix::Deletions), 1..60),
    ) {
        Case::new(types, PARTITIONERS[partitioner].1(), release, pools).run(ops)?;
    }

    #[test]
    fn range_tombstones_shadow_cells_as_in_the_model(
        (types, partitioner, release, pools) in case(&RANGE_RELEASES, 1, CROWDED),
        counts in prop::bool::weighted(0.2),
        ops in prop::collection::vec(op(Mix::Ranges), 1..40),
    ) {
        let mut case = Case::new(types, PARTITIONERS[partitioner].1(), release, pools);
        case.counts = counts;
        case.run(ops)?;
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn keys_and_names_of_any_length_are_stored(
        keys in some_of(long_names(), 3),
        names in [some_of(long_names(), 4), some_of(long_names(), 3), some_of(long_names(), 4)],
        partitioner in 0..PARTITIONERS.len(),
        release in prop::sample::select(Release::ALL.to_vec()),
        compare_with in prop::sample::select(vec!["BytesType", "com.example.BackwardsType"]),
        ops in prop::collection::vec(op(Mix::Cells), 1..25),
    ) {
        let make = PARTITIONERS[partitioner].1;
        Case::new([compare_with; 3], make(), release, Pools { keys, names }).run(ops)?;
    }
}
