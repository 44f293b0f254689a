//! Recorded conversations with old servers, replayed on a gateway of a cluster. Replies differ only as docs/cluster.md
//! lists.
// ring: --nodes 1
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Mutex, MutexGuard};

use crate::{cluster_support, support};
use cluster_support::{cql, empty, ring, runtime};
use support::client::Style;
use support::recording::Recording;
use support::server::{Server, storage_conf};
use support::value::{Value, fields, text};

/// The most differences of one recording that are printed.
const SHOWN_MAX: usize = 10;

/// Returns the listed differences: the causes by recording and line.
fn listed() -> BTreeMap<(String, usize), Vec<String>> {
    let file = support::repository("tests/cluster/differences.txt");
    let mut listed = BTreeMap::new();
    for line in fs::read_to_string(file).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let recording = words.next().unwrap_or_else(|| panic!("an empty line"));
        let number =
            words.next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line:?}"));
        let causes: Vec<String> = words.map(str::to_owned).collect();
        assert!(!causes.is_empty(), "{line:?} has no cause");
        let before = listed.insert((recording.to_owned(), number), causes);
        assert!(before.is_none(), "{line:?} is listed twice");
    }
    listed
}

macro_rules! recordings {
    ($($test:ident: $name:literal, $differ:literal differ;)*) => {
        $(
            #[test]
            #[ignore = "needs a ring: tests/cluster/run"]
            fn $test() {
                replay($name, $differ);
            }
        )*

        /// Differences of a recording that no test replays would not be checked.
        #[test]
        fn every_listed_recording_is_replayed() {
            let replayed: BTreeSet<String> = [$($name.to_owned()),*].into();
            let found: BTreeSet<String> = listed().into_keys().map(|(recording, _)| recording).collect();
            assert_eq!(found.difference(&replayed).collect::<Vec<_>>(), Vec::<&String>::new());
        }
    };
}

// Recordings with the same configuration are adjacent, because tests run in the order of their names.
recordings! {
    v0_4_mixed: "0.4-mixed", 27 differ;
    v0_6_standard: "0.6-standard", 0 differ;
    v0_6_super: "0.6-super", 12 differ;
    v2_1_counters: "2.1-counters", 0 differ;
    v2_1_index: "2.1-index", 108 differ;
    v2_1_ranges: "2.1-ranges", 34 differ;
    v2_1_standard: "2.1-standard", 2 differ;
    v2_1_super: "2.1-super", 1 differ;
}

/// The configuration whose tables the ring has. One test at a time uses the ring, which also has rows of earlier
/// recordings.
static RING: Mutex<Option<String>> = Mutex::new(None);

/// Returns the ring, empty or with the tables of a configuration that defines some. Creating those takes longer than a
/// recording, so they are kept; the keys of each recording with such a configuration begin with different letters.
fn ring_for(config: &str) -> MutexGuard<'static, Option<String>> {
    let mut ring = RING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !(config.contains("<Keyspace ") && ring.as_deref() == Some(config)) {
        runtime().block_on(empty());
    }
    *ring = Some(config.to_owned());
    ring
}

fn replay(name: &str, count: usize) {
    let recording = Recording::of(name);
    let of_this = listed().into_keys().filter(|(of, _)| of == name);
    let expected: BTreeSet<usize> = of_this.map(|(_, line)| line).collect();
    assert_eq!(expected.len(), count, "tests/cluster/differences.txt lists other differences of {name}");
    let _ring = ring_for(&recording.config);
    let directory = tempfile::tempdir().unwrap();
    let more = ["--cluster", &ring().join(","), "--compat", &recording.compat];
    let server = Server::start(directory.path(), &recording.config, &more);
    let differences = recording.differences(&server);
    server.stop();
    let unlisted = differences.iter().filter(|difference| !expected.contains(&difference.line));
    let unlisted: Vec<&str> = unlisted.map(|difference| &difference.text[..]).collect();
    let found: BTreeSet<usize> = differences.iter().map(|difference| difference.line).collect();
    let gone: Vec<&usize> = expected.difference(&found).collect();
    assert!(gone.is_empty(), "{name}: listed but no longer different: lines {gone:?}");
    let shown = &unlisted[..unlisted.len().min(SHOWN_MAX)];
    assert!(
        shown.is_empty(),
        "{name}: {} replies differ and are not listed:\n{}",
        unlisted.len(),
        shown.join("\n")
    );
    println!("{name}: {} of {} replies differ, as listed", found.len(), recording.calls());
}

/// The table of differences in docs/cluster.md has a row that begins with each cause.
#[test]
fn the_documentation_has_every_cause() {
    let document = fs::read_to_string(support::repository("docs/cluster.md")).unwrap();
    let causes: BTreeSet<String> = listed().into_values().flatten().collect();
    assert!(!causes.is_empty());
    for cause in causes {
        let row = format!("| `{cause}`: ");
        assert_eq!(document.matches(&row).count(), 1, "docs/cluster.md should have one row {row:?}");
    }
}

/// The first calls of Hadoop jobs: where the ring is, and how to split it. The nodes update their estimates only every
/// few minutes, so the test writes some.
#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_hadoop_job_gets_the_ring_and_its_splits() {
    let config = storage_conf("<Partitioner>Murmur3Partitioner</Partitioner>");
    let _ring = ring_for(&config);
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &config, &["--cluster", &ring().join(",")]);
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    let ranges = client.call("describe_ring", &fields([(1, text("Keyspace1"))])).value().clone();
    let [range] = ranges.items() else { panic!("a gateway is the whole ring: {ranges:?}") };
    let (start, end) = (range.field(1).str().to_owned(), range.field(2).str().to_owned());
    assert_eq!(start, end);
    let mut splits = |start: &str, end: &str, rows: i32| {
        let args = fields([(1, text("Standard1")), (2, text(start)), (3, text(end)), (4, Value::I32(rows))]);
        let found = client.call("describe_splits", &args).value().clone();
        found.items().iter().map(|token| token.str().to_owned()).collect::<Vec<_>>()
    };
    runtime().block_on(cql("DELETE FROM system.size_estimates WHERE keyspace_name = 'Keyspace1'"));
    assert_eq!(splits(&start, &end, 100), [&start[..], &end], "there are no estimates of rows yet");
    let low = i64::MIN;
    runtime().block_on(cql(&format!(
        "INSERT INTO system.size_estimates (keyspace_name, table_name, range_start, range_end, mean_partition_size, \
         partitions_count) VALUES ('Keyspace1', 'Standard1', '{low}', '0', 100, 1000)"
    )));
    assert_eq!(splits("-1000", "1000", 1), ["-1000", "1000"], "a short range has few rows");
    assert_eq!(splits("0", "0", 1000), ["0", &low.to_string(), "0"]);
    assert_eq!(splits(&start, &end, 100).len(), 21, "half of the ring has 1000 rows");
    server.stop();
}
