//! The limits of what a statement reads, against what it reads.

use super::*;
use crate::prepare;
use store::RecordingStore;

/// Partitions 1 to 3 with 2500 rows each. Every third row has no marker, every fourth no `v`.
async fn filled() -> Session {
    let session = with_tables().await;
    session.done("CREATE TABLE dropped (k int, c int, v int, w int, PRIMARY KEY (k, c))").await;
    for k in 1..=3 {
        session.done(&format!("INSERT INTO st (k, s) VALUES ({k}, {k})")).await;
        for c in 0..2500 {
            let v = if c % 4 == 0 { "null".to_owned() } else { c.to_string() };
            let keys = format!("WHERE k = {k} AND c = {c}");
            for table in ["st", "dropped"] {
                let write = match c % 3 {
                    0 => format!("UPDATE {table} SET v = {c} {keys}"),
                    _ => format!("INSERT INTO {table} (k, c, v) VALUES ({k}, {c}, {v})"),
                };
                session.done(&write).await;
            }
            session.done(&format!("UPDATE dropped SET w = {c} {keys}")).await;
            session.done(&format!("INSERT INTO d (k, c, v) VALUES ({k}, {c}, {c})")).await;
        }
        session.done(&format!("INSERT INTO sc (k, a, b) VALUES ({k}, 1, 2)")).await;
        session.done(&format!("INSERT INTO i (k, c, v, l) VALUES ({k}, 1, 1, {{1, 2, 3, 4, 5}})")).await;
    }
    session.done("ALTER TABLE dropped DROP w").await;
    session
}

/// Returns the limits of rows and cells of a statement, and the rows and cells that it has read.
async fn measured(session: &Session, text: &str) -> ((Option<usize>, Option<usize>), (usize, usize)) {
    let watched = Arc::new(RecordingStore::new(session.database.store().clone()));
    let database = Arc::new(session.database.with_store(watched.clone()));
    let behaviour = Behaviour::of(session.release);
    let state = QueryState {
        database: &database,
        behaviour,
        reported: session.reported.as_ref().unwrap_or_else(|| ReportedVersion::of_release(behaviour)),
        language: Language::Newest,
        keyspace: Some("s"),
        user: None,
        sees_new_indexes: false,
    };
    let prepared = prepare(&state, text).unwrap();
    let reach = prepared.reach(&state, &options()).unwrap().unwrap();
    let Ok(Outcome::Rows(rows)) = crate::execute_prepared(&state, &prepared, &options()).await else {
        panic!("{text}");
    };
    ((reach.rows, reach.cells), (rows.rows.len(), watched.cells_read()))
}

#[tokio::test]
async fn no_statement_reads_more_than_its_limits() {
    let session = filled().await;
    for (tables, texts) in [
        (
            &["st", "dropped", "d"][..],
            &[
                "k = 1 AND c = 7",
                "k = 1 AND c = 9 LIMIT 5",
                "k = 1 AND c IN (3, 4, 5)",
                "k = 1 LIMIT 1",
                "k = 1 LIMIT 10",
                "k = 1 ORDER BY c DESC LIMIT 10",
                "k = 1 AND c > 50 LIMIT 100",
                "k = 1 AND c > 50 AND c < 60 LIMIT 100",
                "k = 1 AND c >= 50 ORDER BY c DESC LIMIT 340",
                "k = 1 AND c > 50 ORDER BY c DESC LIMIT 100",
                "k = 1 AND c < 2000 ORDER BY c DESC LIMIT 100",
                "k = 1 AND c < 2000 ORDER BY c DESC LIMIT 1900",
                "k = 1 LIMIT 512",
                "k = 1 LIMIT 1023",
                "k = 1 LIMIT 1024",
                "k = 1 LIMIT 2400",
                "k IN (1, 2, 3) LIMIT 10",
                "k IN (1, 2, 3) LIMIT 6000",
                "k IN (1, 2, 3) ORDER BY c DESC LIMIT 20",
                "k IN (1, 2, 3) ORDER BY c DESC LIMIT 800",
                "k IN (1, 2, 3) AND c = 9",
                "k IN (1, 2) PER PARTITION LIMIT 3",
                "k IN (1, 2) PER PARTITION LIMIT 700",
                "k IN (1, 2) PER PARTITION LIMIT 700 LIMIT 900",
            ][..],
        ),
        (&["sc"], &["k = 1", "k IN (1, 2, 3)", "k = 1 LIMIT 10"]),
    ] {
        for (table, text) in tables.iter().flat_map(|table| texts.iter().map(move |text| (table, text))) {
            let text = format!("SELECT * FROM {table} WHERE {text}");
            let (limits, (rows, cells)) = measured(&session, &text).await;
            let (Some(rows_max), Some(cells_max)) = limits else { panic!("{text}: {limits:?}") };
            assert!(rows > 0 && rows <= rows_max, "{text}: {rows} of {rows_max} rows");
            assert!(cells >= rows && cells <= cells_max, "{text}: {cells} of {cells_max} cells");
        }
    }
    for text in ["SELECT DISTINCT k, s FROM st WHERE k = 1", "SELECT DISTINCT k FROM d WHERE k IN (1, 2)"] {
        let (limits, (rows, cells)) = measured(&session, text).await;
        assert!(
            limits.0 == Some(rows) && limits.1.is_some_and(|most| cells <= most),
            "{text}: {limits:?} {cells}"
        );
    }
}

