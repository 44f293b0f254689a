use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use crate::define::testing::database;
use crate::{Outcome, QueryOptions, QueryState, definitions_of, query};
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::util::{Release, hex};
use cql_syntax::statements;
use db::Database;

async fn run(database: &Arc<Database>, release: &str, text: &str) -> Result<Vec<Vec<String>>, String> {
    let (behaviour, reported) = (Behaviour::of(Release::V2_1), ReportedVersion::new(release).unwrap());
    let state = QueryState {
        database,
        behaviour,
        reported: &reported,
        language: Language::Newest,
        keyspace: None,
        user: None,
        sees_new_indexes: false,
    };
    let text_of = |value: Option<Bytes>| String::from_utf8(value.unwrap_or_default().to_vec()).unwrap();
    match query(&state, text, &QueryOptions::default()).await {
        Ok(Outcome::Rows(rows)) => {
            Ok(rows.rows.into_iter().map(|row| row.into_iter().map(text_of).collect()).collect())
        }
        Ok(_) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns everything that defines the names and values of the cells in a keyspace's tables.
fn cells(database: &Database) -> Vec<String> {
    let catalog = database.catalog();
    let of_table = |cf: &Arc<base::schema::CfDef>| {
        let column = |column: &base::schema::ColumnDef| {
            format!("{} {} {:?}", hex(&column.name), column.validator.class_name(), column.index)
        };
        let columns: Vec<String> = cf.column_metadata.values().map(column).collect();
        let key = cf.key_validator.as_ref().unwrap().class_name();
        let (comparator, validator) = (cf.comparator.class_name(), cf.default_validator.class_name());
        format!("{} {comparator} {key} {validator} {columns:?} {:?} {:?}", cf.name, cf.table, cf.names)
    };
    catalog.column_families().map(of_table).collect()
}

/// Returns the statements of all keyspaces without properties that have their default.
fn short_definitions(database: &Arc<Database>, release: &str) -> Vec<String> {
    let (behaviour, reported) = (Behaviour::of(Release::V2_1), ReportedVersion::new(release).unwrap());
    let language = Language::Newest;
    let state = QueryState {
        database,
        behaviour,
        reported: &reported,
        language,
        keyspace: None,
        user: None,
        sees_new_indexes: false,
    };
    let catalog = database.catalog();
    let texts = catalog.keyspaces.values().flat_map(|keyspace| definitions_of(&state, keyspace));
    texts
        .flat_map(|text| statements(&text).into_iter().map(|(_, one)| one.to_owned()).collect::<Vec<_>>())
        .collect()
}

/// Creates a schema, describes it, creates it again from the description and compares both.
async fn comes_back(release: &str, making: &[String]) -> usize {
    let (first, second) = (database(), database());
    let keyspace =
        "CREATE KEYSPACE \"K\" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    run(&first, release, keyspace).await.unwrap();
    let mut made = 0;
    for statement in making {
        // Some random statements are invalid.
        made += usize::from(run(&first, release, statement).await.is_ok());
    }
    first.indexes().until_built().await;
    let described = run(&first, release, "DESCRIBE SCHEMA").await.unwrap();
    for row in &described {
        for (_, statement) in statements(&row[3]) {
            if let Err(error) = run(&second, release, statement).await {
                panic!("{error}: {statement}");
            }
        }
    }
    second.indexes().until_built().await;
    assert_eq!(run(&second, release, "DESCRIBE SCHEMA").await.unwrap(), described);
    for (again, before) in cells(&second).iter().zip(cells(&first)) {
        assert_eq!(*again, before);
    }
    // Properties that are left out have their default.
    let third = database();
    for statement in short_definitions(&first, release) {
        run(&third, release, &statement).await.unwrap_or_else(|error| panic!("{error}: {statement}"));
    }
    third.indexes().until_built().await;
    assert_eq!(run(&third, release, "DESCRIBE SCHEMA").await.unwrap(), described);
    made
}

fn a_type() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "int",
        "text",
        "blob",
        "timestamp",
        "timeuuid",
        "varint",
        "boolean",
        "counter",
        "list<text>",
        "set<int>",
        "map<text, frozen<list<int>>>",
        "frozen<map<int, text>>",
        "tuple<int, frozen<\"T\">>",
        "frozen<\"T\">",
        "'org.apache.cassandra.db.marshal.LexicalUUIDType'",
    ])
}

fn a_property() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "comment = 'it''s'",
        "gc_grace_seconds = 7",
        "caching = {'keys': 'NONE', 'rows_per_partition': '12'}",
        "compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '5'}",
        "compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': '3'}",
        "compression = {'sstable_compression': ''}",
        "compression = {'sstable_compression': 'DeflateCompressor', 'chunk_length_kb': '8'}",
        "speculative_retry = '75percentile'",
        "speculative_retry = '10ms'",
        "speculative_retry = 'NONE'",
        "read_repair_chance = 0.25",
        "default_time_to_live = 60",
        "bloom_filter_fp_chance = 0.001",
        "min_index_interval = 64",
    ])
}

