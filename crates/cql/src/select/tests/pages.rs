//! Tests how many cells are read, and where pages end.

use super::*;
use crate::prepare;
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::model::Predicate;
use base::util::Release;
use db::CfRequest;
use store::{RecordingStore, StoreRequest};

/// Returns the maximum number of cells that the requests of a statement can have read.
fn cells_asked(asked: &[StoreRequest]) -> usize {
    let count = |predicate: &Predicate| match predicate {
        Predicate::Names(names) => names.len(),
        Predicate::Range(range) => range.count,
    };
    let cells = asked.iter().map(|asked| match asked {
        StoreRequest::Read { command, .. } => count(&command.predicate),
        StoreRequest::Scan(command) => command.max_rows.saturating_mul(count(&command.read.predicate)),
        StoreRequest::Write(_) => 0,
    });
    cells.fold(0, usize::saturating_add)
}

#[tokio::test]
async fn a_limit_on_a_wide_partition_reads_few_cells() {
    let session = with_tables().await;
    for c in 0..300 {
        session.done(&format!("INSERT INTO o (k, a, b, c, v) VALUES (1, 1, 1, {c}, {c})")).await;
        session.done(&format!("INSERT INTO d (k, c, v) VALUES (1, {c}, {c})")).await;
    }
    let watched = Arc::new(RecordingStore::new(session.database.store().clone()));
    let watching = Session { database: Arc::new(session.database.with_store(watched.clone())), ..session };
    for (text, most) in [
        ("SELECT v FROM o WHERE k = 1 LIMIT 10", 25),
        ("SELECT v FROM o WHERE k = 1 ORDER BY a ASC LIMIT 10", 25),
        ("SELECT v FROM o WHERE k = 1 AND a = 1 AND b = 1 AND c > 100 LIMIT 10", 25),
        ("SELECT v FROM o LIMIT 10", 300),
        ("SELECT v FROM d WHERE k = 1 AND c > 100 LIMIT 10", 13),
        ("SELECT DISTINCT k FROM o WHERE k = 1", 3),
    ] {
        watched.take();
        let found = watching.rows(text, &options()).await.rows.len();
        assert!(found == 10 || text.contains("DISTINCT") && found == 1, "{text}: {found}");
        let cells = cells_asked(&watched.take());
        assert!(cells <= most, "{text}: {cells}");
    }
    watched.take();
    assert_eq!(watching.ask("SELECT count(*) FROM d WHERE k = 1").await, "300");
    assert!(watched.take().len() <= 2);
}

/// Reads the rows of all pages with a page size.
async fn paged(session: &Session, text: &str, size: usize) -> String {
    let mut options = QueryOptions { page_size: Some(size), ..options() };
    let mut found = Vec::new();
    loop {
        let page = session.rows(text, &options).await;
        assert!(page.rows.len() <= size, "{text}");
        found.extend(page.rows.iter().map(|row| shown(row)));
        match page.paging_state {
            Some(state) => options.paging_state = Some(state),
            None => return found.join(", "),
        }
    }
}

/// Returns all rows of a statement, and checks that pages of each small size have the same rows.
async fn in_pages(session: &Session, text: &str) -> String {
    let whole = session.ask(text).await;
    for size in 1..5 {
        assert_eq!(paged(session, text, size).await, whole, "{text}, pages of {size}");
    }
    whole
}

#[tokio::test]
async fn all_keys_with_the_same_token_are_returned() {
    let session = Session::new().await;
    session.done("CREATE TABLE tie (k blob PRIMARY KEY, v int)").await;
    session.done("INSERT INTO tie (k, v) VALUES (0x653cbefb85ec3111b4e38fa9bc7cbcae, 2)").await;
    session.done("INSERT INTO tie (k, v) VALUES (0x0580ac3a93bc2d3800238bdf71626cd2, 1)").await;
    session.done("INSERT INTO tie (k, v) VALUES (0x61, 0)").await;
    assert_eq!(in_pages(&session, "SELECT v FROM tie").await, "0, 1, 2");
    let last = "SELECT v FROM tie WHERE token(k) >= 9223372036854775807";
    assert_eq!(in_pages(&session, last).await, "1, 2");
    let one = "SELECT v FROM tie WHERE token(k) = 9223372036854775807";
    assert_eq!(in_pages(&session, one).await, "1, 2");
}

