//! Column families of Thrift clients, written by CQL.

use bytes::Bytes;

use crate::modify::testing::*;
use base::model::Cell;
use base::util::hex;
use db::{CfRequest, ColumnRequest};

async fn with_family(request: CfRequest) -> Bench {
    let bench = Bench::new(&[]).await;
    let text = |class: &str| Some(class.to_owned());
    let request = CfRequest {
        keyspace: "k".to_owned(),
        name: "f".to_owned(),
        key_validation_class: text("UTF8Type"),
        comparator_type: text("UTF8Type"),
        default_validation_class: text("UTF8Type"),
        ..request
    };
    bench.database.schema_changes(bench.behaviour).add_column_family(request).await.unwrap();
    bench
}

fn of_supers(columns: Vec<ColumnRequest>) -> CfRequest {
    let text = |class: &str| Some(class.to_owned());
    CfRequest {
        column_type: text("Super"),
        subcomparator_type: text("UTF8Type"),
        columns,
        ..CfRequest::default()
    }
}

fn column(name: &'static str) -> ColumnRequest {
    ColumnRequest {
        name: Bytes::from(name),
        validation_class: "UTF8Type".to_owned(),
        index_kind: None,
        index_name: None,
        index_options: None,
    }
}

async fn in_super(bench: &Bench, name: &str) -> Vec<(Bytes, Bytes)> {
    let cells = bench.cells("f", &hex(b"r"), Some(&hex(name.as_bytes()))).await;
    cells.into_iter().map(|Cell { name, value, .. }| (name, value)).collect()
}

fn pair(name: &'static str, value: &'static str) -> (Bytes, Bytes) {
    (Bytes::from(name), Bytes::from(value))
}

#[tokio::test]
async fn dynamic_columns_are_rows() {
    let bench = with_family(CfRequest::default()).await;
    bench.done("INSERT INTO f (key, column1, value) VALUES ('k9', 'c9', 'v9')").await;
    bench.check("f", &hex(b"k9"), &["6339 = 7639"]).await;
    bench.done("UPDATE f SET value = 'w' WHERE key = 'k9' AND column1 = 'c9'").await;
    bench.check("f", &hex(b"k9"), &["6339 = 77"]).await;
    bench.done("DELETE value FROM f WHERE key = 'k9' AND column1 = 'c9'").await;
    bench.check("f", &hex(b"k9"), &[]).await;
    assert_eq!(
        bench.outcome_text("INSERT INTO f (key, column1, value) VALUES ('k9', '', 'v')").await,
        "Missing PRIMARY KEY part column1"
    );
}

#[tokio::test]
async fn super_columns_are_the_first_clustering_column() {
    let bench = with_family(of_supers(Vec::new())).await;
    bench.done("INSERT INTO f (key, column1, column2, value) VALUES ('r', 's', 'a', '1')").await;
    bench.done("INSERT INTO f (key, column1, column2, value) VALUES ('r', 's', 'b', '2')").await;
    bench.done("INSERT INTO f (key, column1, column2, value) VALUES ('r', 't', 'c', '3')").await;
    assert_eq!(in_super(&bench, "s").await, [pair("a", "1"), pair("b", "2")]);
    bench.done("DELETE FROM f WHERE key = 'r' AND column1 = 's' AND column2 = 'a'").await;
    assert_eq!(in_super(&bench, "s").await, [pair("b", "2")]);
    bench.done("DELETE FROM f WHERE key = 'r' AND column1 = 's'").await;
    assert_eq!(in_super(&bench, "s").await, []);
    assert_eq!(in_super(&bench, "t").await, [pair("c", "3")]);
    for (statement, text) in [
        ("INSERT INTO f (key, column1, value) VALUES ('r', 's', '1')", "Missing PRIMARY KEY part column2"),
        (
            "UPDATE f SET value = '4' WHERE key = 'r' AND column1 = 't' AND column2 = 'c' IF value = '2'",
            "[applied] value: 00 33",
        ),
        (
            "UPDATE f SET value = '4' WHERE key = 'r' AND column1 = 't' AND column2 = 'c' IF value = '3'",
            "[applied]: 01",
        ),
        (
            "INSERT INTO f (key, column1, column2, value) VALUES ('r', 't', 'c', '5') IF NOT EXISTS",
            "[applied] key column1 column2 value: 00 72 74 63 34",
        ),
    ] {
        assert_eq!(bench.outcome_text(statement).await, text, "{statement}");
    }
}

#[tokio::test]
async fn declared_columns_of_super_columns_are_cql_columns() {
    let bench = with_family(of_supers(vec![column("a"), column("b")])).await;
    bench.done("INSERT INTO f (key, column1, a, b) VALUES ('r', 's', '1', '2')").await;
    assert_eq!(in_super(&bench, "s").await, [pair("a", "1"), pair("b", "2")]);
    bench.done("DELETE a FROM f WHERE key = 'r' AND column1 = 's'").await;
    assert_eq!(in_super(&bench, "s").await, [pair("b", "2")]);
    bench.done("DELETE FROM f WHERE key = 'r'").await;
    assert_eq!(in_super(&bench, "s").await, []);
    assert_eq!(
        bench.outcome_text("INSERT INTO f (key, a) VALUES ('r', '1')").await,
        "Missing PRIMARY KEY part column1"
    );
}