prop_compose! {
    fn a_table()(
        types in prop::collection::vec((a_type(), any::<bool>()), 1..7),
        (keys, clustering) in (1..3usize, 0..3usize),
        orders in prop::collection::vec(any::<bool>(), 3),
        (is_compact, is_counter) in (prop::bool::weighted(0.3), prop::bool::weighted(0.1)),
        properties in prop::collection::btree_set(a_property(), 0..3),
        names in Just(["a", "\"Key\"", "\"order\"", "value", "\"x\"\"y\"", "column1", "\"B b\""]).prop_shuffle(),
    ) -> String {
        let key = |at: usize| names[..types.len()].get(at).copied();
        let partition: Vec<&str> = (0..keys).filter_map(key).collect();
        let rows: Vec<&str> = (keys..keys + clustering).filter_map(key).collect();
        let column = |(at, (cql_type, is_static)): (usize, &(&str, bool))| {
            let is_key = at < keys + clustering;
            let is_single = cql_type.starts_with("list") || cql_type.starts_with("set") || cql_type.starts_with("map");
            let cql_type = match (is_key, is_single, *cql_type) {
                (true, true, _) | (true, _, "counter") => "bigint",
                (false, _, _) if is_counter => "counter",
                (_, _, "counter") => "int",
                (.., other) => other,
            };
            let word = if *is_static && !is_key && clustering > 0 && !is_compact { " static" } else { "" };
            format!("{} {cql_type}{word}", names[at])
        };
        let columns: Vec<String> = types.iter().enumerate().map(column).collect();
        let mut key = vec![format!("({})", partition.join(", "))];
        key.extend(rows.iter().map(|name| (*name).to_owned()));
        let mut with: Vec<String> = properties.iter().map(|property| (*property).to_owned()).collect();
        if is_compact {
            with.push("COMPACT STORAGE".to_owned());
        }
        if !rows.is_empty() {
            let order = |(name, is_back): (&&str, &bool)| format!("{name} {}", if *is_back { "DESC" } else { "ASC" });
            let orders: Vec<String> = rows.iter().zip(&orders).map(order).collect();
            with.push(format!("CLUSTERING ORDER BY ({})", orders.join(", ")));
        }
        let with = if with.is_empty() { String::new() } else { format!(" WITH {}", with.join(" AND ")) };
        format!("({}, PRIMARY KEY ({})){with}", columns.join(", "), key.join(", "))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 8, ..ProptestConfig::default() })]
    #[test]
    fn a_description_creates_the_same_schema(
        tables in prop::collection::vec(a_table(), 8),
        indexed in prop::collection::vec(2..7usize, 8),
        release in prop::sample::select(vec!["2.1.22", "2.2.19", "3.11.17", "4.0.11"]),
    ) {
        let mut making = vec!["CREATE TYPE \"K\".\"T\" (\"a b\" int, c list<text>)".to_owned()];
        making.push("CREATE TYPE \"K\".a (t frozen<\"T\">, \"select\" map<int, text>)".to_owned());
        // The other tables may all be invalid.
        making.push("CREATE TABLE \"K\".plain (k int PRIMARY KEY, v text)".to_owned());
        let names = ["a", "\"Key\"", "\"order\"", "value", "\"x\"\"y\"", "column1", "\"B b\""];
        for (at, (table, column)) in tables.iter().zip(&indexed).enumerate() {
            let old = release < "3";
            let table = if old { table.clone() } else { table.replace("'sstable_compression': ''", "'enabled': 'false'") };
            making.push(format!("CREATE TABLE \"K\".\"T{at}\" {table}"));
            making.push(format!("CREATE INDEX \"I{at}\" ON \"K\".\"T{at}\" ({})", names[*column]));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let made = runtime.block_on(comes_back(release, &making));
        prop_assert!(made > 2, "nothing but the types could be made: {making:?}");
    }
}

#[tokio::test]
async fn definitions_without_a_statement_are_described_in_comments() {
    let database = database();
    let keyspace =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    run(&database, "4.0.11", keyspace).await.unwrap();
    let edit = |_: &_, keyspace: &mut base::schema::KeyspaceDef| -> Result<bool, crate::CqlError> {
        let mut cf = base::schema::CfDef::new("k", "supers");
        let resolve = |class: &str| base::marshal::Types::builtin().resolve(class).unwrap();
        cf.column_type = base::schema::ColumnType::Super { subcomparator: resolve("LongType") };
        cf.comment = Some("ends */ here".to_owned());
        keyspace.column_families.insert("supers".to_owned(), Arc::new(cf));
        let mut cf = base::schema::CfDef::new("k", "plain");
        cf.comparator = resolve("LongType");
        keyspace.column_families.insert("plain".to_owned(), Arc::new(cf));
        Ok(true)
    };
    database.schema_changes(Behaviour::of(Release::V2_1)).edit_keyspace("k", edit).await.unwrap();
    let described = run(&database, "4.0.11", "DESCRIBE KEYSPACE k").await.unwrap();
    assert!(
        described[1][3]
            .starts_with("CREATE TABLE k.plain (\n    key blob,\n    column1 bigint,\n    value blob,\n")
    );
    let comment = &described[2][3];
    assert!(comment.starts_with("/*\nWarning: Table k.supers omitted"), "{comment}");
    assert_eq!(comment.find("*/"), Some(comment.len() - 2));
    assert!(statements(comment).is_empty());
}
