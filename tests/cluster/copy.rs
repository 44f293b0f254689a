//! `thriftstore copy` to a ring and back. `tests/cluster/run` starts the ring.
//!
//! `THRIFTSTORE_COPY_CELLS` sets the number of cells; the default is 100,000.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::{cluster_support, copy_support};
use base::marshal::Types;
use base::model::Mutation;
use base::util::Clock;
use copy_support::{
    T, apply, bare_conf, bytes, conf, config, copy, cql, dumped, family, fill, fill_made, live, open,
    run_copy, runtime,
};
use cql::Outcome;
use db::{Database, Restore};
use transfer::endpoint::{Location, OpenOptions};

const COLUMNS: usize = 50;

fn cells_wanted() -> usize {
    std::env::var("THRIFTSTORE_COPY_CELLS").map_or(100_000, |count| count.parse().expect("a number of cells"))
}

/// Drops the keyspaces of this test from the ring.
async fn clear() {
    let (types, config) = (Types::builtin(), config(&bare_conf("Murmur3Partitioner")));
    let options = cluster_support::options();
    let clock = std::sync::Arc::new(Clock::system());
    let opened = OpenOptions {
        config: &config,
        types: &types,
        clock,
        cluster: Some(&options),
        keyspace: None,
        creates: false,
    };
    let side = transfer::endpoint::open(&Location::Cluster(None), &opened).await.unwrap();
    let database: &Arc<Database> = side.database.as_ref().unwrap();
    for keyspace in ["K", "made"] {
        if database.catalog().keyspace(keyspace).is_some() {
            database.schema_changes(Restore::behaviour()).drop_keyspace(keyspace).await.unwrap();
        }
    }
    side.close().await.unwrap();
}

async fn fill_many(directory: &Path, cells: usize) {
    let side = open(directory, &conf("RandomPartitioner")).await;
    fill(&side).await;
    fill_made(&side).await;
    let cf = family(&side, "K", "Cells");
    let rows: Vec<usize> = (0..cells / COLUMNS).collect();
    for rows in rows.chunks(100) {
        let row = |number: &usize| {
            let column = |column: usize| {
                live(&format!("c{column:04}"), &format!("{number} {column}"), T + column as i64)
            };
            Mutation::of(bytes(&format!("row {number}")), cf.clone(), (0..COLUMNS).map(column).collect())
        };
        apply(&side, rows.iter().map(row).collect()).await;
    }
    side.close().await.unwrap();
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn data_copied_to_a_ring_and_back_is_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let in_it = directory.path();
    fs::write(in_it.join("random.xml"), conf("RandomPartitioner")).unwrap();
    fs::write(in_it.join("murmur.xml"), bare_conf("Murmur3Partitioner")).unwrap();
    runtime().block_on(async {
        clear().await;
        fill_many(&in_it.join("a"), cells_wanted()).await;
    });
    let ring = format!("cluster:{}", cluster_support::ring().join(","));

    let there = ["--from", "data:a", "--config", "random.xml", "--to", &ring, "--to-config", "murmur.xml"];
    let (is_content, text) = run_copy(in_it, &there);
    assert!(!is_content && text.contains("tables created by CQL: made.books"), "{text}");
    let began = Instant::now();
    let progress = ["--skip-cql-tables", "--progress-file", "progress.json", "--verify"];
    let text = copy(in_it, &[&there[..], &progress].concat());
    println!("copied to the ring and compared: {:?}\n{text}", began.elapsed());
    let text = copy(in_it, &[&there[..], &progress].concat());
    assert!(text.contains("K.Cells was copied before"), "{text}");
    // A second copy does not count counters twice.
    let counters = ["--keyspace", "made", "--column-family", "counted", "--verify"];
    copy(in_it, &[&there[..], &counters].concat());

    let began = Instant::now();
    let back = ["--from", &ring, "--config", "murmur.xml", "--to", "data:b"];
    let text = copy(in_it, &[&back[..], &["--verify"]].concat());
    println!("copied back and compared: {:?}\n{text}", began.elapsed());

    let both = ["--from", "data:a", "--config", "random.xml", "--to", "data:b", "--to-config", "murmur.xml"];
    for (keyspace, family) in
        [("K", "Cells"), ("K", "Times"), ("K", "Supers"), ("made", "people"), ("made", "counted")]
    {
        let only = ["--verify-only", "--keyspace", keyspace, "--column-family", family];
        let text = copy(in_it, &[&both[..], &only].concat());
        assert!(text.contains("compared: 1 column families"), "{text}");
    }
    runtime().block_on(async {
        let b = open(&in_it.join("b"), &bare_conf("Murmur3Partitioner")).await;
        let rows = dumped(&b, &family(&b, "K", "Cells")).await;
        let many = rows.iter().filter(|row| row.key.starts_with(b"row "));
        assert_eq!(many.map(|row| row.changes.len()).sum::<usize>(), cells_wanted() / COLUMNS * COLUMNS);
        let Outcome::Rows(found) = cql(&b, "SELECT k FROM people WHERE city = 'Ulm'").await else {
            panic!("no rows")
        };
        assert_eq!(found.rows.len(), 10);
        b.close().await.unwrap();
        clear().await;
    });
}
