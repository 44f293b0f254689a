//! Tests which rows SELECT returns, and in which order.

use super::*;

#[tokio::test]
async fn rows_are_in_clustering_order() {
    let session = with_tables().await;
    for (a, b, c) in [(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 1, 2), (3, 1, 1)] {
        session.done(&format!("INSERT INTO o (k, a, b, c, v) VALUES (1, {a}, {b}, {c}, {a}{b}{c})")).await;
    }
    session.done("INSERT INTO o (k, a, b, c, v) VALUES (2, 2, 9, 9, 299)").await;
    for (condition, values) in [
        ("k = 1", "311, 211, 212, 111, 121"),
        ("k = 1 LIMIT 2", "311, 211"),
        ("k = 1 ORDER BY a ASC", "121, 111, 212, 211, 311"),
        ("k = 1 ORDER BY a ASC LIMIT 3", "121, 111, 212"),
        ("k = 1 ORDER BY a DESC", "311, 211, 212, 111, 121"),
        ("k = 1 AND a > 1", "311, 211, 212"),
        ("k = 1 AND a >= 2 AND a < 3", "211, 212"),
        ("k = 1 AND a <= 2 ORDER BY a ASC", "121, 111, 212, 211"),
        ("k = 1 AND a = 2 AND b = 1 AND c IN (2, 1, 2)", "211, 212"),
        ("k = 1 AND a = 2 AND b = 1 AND c IN (2, 1) ORDER BY a ASC", "212, 211"),
        ("k = 1 AND a = 2 AND b = 1 AND c > 1", "212"),
        ("k = 1 AND c = 2 AND b = 1 AND a = 2", "212"),
        ("k = 1 AND (a, b) IN ((3, 1), (1, 2))", "311, 121"),
        ("k = 1 AND a = 1 AND (b, c) > (1, 1)", "121"),
        ("k = 1 AND a = 7", ""),
        ("k IN (2, 1, 2) LIMIT 2", "311, 211"),
        ("k IN (2, 1) ORDER BY a ASC", "121, 111, 299, 212, 211, 311"),
        ("k IN (2, 1) ORDER BY a DESC LIMIT 4", "311, 211, 212, 299"),
        ("k IN ()", ""),
        ("a = 2 ALLOW FILTERING", "211, 212, 299"),
        ("token(k) > token(1)", "299"),
        ("token(k) <= token(1)", "311, 211, 212, 111, 121"),
        ("token(k) >= token(1) LIMIT 1", "311"),
        ("token(k) = token(2)", "299"),
        ("token(k) > 5 AND token(k) < 3", ""),
        ("token(k) = -9223372036854775808 LIMIT 1", "311"),
        ("token(k) < -9223372036854775808 LIMIT 1", "311"),
        ("token(k) > 9223372036854775807", ""),
    ] {
        let text = format!("SELECT v FROM o WHERE {condition}");
        assert_eq!(session.ask(&text).await, values, "{text}");
    }
    assert_eq!(session.ask("SELECT count(*) FROM o").await, "6");
    assert_eq!(session.ask("SELECT count(*) FROM o WHERE k = 1 LIMIT 3").await, "3");
    assert_eq!(session.ask("SELECT DISTINCT k FROM o").await, "1, 2");
    assert_eq!(
        session.ask("SELECT v AS x, b, token(k) FROM o WHERE k = 2").await,
        "299|9|-3248873570005575792"
    );
}

