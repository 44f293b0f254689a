//! The embedded store stores the same data as the store in memory: range tombstones, static names, elements.

use std::sync::Arc;
use std::time::Duration;

use crate::modify::testing::*;
use base::partitioner::PartitionerRef;
use base::schema::Catalog;
use base::util::Clock;
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use store::Store;

const TABLES: [&str; 2] = [
    "CREATE TABLE t (k int, c text, d int, s text static, ss set<int> static, v int, m map<text,int>, l list<int>, \
     PRIMARY KEY (k, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)",
    "CREATE TABLE dense (k int, c int, d text, v text, PRIMARY KEY (k, c, d)) WITH COMPACT STORAGE",
];

const SCRIPT: [&str; 17] = [
    "INSERT INTO t (k, c, d, s, ss, v, m, l) VALUES (1, 'a', 1, 'x', {3, 1}, 1, {'b': 2, 'a': 1}, [1])",
    "INSERT INTO t (k, c, d, v, m) VALUES (1, 'a', 2, 2, {'b': 2})",
    "INSERT INTO t (k, c, d, v, m) VALUES (1, '', 2, 2, {'': 2})",
    "INSERT INTO t (k, c, d, v) VALUES (1, 'ab', -1, 3)",
    "UPDATE t SET m = {'c': 3} WHERE k = 1 AND c = 'a' AND d = 2",
    "DELETE m FROM t WHERE k = 1 AND c = 'a' AND d = 1",
    "UPDATE t SET m['z'] = 26 WHERE k = 1 AND c = 'a' AND d = 1",
    "DELETE FROM t WHERE k = 1 AND c = 'ab'",
    "DELETE FROM t WHERE k = 1 AND c = '' AND d = 2",
    "INSERT INTO t (k, c, d, v) VALUES (1, 'ab', 5, 3)",
    "UPDATE t SET ss = {9} WHERE k = 1",
    "UPDATE t SET l = [0] + l WHERE k = 1 AND c = 'a' AND d = 1",
    "DELETE FROM t WHERE k = 1 AND c = 'a' AND d = 2",
    "INSERT INTO dense (k, c, d, v) VALUES (1, 2, 'x', 'y')",
    "INSERT INTO dense (k, c, v) VALUES (1, 2, 'z')",
    "INSERT INTO dense (k, c, d, v) VALUES (1, 3, 'x', 'y')",
    "DELETE FROM dense WHERE k = 1 AND c = 2",
];

#[tokio::test]
async fn the_stores_agree_after_each_statement() {
    let directory = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions {
        directory: directory.path().to_owned(),
        sync: SyncMode::Periodic(Duration::from_secs(10)),
        cache_bytes: 1 << 20,
    };
    let embedded = |partitioner: PartitionerRef, clock: Arc<Clock>| -> Arc<dyn Store> {
        Arc::new(EmbeddedStore::open(options, partitioner, &Arc::new(Catalog::default()), clock).unwrap())
    };
    let disk = Bench::with_store(&TABLES, embedded).await;
    let memory = Bench::new(&TABLES).await;
    let all_but_uuids = |cells: Vec<String>| -> Vec<String> {
        cells
            .into_iter()
            .map(|cell| if cell.contains("00016c00") { cell[cell.len() - 8..].to_owned() } else { cell })
            .collect()
    };
    for statement in SCRIPT {
        disk.done(statement).await;
        memory.done(statement).await;
        for table in ["t", "dense"] {
            let (left, right) = (disk.shown(table, "00000001").await, memory.shown(table, "00000001").await);
            assert_eq!(all_but_uuids(left), all_but_uuids(right), "{statement}");
        }
    }
    assert_eq!(
        all_but_uuids(disk.shown("t", "00000001").await),
        [
            "ffff00000000000000017300=78",
            "ffff000000000000000273730000040000000900=",
            "000261620000040000000500000000=",
            "00026162000004000000050000017600=00000003",
            "0001610000040000000100000000=",
            "00000000",
            "00000001",
            "000161000004000000010000016d0000017a00=0000001a",
            "000161000004000000010000017600=00000001",
        ]
    );
    disk.check("dense", "00000001", &["0004|00000003|00 0001|78|00 = 79"]).await;
}
