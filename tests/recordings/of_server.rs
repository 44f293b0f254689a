//! Conversations with real Cassandra servers, replayed: see `recordings/README.md`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::support;

use std::fs;

use support::recording::Recording;
use support::server::Server;

macro_rules! recordings {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                replay($name);
            }
        )*

        /// A file that nobody replays proves nothing.
        #[test]
        fn every_file_is_replayed() {
            let replayed = [$($name),*];
            for entry in fs::read_dir(support::idl::repository("tests/recordings")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if let Some(name) = name.strip_suffix(".jsonl") {
                    assert!(replayed.contains(&name), "{name}");
                }
            }
        }
    };
}

recordings! {
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
}

/// Differences that are shown of one file.
const SHOWN_MAX: usize = 10;

fn replay(name: &str) {
    let recording = Recording::of(name);
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &recording.config, &["--compat", &recording.compat]);
    let differences = recording.differences(&server);
    let shown: Vec<&str> =
        differences.iter().take(SHOWN_MAX).map(|difference| &difference.text[..]).collect();
    assert!(shown.is_empty(), "{} replies differ:\n{}", differences.len(), shown.join("\n"));
    server.stop();
}