#[tokio::test]
async fn static_columns_belong_to_the_partition() {
    let session = with_tables().await;
    session.done("INSERT INTO st (k, s) VALUES (1, 10)").await;
    assert_eq!(session.ask("SELECT * FROM st").await, "1|-|10|-");
    assert_eq!(session.ask("SELECT * FROM st WHERE k = 1 AND c > 0").await, "");
    session.done("INSERT INTO st (k, c, v) VALUES (1, 1, 11)").await;
    session.done("INSERT INTO st (k, c, v) VALUES (1, 2, 12)").await;
    session.done("INSERT INTO st (k, c, v) VALUES (2, 1, 21)").await;
    for (text, rows) in [
        ("SELECT * FROM st", "1|1|10|11, 1|2|10|12, 2|1|-|21"),
        ("SELECT * FROM st WHERE k = 1 ORDER BY c DESC", "1|2|10|12, 1|1|10|11"),
        ("SELECT * FROM st WHERE k = 1 AND c = 2", "1|2|10|12"),
        ("SELECT s, v FROM st WHERE k = 1 AND c >= 2", "10|12"),
        ("SELECT s FROM st WHERE k = 1", "10, 10"),
        ("SELECT DISTINCT k, s FROM st", "1|10, 2|-"),
        ("SELECT s FROM st WHERE k = 1 LIMIT 1", "10"),
    ] {
        assert_eq!(session.ask(text).await, rows, "{text}");
    }
}

/// A value that is newer than the drop of its column is a live cell of a column that is not defined.
#[tokio::test]
async fn cells_of_columns_that_are_not_defined_make_rows_visible() {
    let session = with_tables().await;
    session.done("CREATE TABLE u (k int, c int, v int, w int, PRIMARY KEY (k, c))").await;
    session.done("UPDATE u USING TIMESTAMP 9000000000000000 SET w = 1 WHERE k = 1 AND c = 2").await;
    session.done("UPDATE u SET w = 1 WHERE k = 1 AND c = 3").await;
    session.done("UPDATE u SET v = 1 WHERE k = 1 AND c = 4").await;
    session.done("ALTER TABLE u DROP w").await;
    assert_eq!(session.ask("SELECT * FROM u").await, "1|2|-, 1|4|1");
    assert_eq!(session.ask("SELECT * FROM u LIMIT 1").await, "1|2|-");
}

#[tokio::test]
async fn indexes_find_rows() {
    let session = with_tables().await;
    for (k, c, v, w) in [(1, 1, 5, 1), (1, 2, 6, 1), (2, 1, 5, 2), (3, 1, 7, 1)] {
        session
            .done(&format!("INSERT INTO i (k, c, v, w, l) VALUES ({k}, {c}, {v}, {w}, {{{k}, {c}}})"))
            .await;
    }
    session.done("UPDATE i SET v = 6 WHERE k = 2 AND c = 1").await;
    for (condition, rows) in [
        ("v = 5", "1|1"),
        ("v = 6", "1|2, 2|1"),
        ("v = 6 LIMIT 1", "1|2"),
        ("v = 6 AND w = 2 ALLOW FILTERING", "2|1"),
        ("v = 6 AND c = 2 ALLOW FILTERING", "1|2"),
        ("k = 2 AND v = 6", "2|1"),
        ("v = 6 AND token(k) > token(1)", "2|1"),
        ("l CONTAINS 2", "1|2, 2|1"),
        ("l CONTAINS 9", ""),
    ] {
        let text = format!("SELECT k, c FROM i WHERE {condition}");
        assert_eq!(session.ask(&text).await, rows, "{text}");
    }
}

#[tokio::test]
async fn columns_of_the_key_can_be_indexed() {
    let session = with_tables().await;
    session.done("CREATE INDEX ON t (k2)").await;
    session.done("CREATE INDEX ON t (b)").await;
    session.done("CREATE INDEX ON t (keys(m))").await;
    for (k, k2, b) in [(1, 1, 1), (1, 2, 2), (2, 1, 2)] {
        let map = format!("{{'x{k}': {b}, '': {k2}}}");
        session
            .done(&format!(
                "INSERT INTO t (k, k2, a, b, c, v, m) VALUES ({k}, {k2}, 0, {b}, 0, {k}{k2}{b}, {map})"
            ))
            .await;
    }
    for (condition, values) in [
        ("k2 = 1", "111, 212"),
        ("k2 = 2", "122"),
        ("k = 1 AND k2 = 1 AND b = 1", "111"),
        ("b = 2", "122, 212"),
        ("b = 2 AND k2 = 1 ALLOW FILTERING", "212"),
        ("m CONTAINS KEY 'x2'", "212"),
        ("m CONTAINS KEY 'y'", ""),
        ("m CONTAINS KEY 'x1' AND m CONTAINS 2 ALLOW FILTERING", "122"),
    ] {
        let text = format!("SELECT v FROM t WHERE {condition}");
        let found = session.ask(&text).await;
        let mut sorted: Vec<&str> = found.split(", ").collect();
        sorted.sort_unstable();
        assert_eq!(sorted.join(", "), values, "{text}");
    }
}

