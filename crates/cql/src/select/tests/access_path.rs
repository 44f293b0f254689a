//! Tests how statements find their rows, what their reads record, and which tombstones they pass.

use super::*;
use crate::{AccessPath, PathIndex, PathPartitions, prepare};
use base::model::Bounds;
use base::util::meter;
use base::util::meter::{RequestLimits, RequestMeter};
use store::{RecordingLimits, RecordingStore, StoreRequest};

fn int(value: i32) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

/// Runs a statement over a recording store, and returns its path and what was recorded.
async fn recorded(session: &Session, text: &str) -> (AccessPath, Arc<RecordingStore>) {
    let limits = RecordingLimits { requests: 2, cells: 3, cell_bytes: 1000 };
    let watched = Arc::new(RecordingStore::new(session.database.store().clone()).with_limits(limits));
    let database = Arc::new(session.database.with_store(watched.clone()));
    let behaviour = Behaviour::of(session.release);
    let reported = ReportedVersion::of_release(behaviour);
    let language = Language::Newest;
    let state = QueryState {
        database: &database,
        behaviour,
        reported,
        language,
        keyspace: Some("s"),
        user: None,
        sees_new_indexes: false,
    };
    let prepared = prepare(&state, text).unwrap();
    assert!(prepared.only_reads());
    let path = prepared.path(&state, &options()).unwrap().unwrap();
    let meter = Arc::new(RequestMeter::new(&RequestLimits::default(), Arc::default()));
    let options = options();
    let run = crate::execute_prepared(&state, &prepared, &options);
    meter::metered(meter, run).await.unwrap();
    (path, watched)
}

#[tokio::test]
async fn a_path_names_partitions_direction_index_and_filters() {
    let session = with_tables().await;
    session.done("INSERT INTO i (k, c, v, w) VALUES (1, 2, 3, 4)").await;
    let path = |text: &'static str| {
        let session = &session;
        async move { recorded(session, text).await.0 }
    };
    let plain = AccessPath {
        partitions: PathPartitions::Keys(vec![int(1)]),
        index: None,
        is_reversed: false,
        filtered: Vec::new(),
        sorts: false,
        limit: None,
    };
    assert_eq!(path("SELECT * FROM i WHERE k = 1").await, plain);
    let reversed = AccessPath { is_reversed: true, limit: Some(5), ..plain.clone() };
    assert_eq!(path("SELECT * FROM i WHERE k = 1 ORDER BY c DESC LIMIT 5").await, reversed);
    let two =
        AccessPath { partitions: PathPartitions::Keys(vec![int(1), int(2)]), sorts: true, ..plain.clone() };
    assert_eq!(path("SELECT * FROM i WHERE k IN (1, 2) ORDER BY c ASC").await, two);
    let all = PathPartitions::Range(Some(Bounds::Keys { start: Bytes::new(), end: Bytes::new() }));
    let index = Some(PathIndex { column: "v".to_owned(), value: int(3) });
    let by_index = AccessPath { partitions: all, index, filtered: vec!["w".to_owned()], ..plain };
    assert_eq!(path("SELECT * FROM i WHERE v = 3 AND w = 4 ALLOW FILTERING").await, by_index);
}

#[tokio::test]
async fn recordings_are_limited_and_count_all() {
    let session = with_tables().await;
    for c in 0..5 {
        session.done(&format!("INSERT INTO d (k, c, v) VALUES (1, {c}, {c})")).await;
    }
    session.done("DELETE FROM d WHERE k = 1 AND c = 4").await;
    let (_, watched) = recorded(&session, "SELECT * FROM d WHERE k IN (1, 2, 3)").await;
    assert_eq!((watched.cells_read(), watched.tombstones_passed()), (4, 1));
    assert!(watched.requests_made() > 2, "{}", watched.requests_made());
    let requests = watched.take();
    assert!(matches!(&requests[..], [StoreRequest::Read { key, .. }, _] if *key == int(1)), "{requests:?}");
    let cells = watched.take_cells();
    let values: Vec<Bytes> = cells.iter().map(|read| read.cell.value.clone()).collect();
    assert_eq!(values, [int(0), int(1), int(2)]);
    assert!(cells.iter().all(|read| read.key == int(1) && read.cf.name == "d"));
}

#[tokio::test]
async fn only_some_statements_only_read() {
    let session = with_tables().await;
    let behaviour = Behaviour::of(session.release);
    let reported = ReportedVersion::of_release(behaviour);
    let (database, language) = (&session.database, Language::Newest);
    let state = QueryState {
        database,
        behaviour,
        reported,
        language,
        keyspace: Some("s"),
        user: None,
        sees_new_indexes: false,
    };
    for (text, only_reads) in [
        ("SELECT * FROM d", true),
        ("DESCRIBE TABLES", true),
        ("USE s", true),
        ("INSERT INTO d (k, c, v) VALUES (1, 1, 1)", false),
        ("BEGIN BATCH DELETE FROM d WHERE k = 1; APPLY BATCH", false),
        ("TRUNCATE d", false),
        ("DROP TABLE d", false),
        ("CREATE TABLE n (k int PRIMARY KEY)", false),
        ("GRANT SELECT ON d TO anna", false),
        ("DROP USER anna", false),
    ] {
        let state = QueryState { language: Language::default(), ..state };
        assert_eq!(prepare(&state, text).unwrap().only_reads(), only_reads, "{text}");
    }
}
