//! The list of recordings, and the comparison that a replay must pass.

use std::fs;

use crate::support;
use crate::support::recording::Difference;

/// The most differences of one recording that are printed.
const SHOWN_MAX: usize = 10;

/// Defines a test for each recording, which calls a function with the recording's name.
macro_rules! replay_each {
    ($replay:ident) => {
        $crate::list::for_each_recording! { test_each $replay }
    };
}
pub(crate) use replay_each;

macro_rules! test_each {
    ($replay:ident $($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                $replay($name);
            }
        )*
    };
}
pub(crate) use test_each;

macro_rules! names {
    ($array:ident $($test:ident: $name:literal,)*) => {
        const $array: &[&str] = &[$($name),*];
    };
}

/// Calls another macro with the list of recordings after one identifier.
macro_rules! for_each_recording {
    ($then:ident $word:ident) => {
        $then! {
            $word
            errors_0_4: "0.4-errors",
            mixed_0_4: "0.4-mixed",
            ranges_order_preserving_0_4: "0.4-ranges-order-preserving",
            errors_0_6: "0.6-errors",
            mixed_0_6: "0.6-mixed",
            ranges_order_preserving_0_6: "0.6-ranges-order-preserving",
            ranges_0_6: "0.6-ranges",
            standard_0_6: "0.6-standard",
            super_0_6: "0.6-super",
            errors_0_7: "0.7-errors",
            index_0_7: "0.7-index",
            ranges_0_7: "0.7-ranges",
            standard_0_7: "0.7-standard",
            super_0_7: "0.7-super",
            again_0_7: "0.7-again",
            system_0_7: "0.7-system",
            counters_0_8: "0.8-counters",
            errors_0_8: "0.8-errors",
            index_0_8: "0.8-index",
            ranges_0_8: "0.8-ranges",
            standard_0_8: "0.8-standard",
            super_0_8: "0.8-super",
            system_0_8: "0.8-system",
            counters_1_0: "1.0-counters",
            errors_1_0: "1.0-errors",
            index_1_0: "1.0-index",
            ranges_1_0: "1.0-ranges",
            standard_1_0: "1.0-standard",
            super_1_0: "1.0-super",
            system_1_0: "1.0-system",
            counters_1_1: "1.1-counters",
            errors_1_1: "1.1-errors",
            index_1_1: "1.1-index",
            ranges_1_1: "1.1-ranges",
            standard_1_1: "1.1-standard",
            super_1_1: "1.1-super",
            system_1_1: "1.1-system",
            counters_1_2: "1.2-counters",
            errors_1_2: "1.2-errors",
            index_1_2: "1.2-index",
            ranges_1_2: "1.2-ranges",
            standard_1_2: "1.2-standard",
            super_1_2: "1.2-super",
            again_1_2: "1.2-again",
            pages_1_2: "1.2-pages",
            cql_articles_1_2: "1.2-cql-articles",
            cql2_1_2: "1.2-cql2",
            system_1_2: "1.2-system",
            counters_2_0: "2.0-counters",
            errors_2_0: "2.0-errors",
            index_2_0: "2.0-index",
            ranges_2_0: "2.0-ranges",
            standard_2_0: "2.0-standard",
            super_2_0: "2.0-super",
            system_2_0: "2.0-system",
            counters_2_1: "2.1-counters",
            cql_articles_2_1: "2.1-cql-articles",
            cql_features_2_1: "2.1-cql-features",
            errors_2_1: "2.1-errors",
            index_2_1: "2.1-index",
            ranges_2_1: "2.1-ranges",
            standard_2_1: "2.1-standard",
            super_2_1: "2.1-super",
            again_2_1: "2.1-again",
            pages_2_1: "2.1-pages",
            system_2_1: "2.1-system",
            counters_2_2: "2.2-counters",
            cql_articles_2_2: "2.2-cql-articles",
            cql_features_2_2: "2.2-cql-features",
            errors_2_2: "2.2-errors",
            index_2_2: "2.2-index",
            ranges_2_2: "2.2-ranges",
            standard_2_2: "2.2-standard",
            super_2_2: "2.2-super",
            again_2_2: "2.2-again",
            pages_2_2: "2.2-pages",
            system_2_2: "2.2-system",
            counters_3_0: "3.0-counters",
            cql_articles_3_0: "3.0-cql-articles",
            cql_features_3_0: "3.0-cql-features",
            errors_3_0: "3.0-errors",
            index_3_0: "3.0-index",
            ranges_3_0: "3.0-ranges",
            standard_3_0: "3.0-standard",
            super_3_0: "3.0-super",
            again_3_0: "3.0-again",
            pages_3_0: "3.0-pages",
            system_3_0: "3.0-system",
            counters_3_11: "3.11-counters",
            cql_articles_3_11: "3.11-cql-articles",
            cql_features_3_11: "3.11-cql-features",
            errors_3_11: "3.11-errors",
            index_3_11: "3.11-index",
            ranges_3_11: "3.11-ranges",
            standard_3_11: "3.11-standard",
            super_3_11: "3.11-super",
            again_3_11: "3.11-again",
            pages_3_11: "3.11-pages",
            system_3_11: "3.11-system",
        }
    };
}
pub(crate) use for_each_recording;

for_each_recording! { names NAMES }

/// A file that no test replays proves nothing, and some rules are tested by one file only.
#[test]
fn every_file_is_replayed() {
    for entry in fs::read_dir(support::repository("tests/recordings")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".jsonl") {
            assert!(NAMES.contains(&name), "{name}");
        }
    }
}

/// Fails with the first differences, if there are any.
pub fn assert_none(differences: &[Difference]) {
    let shown: Vec<&str> =
        differences.iter().take(SHOWN_MAX).map(|difference| &difference.text[..]).collect();
    assert!(shown.is_empty(), "{} replies differ:\n{}", differences.len(), shown.join("\n"));
}