#[tokio::test]
async fn compact_tables_have_a_row_for_each_cell() {
    let session = with_tables().await;
    for c in [-3, 1, 2, 5] {
        session.done(&format!("INSERT INTO d (k, c, v) VALUES (1, {c}, {c}0)")).await;
        session.done(&format!("INSERT INTO d2 (k, a, b, v) VALUES (1, {c}, 1, {c}0)")).await;
    }
    session.done("INSERT INTO d2 (k, a, v) VALUES (1, 2, 7)").await;
    session.done("INSERT INTO sc (k, a) VALUES (1, 1)").await;
    session.done("INSERT INTO sc (k, b) VALUES (2, 2)").await;
    for (text, rows) in [
        ("SELECT c FROM d WHERE k = 1", "-3, 1, 2, 5"),
        ("SELECT c FROM d WHERE k = 1 AND c > 1", "2, 5"),
        ("SELECT c FROM d WHERE k = 1 AND c >= 1 AND c < 5", "1, 2"),
        ("SELECT c FROM d WHERE k = 1 AND c < 2 ORDER BY c DESC", "1, -3"),
        ("SELECT c FROM d WHERE k = 1 AND c IN (5, 1)", "1, 5"),
        ("SELECT c FROM d WHERE k = 1 AND c = 2", "2"),
        ("SELECT c FROM d LIMIT 2", "-3, 1"),
        ("SELECT a, b, v FROM d2 WHERE k = 1 AND a = 2", "2|-|7, 2|1|20"),
        ("SELECT a, b FROM d2 WHERE k = 1 AND a > 1", "2|-, 2|1, 5|1"),
        ("SELECT a, b FROM d2 WHERE k = 1 AND a < 2 ORDER BY a DESC", "1|1, -3|1"),
        ("SELECT * FROM sc", "1|1|-, 2|-|2"),
        ("SELECT k FROM sc WHERE k IN (2, 1)", "1, 2"),
    ] {
        assert_eq!(session.ask(text).await, rows, "{text}");
    }
}

#[tokio::test]
async fn system_tables_are_read_like_other_tables() {
    let session = with_tables().await;
    for (text, rows) in [
        ("SELECT key FROM system.local", "local"),
        ("SELECT key FROM system.local WHERE key = 'nosuch'", ""),
        (
            "SELECT columnfamily_name FROM system.schema_columnfamilies WHERE keyspace_name = 's' LIMIT 2",
            "d, d2",
        ),
        (
            "SELECT column_name FROM system.schema_columns WHERE keyspace_name = 's' AND columnfamily_name = 'sc'",
            "a, b, k",
        ),
        ("SELECT nosuch FROM system.local", "Undefined name nosuch in selection clause"),
    ] {
        assert_eq!(session.ask(text).await, rows, "{text}");
    }
}

#[tokio::test]
async fn collections_inside_values_have_the_long_form_in_every_protocol_version() {
    let session = Session::new().await;
    session.done("CREATE TYPE home (phones list<int>)").await;
    session.done("CREATE TABLE people (k int PRIMARY KEY, home frozen<home>, own list<int>)").await;
    session.done("INSERT INTO people (k, home, own) VALUES (1, {phones: [7]}, [7])").await;
    let found = session.rows("SELECT home.phones, own FROM people", &options()).await;
    let forms: Vec<bool> = found.columns.iter().map(|column| column.has_short_form()).collect();
    assert_eq!(forms, [false, true]);
    let value = Some(Bytes::from_static(b"\0\0\0\x01\0\0\0\x04\0\0\0\x07"));
    assert_eq!(found.rows, [[value.clone(), value]]);
}