/// Returns a session that reports 4.0, with the rows (1 to 3, 0 to 9, 0 to 9) of a sparse and of a compact table.
async fn later() -> Session {
    let session = Session { reported: Some(ReportedVersion::default()), ..with_tables().await };
    session.done("CREATE TABLE p (k int, a int, b int, v int, PRIMARY KEY (k, a, b))").await;
    for at in 0..300 {
        let values = format!("({}, {}, {}, {at})", at / 100 + 1, at / 10 % 10, at % 10);
        for table in ["p", "d2"] {
            session.done(&format!("INSERT INTO {table} (k, a, b, v) VALUES {values}")).await;
        }
    }
    session
}

#[tokio::test]
async fn in_on_any_clustering_column_has_limits() {
    let session = later().await;
    for table in ["p", "d2"] {
        for text in [
            "k = 1 AND a IN (1, 3) AND b = 5",
            "k = 1 AND a IN (1, 3, 1) AND b IN (2, 5, 77)",
            "k IN (1, 2) AND a IN (1, 3) AND b IN (2, 5)",
            "k = 1 AND (a, b) IN ((1, 2), (5, 9))",
            "k = 1 AND a IN (1, 3) LIMIT 15",
            "k = 1 AND a IN (1, 3) ORDER BY a DESC LIMIT 10",
            "k = 1 AND a IN (1, 3, 4, 5) AND b > 7 LIMIT 3",
            "k = 1 AND a IN (1, 3, 4, 5) AND b > 7 AND b < 9 LIMIT 10",
            "k IN (3, 1) AND a IN (1, 3) AND b >= 3 LIMIT 17",
        ] {
            let text = format!("SELECT v FROM {table} WHERE {text}");
            let ((rows_max, cells_max), (rows, cells)) = measured(&session, &text).await;
            let (Some(rows_max), Some(cells_max)) = (rows_max, cells_max) else {
                panic!("{text}: no limits")
            };
            assert!(rows > 0 && rows <= rows_max, "{text}: {rows} of {rows_max} rows");
            assert!(cells >= rows && cells <= cells_max, "{text}: {cells} of {cells_max} cells");
        }
    }
    let both = measured(&session, "SELECT v FROM d2 WHERE k = 1 AND a IN (1, 3) AND b IN (2, 5)").await;
    assert_eq!(both, ((Some(4), Some(4)), (4, 4)));
    for filtering in ["k = 1 AND b = 5", "a > 3 AND b = 5", "k = 1 AND v = 7"] {
        let text = format!("SELECT v FROM p WHERE {filtering} LIMIT 1 ALLOW FILTERING");
        assert_eq!(measured(&session, &text).await.0, (None, None), "{text}");
    }
}

#[tokio::test]
async fn limits_are_no_larger_than_a_row_more() {
    let session = filled().await;
    for (text, expected) in [
        ("SELECT * FROM d WHERE k = 1 LIMIT 10", ((Some(10), Some(11)), (10, 11))),
        ("SELECT * FROM d WHERE k = 1 AND c = 5", ((Some(1), Some(1)), (1, 1))),
        ("SELECT * FROM sc WHERE k = 1", ((Some(1), Some(2)), (1, 2))),
        ("SELECT * FROM dropped WHERE k = 1 AND c = 5", ((Some(1), Some(2)), (1, 2))),
    ] {
        assert_eq!(measured(&session, text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn what_the_data_decides_has_no_limit() {
    let session = filled().await;
    for (text, expected) in [
        ("SELECT * FROM d WHERE k = 1", (None, None)),
        ("SELECT * FROM d LIMIT 10", (Some(10), None)),
        ("SELECT count(*) FROM d WHERE k = 1 LIMIT 10", (Some(10), Some(11))),
        ("SELECT max(v) FROM d WHERE k = 1 LIMIT 10", (None, None)),
        ("SELECT * FROM i WHERE k = 1 AND c = 1", (Some(1), None)),
        ("SELECT * FROM i WHERE v = 1 LIMIT 10", (None, None)),
        ("SELECT * FROM i WHERE k = 1 AND v = 1 LIMIT 1 ALLOW FILTERING", (None, None)),
    ] {
        assert_eq!(measured(&session, text).await.0, expected, "{text}");
    }
}
