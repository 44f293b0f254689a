//! SELECT over a database in memory.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use crate::cql::{CollectionForm, CqlError, Outcome, QueryOptions, QueryState, ResultSet, prepare, query};
use crate::db::{Authenticator, CfRequest, Database, DatabaseParts};
use crate::marshal::Types;
use crate::model::{Behaviour, ConsistencyLevel, Predicate};
use crate::partitioner::Murmur3Partitioner;
use crate::schema::Catalog;
use crate::storage::{Asked, MemoryStore, WatchedStore};
use crate::util::{Clock, Release};

struct Session {
    database: Arc<Database>,
    release: Release,
}

fn options() -> QueryOptions {
    QueryOptions {
        consistency: ConsistencyLevel::One,
        serial_consistency: ConsistencyLevel::Serial,
        values: Vec::new(),
        collection_form: CollectionForm::Long,
        timestamp: None,
        page_size: None,
        paging_state: None,
    }
}

impl Session {
    async fn new() -> Session {
        let clock = Arc::new(Clock::system());
        let partitioner = Arc::new(Murmur3Partitioner);
        let database = Database::new(DatabaseParts {
            catalog: Arc::new(Catalog::default()),
            store: Arc::new(MemoryStore::new(partitioner.clone(), clock.clone())),
            partitioner,
            authenticator: Authenticator::AllowAll,
            clock,
            types: Types::builtin(),
            cluster_name: "Test Cluster".to_owned(),
            config_text: String::new(),
            token: "0".to_owned(),
            endpoint: "127.0.0.1".to_owned(),
        });
        let session = Session { database: Arc::new(database), release: Release::V2_1 };
        session
            .done("CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .await;
        session
    }

    async fn run(&self, text: &str, options: &QueryOptions) -> Result<Outcome, CqlError> {
        let behaviour = Behaviour::of(self.release);
        let state = QueryState { database: &self.database, behaviour, keyspace: Some("s"), user: None };
        query(&state, text, options).await
    }

    async fn done(&self, text: &str) {
        if let Err(error) = self.run(text, &options()).await {
            panic!("{text}: {error}");
        }
    }

    async fn rows(&self, text: &str, options: &QueryOptions) -> ResultSet {
        match self.run(text, options).await {
            Ok(Outcome::Rows(rows)) => rows,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The rows in short: numbers, texts, other bytes in hex, `-` for null.
    async fn ask(&self, text: &str) -> String {
        match self.run(text, &options()).await {
            Ok(Outcome::Rows(found)) => {
                found.rows.iter().map(|row| shown(row)).collect::<Vec<_>>().join(", ")
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }
}

fn shown(row: &[Option<Bytes>]) -> String {
    let value = |value: &Option<Bytes>| match value.as_deref() {
        None => "-".to_owned(),
        Some(bytes) => match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            (Ok(int), _) => i32::from_be_bytes(int).to_string(),
            (_, Ok(long)) => i64::from_be_bytes(long).to_string(),
            _ if bytes.is_ascii() && bytes.iter().all(u8::is_ascii_alphanumeric) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        },
    };
    row.iter().map(value).collect::<Vec<_>>().join("|")
}

/// Tables for the messages, as the reference's were measured on.
async fn with_tables() -> Session {
    let session = Session::new().await;
    for statement in [
        "CREATE TABLE t (k int, k2 int, a int, b int, c int, v int, w int, m map<text, int>, PRIMARY KEY ((k, k2), a, b, c))",
        "CREATE TABLE o (k int, a int, b int, c int, v int, PRIMARY KEY (k, a, b, c)) WITH CLUSTERING ORDER BY (a DESC, b ASC)",
        "CREATE TABLE st (k int, c int, s int static, v int, PRIMARY KEY (k, c))",
        "CREATE TABLE i (k int, c int, v int, w int, l set<int>, PRIMARY KEY (k, c))",
        "CREATE INDEX ON i (v)",
        "CREATE INDEX ON i (l)",
        "CREATE TABLE d (k int, c int, v int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE",
        "CREATE TABLE d2 (k int, a int, b int, v int, PRIMARY KEY (k, a, b)) WITH COMPACT STORAGE",
        "CREATE TABLE sc (k int PRIMARY KEY, a int, b int) WITH COMPACT STORAGE",
    ] {
        session.done(statement).await;
    }
    session
}

const FILTER: &str = super::messages::NEEDS_FILTERING;

#[tokio::test]
async fn mistakes_are_told_in_the_old_words() {
    let session = with_tables().await;
    for (text, message) in [
        ("SELECT * FROM t WHERE k = 1", "Partition key part k2 must be restricted since preceding part is"),
        (
            "SELECT * FROM t WHERE k2 = 1",
            "Partitioning column \"k2\" cannot be restricted because the preceding column (\"k\") is either not \
             restricted or is restricted by a non-EQ relation",
        ),
        (
            "SELECT * FROM t WHERE k > 1",
            "Only EQ and IN relation are supported on the partition key (unless you use the token() function)",
        ),
        (
            "SELECT * FROM t WHERE k IN (1, 2) AND k2 = 1",
            "Partition KEY part k cannot be restricted by IN relation (only the last part of the partition key can)",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND b = 1",
            "PRIMARY KEY column \"b\" cannot be restricted (preceding column \"a\" is not restricted)",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a > 1 AND b = 1",
            "PRIMARY KEY column \"b\" cannot be restricted (preceding column \"a\" is restricted by a non-EQ relation)",
        ),
        (
            "SELECT a FROM t WHERE k = 1 AND k2 = 1 AND a IN (1, 2) AND b = 1",
            "Clustering column \"a\" cannot be restricted by an IN relation",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a = 1 AND b = 1 AND c IN (1, 2)",
            "Cannot restrict column \"c\" by IN relation as a collection is selected by the query",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND (a, c) > (1, 2)",
            "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: (a, c) > (1, 2)",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND (a, b) > (1, 2, 3)",
            "Expected 2 elements in value tuple, but got 3: (1, 2, 3)",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND (k2, a) = (1, 2)",
            "Multi-column relations can only be applied to clustering columns but was applied to: k2",
        ),
        ("SELECT * FROM t WHERE k != 1", "Unsupported \"!=\" relation: k != 1"),
        (
            "SELECT * FROM t WHERE token(k) > 1",
            "The token() function must be applied to all partition key components or none of them",
        ),
        (
            "SELECT * FROM t WHERE token(k2, k) > 1",
            "The token function arguments must be in the partition key order: k, k2",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k = 2",
            "k cannot be restricted by more than one relation if it includes an Equal",
        ),
        (
            "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a > 1 AND a > 2",
            "More than one restriction was found for the start bound on a",
        ),
        (
            "SELECT * FROM t WHERE w = 1",
            "No secondary indexes on the restricted columns support the provided operators: ",
        ),
        (
            "SELECT * FROM t WHERE v IN (1, 2)",
            "IN predicates on non-primary-key columns (v) is not yet supported",
        ),
        ("SELECT * FROM t WHERE a = 1", FILTER),
        ("SELECT * FROM i WHERE v = 1 AND w = 2", FILTER),
        ("SELECT * FROM i WHERE v = 1 AND c = 2", FILTER),
        (
            "SELECT * FROM i WHERE v > 1",
            "No secondary indexes on the restricted columns support the provided operators: 'v > <value>'",
        ),
        (
            "SELECT * FROM i WHERE v = 1 AND k IN (1, 2)",
            "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
        ),
        ("SELECT * FROM i WHERE v = 1 ORDER BY c", "ORDER BY with 2ndary indexes is not supported."),
        (
            "SELECT * FROM o ORDER BY a",
            "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
        ),
        ("SELECT * FROM o WHERE k = 1 ORDER BY nosuch", "Order by on unknown column nosuch"),
        (
            "SELECT * FROM o WHERE k = 1 ORDER BY v",
            "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v",
        ),
        (
            "SELECT * FROM o WHERE k = 1 ORDER BY b",
            "Order by currently only support the ordering of columns following their declared order in the PRIMARY KEY",
        ),
        ("SELECT * FROM o WHERE k = 1 ORDER BY a ASC, b ASC", "Unsupported order by relation"),
        ("SELECT * FROM o WHERE k = 1 LIMIT 0", "LIMIT must be strictly positive"),
        (
            "SELECT DISTINCT v FROM o",
            "SELECT DISTINCT queries must only request partition key columns and/or static columns (not v)",
        ),
        (
            "SELECT DISTINCT k FROM t",
            "SELECT DISTINCT queries must request all the partition key columns (missing k2)",
        ),
        ("SELECT writetime(k) FROM t", "Cannot use selection function writeTime on PRIMARY KEY part k"),
        ("SELECT ttl(m) FROM t", "Cannot use selection function ttl on collections"),
        ("SELECT nosuch FROM t", "Undefined name nosuch in selection clause"),
        ("SELECT * FROM t WHERE nosuch = 'a'", "Undefined name nosuch in where clause ('nosuch = 'a'')"),
        ("SELECT v AS x FROM t WHERE x = 1", "Aliases aren't allowed in the where clause ('x = 1')"),
        ("SELECT nosuch(v) FROM t", "Unknown function 'nosuch'"),
        (
            "SELECT s FROM st WHERE k = 1 AND c = 1",
            "Cannot restrict clustering columns when selecting only static columns",
        ),
        (
            "SELECT * FROM d WHERE v = 1",
            "Predicates on the non-primary-key column (v) of a COMPACT table are not yet supported",
        ),
        ("SELECT * FROM o WHERE k = null", "Invalid null value for partition key part k"),
        ("SELECT * FROM o WHERE k = 1 AND a = null", "Invalid null value for clustering key part a"),
        (
            "SELECT * FROM o WHERE token(k) > 9223372036854775808",
            "unable to make long from '9223372036854775808'",
        ),
        ("SELECT * FROM nosuch", "unconfigured columnfamily nosuch"),
    ] {
        assert_eq!(session.ask(text).await, message, "{text}");
    }
}

#[tokio::test]
async fn the_words_of_1_2_are_others() {
    let session = Session { release: Release::V1_2, ..with_tables().await };
    for (text, message) in [
        (
            "SELECT * FROM o WHERE k = 1 AND b = 1",
            "PRIMARY KEY part b cannot be restricted (preceding part a is either not restricted or by a non-EQ relation)",
        ),
        (
            "SELECT * FROM o WHERE v = 1",
            "No indexed columns present in by-columns clause with Equal operator",
        ),
        ("SELECT * FROM o WHERE nosuch = 1", "Undefined name nosuch in where clause ('nosuch EQ 1')"),
    ] {
        assert_eq!(session.ask(text).await, message, "{text}");
    }
}

#[tokio::test]
async fn rows_come_in_the_order_of_their_clustering() {
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

#[tokio::test]
async fn indexes_lead_to_rows() {
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
async fn the_systems_tables_are_read_like_others() {
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

/// Cells that a statement may have read: what it asked for, at most.
fn cells_asked(asked: &[Asked]) -> usize {
    let count = |predicate: &Predicate| match predicate {
        Predicate::Names(names) => names.len(),
        Predicate::Range(range) => range.count,
    };
    let cells = asked.iter().map(|asked| match asked {
        Asked::Read { command, .. } => count(&command.predicate),
        Asked::Scan(command) => command.max_rows.saturating_mul(count(&command.read.predicate)),
        Asked::Write(_) => 0,
    });
    cells.fold(0, usize::saturating_add)
}

#[tokio::test]
async fn a_few_rows_of_a_wide_partition_are_a_few_cells() {
    let session = with_tables().await;
    for c in 0..300 {
        session.done(&format!("INSERT INTO o (k, a, b, c, v) VALUES (1, 1, 1, {c}, {c})")).await;
        session.done(&format!("INSERT INTO d (k, c, v) VALUES (1, {c}, {c})")).await;
    }
    let watched = Arc::new(WatchedStore::new(session.database.store().clone()));
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

/// The rows of all pages of so many rows.
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

/// All that a text has, in one page and in pages of every size.
async fn in_pages(session: &Session, text: &str) -> String {
    let whole = session.ask(text).await;
    for size in 1..5 {
        assert_eq!(paged(session, text, size).await, whole, "{text}, pages of {size}");
    }
    whole
}

#[tokio::test]
async fn keys_of_one_token_all_come() {
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
async fn super_columns_are_rows_of_their_cells() {
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
    session.database.add_column_family(request, Behaviour::of(Release::V2_1)).await.unwrap();
    for (key, name, sub) in [("k", "a", 1), ("k", "a", 2), ("k", "b", 1), ("k", "c", 3), ("l", "a", 5)] {
        let values = format!("'{key}', '{name}', {sub}, '{name}{sub}'");
        session.done(&format!("INSERT INTO su (key, column1, column2, value) VALUES ({values})")).await;
    }
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
    }
    let all = in_pages(&session, "SELECT key, column1, column2 FROM su").await;
    assert_eq!(all, "l|a|5, k|a|1, k|a|2, k|b|1, k|c|3");
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
async fn markers_say_what_they_stand_for() {
    let session = with_tables().await;
    let behaviour = Behaviour::of(Release::V2_1);
    let state = QueryState { database: &session.database, behaviour, keyspace: Some("s"), user: None };
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
async fn foreign_paging_states_are_refused() {
    let session = with_tables().await;
    session.done("INSERT INTO o (k, a, b, c, v) VALUES (1, 1, 1, 1, 1)").await;
    for state in [&b""[..], b"\x01", b"\x02\0\0\0\x01a", b"\x01\xff\xff\xff\xff", &[1; 40]] {
        let paging_state = Some(Bytes::copy_from_slice(state));
        let options = QueryOptions { page_size: Some(1), paging_state, ..options() };
        let error = session.run("SELECT * FROM o", &options).await.unwrap_err();
        assert_eq!(error.to_string(), "Invalid value for the paging state");
    }
}

/// A row of the model: key and clustering.
type ModelRow = (i32, i32, i32);

/// What a random SELECT asks of a table with `PRIMARY KEY (k, a, b)`.
#[derive(Debug, Clone)]
struct Asking {
    table: &'static str,
    keys: Option<Vec<i32>>,
    a: Option<i32>,
    lower: Option<(i32, bool)>,
    upper: Option<(i32, bool)>,
    is_reversed: bool,
    limit: Option<usize>,
    page: Option<usize>,
}

fn asking() -> impl Strategy<Value = Asking> {
    let end = || prop::option::of((0..5i32, any::<bool>()));
    let keys = prop::option::of(prop::collection::vec(0..4i32, 1..2));
    let sizes = (prop::option::of(1..20usize), prop::option::of(1..8usize));
    let table = prop::sample::select(vec!["up", "down", "compact", "wide"]);
    (table, keys, prop::option::of(0..5i32), end(), end(), any::<bool>(), sizes).prop_map(
        |(table, keys, a, lower, upper, is_reversed, (limit, page))| {
            let is_reversed = is_reversed && keys.is_some();
            Asking { table, keys, a, lower, upper, is_reversed, limit, page }
        },
    )
}

impl Asking {
    fn text(&self) -> String {
        let mut conditions = Vec::new();
        if let Some(keys) = &self.keys {
            conditions.push(format!("k = {}", keys[0]));
        }
        // Without the one before it a clustering column is not restricted: then the first has the slice.
        let sliced = if self.a.is_some() { "b" } else { "a" };
        conditions.extend(self.a.map(|a| format!("a = {a}")));
        let sign = |is_inclusive: bool| if is_inclusive { "=" } else { "" };
        conditions.extend(self.lower.map(|(end, inclusive)| format!("{sliced} >{} {end}", sign(inclusive))));
        conditions.extend(self.upper.map(|(end, inclusive)| format!("{sliced} <{} {end}", sign(inclusive))));
        let mut text = format!("SELECT k, a, b FROM {}", self.table);
        if !conditions.is_empty() {
            text += &format!(" WHERE {}", conditions.join(" AND "));
        }
        if self.is_reversed {
            text += if self.table == "down" { " ORDER BY a ASC" } else { " ORDER BY a DESC" };
        }
        if let Some(limit) = self.limit {
            text += &format!(" LIMIT {limit}");
        }
        text + " ALLOW FILTERING"
    }

    /// What is found by looking at every row.
    fn naive(&self, rows: &[ModelRow]) -> Vec<ModelRow> {
        let holds = |(k, a, b): &&ModelRow| {
            let sliced = if self.a.is_some() { b } else { a };
            let above =
                |(end, inclusive): (i32, bool)| if inclusive { *sliced >= end } else { *sliced > end };
            let below =
                |(end, inclusive): (i32, bool)| if inclusive { *sliced <= end } else { *sliced < end };
            self.keys.as_ref().is_none_or(|keys| keys[0] == *k)
                && self.a.is_none_or(|wanted| wanted == *a)
                && self.lower.is_none_or(above)
                && self.upper.is_none_or(below)
        };
        let mut found: Vec<ModelRow> = rows.iter().filter(holds).copied().collect();
        let token = |k: i32| {
            let mut token = Vec::new();
            crate::partitioner::Partitioner::token(&Murmur3Partitioner, &k.to_be_bytes(), &mut token);
            token
        };
        let is_down = self.table == "down";
        found.sort_by_key(|(k, a, b)| (token(*k), if is_down { -a } else { *a }, *b));
        found.dedup();
        if self.is_reversed {
            found.reverse();
        }
        found.truncate(self.limit.unwrap_or(usize::MAX));
        found
    }
}

async fn model_session(rows: &[ModelRow]) -> Session {
    let session = Session::new().await;
    let key = "k int, a int, b int, ";
    session.done(&format!("CREATE TABLE up ({key} v int, PRIMARY KEY (k, a, b))")).await;
    session
        .done(&format!(
            "CREATE TABLE down ({key} v int, PRIMARY KEY (k, a, b)) WITH CLUSTERING ORDER BY (a DESC, b ASC)"
        ))
        .await;
    session
        .done(&format!("CREATE TABLE compact ({key} v int, PRIMARY KEY (k, a, b)) WITH COMPACT STORAGE"))
        .await;
    session
        .done(&format!("CREATE TABLE wide ({key} v int, s int static, l set<int>, PRIMARY KEY (k, a, b))"))
        .await;
    for (k, a, b) in rows {
        for table in ["up", "down", "compact"] {
            session.done(&format!("INSERT INTO {table} (k, a, b, v) VALUES ({k}, {a}, {b}, 1)")).await;
        }
        let elements: Vec<String> = (0..=a * b).map(|element| element.to_string()).collect();
        let elements = elements.join(", ");
        session
            .done(&format!("INSERT INTO wide (k, a, b, s, l) VALUES ({k}, {a}, {b}, {b}, {{{elements}}})"))
            .await;
    }
    session
}

async fn all_pages(session: &Session, asking: &Asking) -> Vec<ModelRow> {
    let mut found = Vec::new();
    let mut options = QueryOptions { page_size: asking.page, ..options() };
    loop {
        let page = session.rows(&asking.text(), &options).await;
        assert!(asking.page.is_none_or(|most| page.rows.len() <= most));
        found.extend(page.rows.iter().map(|row| {
            let number = |at: usize| i32::from_be_bytes(row[at].as_deref().unwrap().try_into().unwrap());
            (number(0), number(1), number(2))
        }));
        match page.paging_state {
            Some(state) => options.paging_state = Some(state),
            None => return found,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_select_finds_what_a_look_at_every_row_finds(
        rows in prop::collection::vec((0..4i32, 0..5i32, 0..5i32), 0..40),
        askings in prop::collection::vec(asking(), 1..24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let session = model_session(&rows).await;
            for asking in &askings {
                let found = all_pages(&session, asking).await;
                assert_eq!(found, asking.naive(&rows), "{}, pages of {:?}", asking.text(), asking.page);
            }
        });
    }
}
