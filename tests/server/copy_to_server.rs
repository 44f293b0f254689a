//! `thriftstore copy` to a running server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use crate::{copy_support, support};
use copy_support::{bare_conf, conf, copy, cql, fill, fill_made, open, run_copy, runtime};
use cql::Outcome;
use support::server::Server;
use tempfile::TempDir;

/// Returns a directory with a source in `from`, its configuration, and an empty directory for a server.
fn source() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let conf = conf("RandomPartitioner");
    fs::write(directory.path().join("storage-conf.xml"), &conf).unwrap();
    fs::create_dir(directory.path().join("server")).unwrap();
    runtime().block_on(async {
        let side = open(&directory.path().join("from"), &conf).await;
        fill(&side).await;
        fill_made(&side).await;
        side.close().await.unwrap();
    });
    directory
}

fn server(directory: &Path, conf: &str) -> Server {
    Server::start(&directory.join("server"), conf, &["--cql", "127.0.0.1:0"])
}

#[test]
fn a_running_server_is_filled_with_schema_deletions_and_counters() {
    let directory = source();
    let in_it = directory.path();
    let server = server(in_it, &bare_conf("RandomPartitioner"));
    let to = format!("thrift:{}", server.address);
    let places = ["--from", "data:from", "--to", &to, "--skip-cql-tables"];
    let (succeeded, text) = run_copy(in_it, &places[..4]);
    assert!(!succeeded && text.contains("cannot store tables created by CQL"), "{text}");
    let progress = ["--progress-file", "progress.json", "--verify", "--rate", "50"];
    let text = copy(in_it, &[&places[..], &progress].concat());
    assert!(text.contains("copied: 5 column families") && text.contains("compared: 5"), "{text}");
    // Nothing is added to counters by a second copy.
    let text = copy(in_it, &[&places[..], &progress].concat());
    assert!(text.contains("made.counted was copied before"), "{text}");
    copy(in_it, &[&places[..], &["--verify"]].concat());
    server.stop();
    // Entry by entry: the tombstones are there, and gc_grace_seconds begins anew.
    let words = ["--from", "data:from", "--to", "data:server/data", "--keyspace", "K", "--verify-only"];
    let (_, text) = run_copy(in_it, &words);
    assert!(text.contains("compared: 3 column families"), "{text}");
    let differences: Vec<&str> = text.lines().filter(|line| line.contains(" row ")).collect();
    assert!(differences.len() > 5, "{text}");
    assert!(differences.iter().all(|line| line.ends_with("another time of deletion")), "{text}");
    runtime().block_on(async {
        let to = open(&in_it.join("server/data"), &bare_conf("RandomPartitioner")).await;
        let Outcome::Rows(found) = cql(&to, "SELECT k FROM people WHERE city = 'Ulm'").await else {
            panic!("no rows")
        };
        assert_eq!(found.rows.len(), 10, "the index was created, too");
        to.close().await.unwrap();
    });
}

#[test]
fn a_server_with_another_schema_is_refused_before_the_first_row() {
    let directory = source();
    let in_it = directory.path();
    let server = server(in_it, &bare_conf("RandomPartitioner"));
    let to = format!("thrift:{}", server.address);
    let made = ["--from", "data:from", "--to", &to, "--keyspace", "made", "--column-family"];
    copy(in_it, &[&made[..], &["people"]].concat());
    let copied = ["--from", &to, "--to", "data:copied", "--keyspace", "made", "--column-family", "people"];
    copy(in_it, &copied);
    runtime().block_on(async {
        let changed = open(&in_it.join("copied"), &conf("RandomPartitioner")).await;
        cql(&changed, "DROP INDEX people_city_idx").await;
        changed.close().await.unwrap();
    });
    let (succeeded, text) = run_copy(
        in_it,
        &["--from", "data:copied", "--to", &to, "--keyspace", "made", "--column-family", "people"],
    );
    assert!(!succeeded && text.contains("other validators or indexes of columns in the target"), "{text}");
    server.stop();
}

#[test]
fn a_cluster_that_is_a_thriftstore_is_refused_if_it_lacks_column_families() {
    let directory = source();
    let in_it = directory.path();
    let mut server = server(in_it, &bare_conf("Murmur3Partitioner"));
    let to = format!("cluster:{}", server.native_address());
    let (succeeded, text) = run_copy(in_it, &["--from", "data:from", "--to", &to, "--keyspace", "K"]);
    assert!(
        !succeeded && text.contains("it is a thriftstore") && text.contains("copy to thrift:HOST:PORT"),
        "{text}"
    );
    server.stop();
}

#[test]
fn an_exception_without_a_text_is_named() {
    let directory = source();
    let in_it = directory.path();
    let five = conf("RandomPartitioner")
        .replace("<ReplicationFactor>1</ReplicationFactor>", "<ReplicationFactor>5</ReplicationFactor>");
    let server = server(in_it, &five);
    let to = format!("thrift:{}", server.address);
    let (succeeded, text) = run_copy(in_it, &["--from", "data:from", "--to", &to, "--keyspace", "K"]);
    assert!(
        !succeeded && text.contains("batch_mutate was refused: UnavailableException: fewer replicas"),
        "{text}"
    );
    server.stop();
}
