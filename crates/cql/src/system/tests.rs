use super::*;
use crate::define::testing::{compact, create, database_with_keyspace, done, ordered};
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::schema::TableDef;
use base::util::Release;
use cql_syntax::Statement;

/// Returns the rows of a table, each as `column=text` of some columns; null is empty.
async fn shown(statements: Vec<Statement>, table: &str, columns: &[&str]) -> Vec<String> {
    let database = database_with_keyspace().await;
    for statement in statements {
        done(&database, statement).await;
    }
    let behaviour = Behaviour::of(Release::V2_1);
    let reported = ReportedVersion::of_release(behaviour);
    let state = QueryState {
        database: &database,
        behaviour,
        reported,
        language: Language::Newest,
        keyspace: None,
        user: None,
        sees_new_indexes: false,
    };
    let table = definition(reported, "system", table).unwrap();
    let names: Vec<String> =
        TableDef::of(table, Release::V2_1).columns().map(|column| column.name.clone()).collect();
    let text = |row: &SystemRow| {
        let value = |name: &&str| {
            let at = names.iter().position(|known| known == name).unwrap();
            row.values[at]
                .as_ref()
                .map_or("-".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
        };
        columns
            .iter()
            .map(value)
            .collect::<Vec<_>>()
            .join(" ")
            .replace("org.apache.cassandra.db.marshal.", "")
    };
    let wanted = RequestedTables { keys: Some(vec![Bytes::from_static(b"k")]), first: None };
    let wanted = if table.name.starts_with("schema_col") { wanted } else { RequestedTables::default() };
    rows(&state, table, &wanted).iter().map(text).collect()
}

#[tokio::test]
async fn keyspaces_are_listed() {
    let columns = ["keyspace_name", "strategy_class", "strategy_options"];
    let mut rows = shown(Vec::new(), "schema_keyspaces", &columns).await;
    rows.sort();
    assert_eq!(
        rows,
        [
            "k org.apache.cassandra.locator.SimpleStrategy {\"replication_factor\":\"1\"}",
            "system org.apache.cassandra.locator.LocalStrategy {}",
            "system_traces org.apache.cassandra.locator.SimpleStrategy {\"replication_factor\":\"2\"}",
        ]
    );
}

#[tokio::test]
async fn tables_are_listed_with_their_columns() {
    let statements = || {
        let order = [("c", true), ("d", false)];
        vec![
            Statement::CreateTable(create("wide", "k int, c int, v set<text>", "k;c")),
            compact(ordered(create("dense", "k text, c int, d text, v int", "k;c d"), &order)),
            compact(create("fixed", "k text, a int", "k")),
        ]
    };
    let columns = ["columnfamily_name", "comparator", "key_aliases", "column_aliases", "value_alias"];
    assert_eq!(
        shown(statements(), "schema_columnfamilies", &columns).await,
        [
            "dense CompositeType(ReversedType(Int32Type),UTF8Type) [\"k\"] [\"c\",\"d\"] v",
            "fixed UTF8Type [\"k\"] [] -",
            "wide CompositeType(Int32Type,UTF8Type,ColumnToCollectionType(76:SetType(UTF8Type))) [\"k\"] [\"c\"] -",
        ]
    );
    let columns = ["columnfamily_name", "column_name", "component_index", "type", "validator"];
    assert_eq!(
        shown(statements(), "schema_columns", &columns).await,
        [
            "dense c \0\0\0\0 clustering_key ReversedType(Int32Type)",
            "dense d \0\0\0\u{1} clustering_key UTF8Type",
            "dense k - partition_key UTF8Type",
            "dense v - compact_value Int32Type",
            "fixed a - regular Int32Type",
            "fixed k - partition_key UTF8Type",
            "wide c \0\0\0\0 clustering_key Int32Type",
            "wide k - partition_key Int32Type",
            "wide v \0\0\0\u{1} regular SetType(UTF8Type)",
        ]
    );
}

#[tokio::test]
async fn system_local_describes_the_node() {
    let columns = ["key", "cluster_name", "cql_version"];
    assert_eq!(shown(Vec::new(), "local", &columns).await, ["local Test Cluster 3.2.1"]);
    assert!(shown(Vec::new(), "peers", &[]).await.is_empty());
}