#[tokio::test]
async fn each_cell_of_a_super_column_is_a_row() {
    let session = Session::new().await;
    let text = |text: &str| Some(text.to_owned());
    let request = CfRequest {
        keyspace: "s".to_owned(),
        name: "su".to_owned(),
        column_type: text("Super"),
        comparator_type: text("UTF8Type"),
        subcomparator_type: text("LongType"),
        default_validation_class: text("UTF8Type"),
        key_validation_class: text("UTF8Type"),
        ..CfRequest::default()
    };
    session.database.schema_changes(Behaviour::of(Release::V2_1)).add_column_family(request).await.unwrap();
    for (key, name, sub) in [("k", "a", 1), ("k", "a", 2), ("k", "b", 1), ("k", "c", 3), ("l", "a", 5)] {
        let values = format!("'{key}', '{name}', {sub}, '{name}{sub}'");
        session.done(&format!("INSERT INTO su (key, column1, column2, value) VALUES ({values})")).await;
    }
    let later =
        Session { reported: Some(ReportedVersion::default()), database: session.database.clone(), ..session };
    for (condition, rows) in [
        ("key = 'k'", "a1, a2, b1, c3"),
        ("key = 'k' LIMIT 3", "a1, a2, b1"),
        ("key = 'k' ORDER BY column1 DESC", "c3, b1, a2, a1"),
        ("key = 'k' AND column1 = 'a'", "a1, a2"),
        ("key = 'k' AND column1 = 'a' ORDER BY column1 DESC", "a2, a1"),
        ("key = 'k' AND column1 = 'a' AND column2 > 1", "a2"),
        ("key = 'k' AND column1 = 'a' AND column2 = 1", "a1"),
        ("key = 'k' AND column1 > 'a'", "b1, c3"),
        ("key = 'k' AND column1 <= 'b'", "a1, a2, b1"),
        ("key = 'k' AND (column1, column2) > ('a', 1)", "a2, b1, c3"),
        ("key IN ('l', 'k')", "a1, a2, b1, c3, a5"),
    ] {
        let text = format!("SELECT value FROM su WHERE {condition}");
        assert_eq!(in_pages(&session, &text).await, rows, "{text}");
        assert_eq!(in_pages(&later, &text).await, rows, "{text}");
    }
    let all = in_pages(&session, "SELECT key, column1, column2 FROM su").await;
    assert_eq!(all, "l|a|5, k|a|1, k|a|2, k|b|1, k|c|3");
    let some = "SELECT value FROM su WHERE key = 'k' AND column1 IN ('a', 'c')";
    assert_eq!(in_pages(&later, some).await, "a1, a2, c3");
}

#[tokio::test]
async fn columns_that_thrift_clients_declare_can_be_indexed() {
    let session = with_tables().await;
    session.done("CREATE INDEX ON sc (a)").await;
    for k in 1..5 {
        session.done(&format!("INSERT INTO sc (k, a, b) VALUES ({k}, 7, {k})")).await;
    }
    session.done("INSERT INTO sc (k, a) VALUES (9, 8)").await;
    assert_eq!(in_pages(&session, "SELECT b FROM sc WHERE a = 7").await, "1, 2, 4, 3");
    assert_eq!(session.ask("SELECT k FROM sc WHERE a = 7 AND b = 4 ALLOW FILTERING").await, "4");
}

#[tokio::test]
async fn markers_have_the_name_and_type_of_their_column() {
    let session = with_tables().await;
    let behaviour = Behaviour::of(Release::V2_1);
    let reported = ReportedVersion::of_release(behaviour);
    let state = QueryState {
        database: &session.database,
        behaviour,
        reported,
        language: Language::Newest,
        keyspace: Some("s"),
        user: None,
        sees_new_indexes: false,
    };
    for (text, markers) in [
        ("SELECT * FROM o WHERE k = ? AND a > ? LIMIT ?", "k int, a int, [limit] int"),
        ("SELECT * FROM o WHERE k IN ?", "in(k) list<int>"),
        ("SELECT * FROM o WHERE k IN (?, ?)", "k int, k int"),
        ("SELECT * FROM o WHERE k = 1 AND (a, b) > ?", "(a,b) frozen<tuple<int, int>>"),
        ("SELECT * FROM o WHERE token(k) > ?", "partition key token bigint"),
    ] {
        let prepared = prepare(&state, text).unwrap();
        let shown = prepared.markers.iter().map(|marker| format!("{} {}", marker.name, marker.cql_type));
        assert_eq!(shown.collect::<Vec<_>>().join(", "), markers, "{text}");
    }
}

#[tokio::test]
async fn ordered_rows_of_several_partitions_must_fit_into_one_page() {
    let session = with_tables().await;
    for (k, c) in [(1, 1), (1, 4), (2, 2), (2, 3)] {
        session.done(&format!("INSERT INTO d (k, c, v) VALUES ({k}, {c}, 0)")).await;
    }
    let text = "SELECT c FROM d WHERE k IN (1, 2) ORDER BY c LIMIT 3";
    let of_size = |size| QueryOptions { page_size: Some(size), ..options() };
    let page = session.rows(text, &of_size(6)).await;
    assert_eq!(page.rows.iter().map(|row| shown(row)).collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!(page.paging_state, None);
    for (text, size) in [(text, 5), ("SELECT c FROM d WHERE k IN (1, 2) ORDER BY c", 5000)] {
        let error = session.run(text, &of_size(size)).await.unwrap_err().to_string();
        assert!(error.starts_with("Cannot page queries with both ORDER BY and a IN restriction"), "{error}");
    }
}

#[tokio::test]
async fn invalid_paging_states_are_refused() {
    let session = with_tables().await;
    session.done("INSERT INTO o (k, a, b, c, v) VALUES (1, 1, 1, 1, 1)").await;
    for state in [&b""[..], b"\x01", b"\x02\0\0\0\x01a", b"\x01\xff\xff\xff\xff", &[1; 40]] {
        let paging_state = Some(Bytes::copy_from_slice(state));
        let options = QueryOptions { page_size: Some(1), paging_state, ..options() };
        let error = session.run("SELECT * FROM o", &options).await.unwrap_err();
        assert_eq!(error.to_string(), "Invalid value for the paging state");
    }
}

#[tokio::test]
async fn system_tables_are_returned_in_pages() {
    let session = with_tables().await;
    for text in [
        "SELECT keyspace_name, table_name, column_name FROM system_schema.columns",
        "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 's' ORDER BY table_name DESC",
        "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 's' LIMIT 7",
        "SELECT keyspace_name FROM system_schema.keyspaces",
        "SELECT DISTINCT keyspace_name FROM system_schema.tables",
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name IN ('s', 'system')",
        "SELECT key FROM system.local",
    ] {
        assert_ne!(in_pages(&session, text).await, "", "{text}");
    }
}
