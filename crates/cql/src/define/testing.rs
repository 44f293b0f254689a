//! Helpers for tests of statements: a database in memory, and short forms of statements.

use std::sync::Arc;

use super::define;
use crate::{Outcome, QueryState, Result};
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::marshal::PACKAGE;
use base::partitioner::RandomPartitioner;
use base::schema::{Catalog, CfDef};
use base::util::{Clock, Release};
use cql_syntax::{
    Alter, ColumnDefinition, CreateIndex, CreateTable, IndexTarget, PrimaryKey, Properties, PropertyValue,
    Statement, TableName, TypeName,
};
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;

pub fn database() -> Arc<Database> {
    let clock = Arc::new(Clock::system());
    let partitioner = Arc::new(RandomPartitioner);
    Arc::new(Database::new(DatabaseParts::new(
        Arc::new(Catalog::default()),
        Arc::new(EmbeddedStore::in_memory(partitioner.clone(), &Catalog::default(), clock.clone()).unwrap()),
        partitioner,
        clock,
    )))
}

pub async fn run(database: &Arc<Database>, statement: Statement) -> Result<Outcome> {
    let behaviour = Behaviour::of(Release::V2_1);
    let reported = ReportedVersion::of_release(behaviour);
    let state = QueryState {
        database,
        behaviour,
        reported,
        language: Language::Newest,
        keyspace: Some("k"),
        user: None,
        sees_new_indexes: false,
    };
    define(&state, &statement).await
}

pub async fn outcome_text(database: &Arc<Database>, statement: Statement) -> String {
    match run(database, statement).await {
        Ok(_) => "done".to_owned(),
        Err(error) => error.to_string(),
    }
}

pub async fn with_keyspace() -> Arc<Database> {
    let database = database();
    assert_eq!(
        outcome_text(&database, keyspace("k", &[("class", "SimpleStrategy"), ("replication_factor", "1")]))
            .await,
        "done"
    );
    database
}

pub fn map(pairs: &[(&str, &str)]) -> PropertyValue {
    PropertyValue::Map(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

pub fn keyspace(name: &str, replication: &[(&str, &str)]) -> Statement {
    Statement::CreateKeyspace {
        name: name.to_owned(),
        if_not_exists: false,
        properties: Properties(vec![("replication".to_owned(), map(replication))]),
    }
}

pub fn in_k(name: &str) -> TableName {
    TableName { keyspace: None, name: name.to_owned() }
}

/// Parses a type such as `int`, `list<int>` or `frozen<address>`.
pub fn type_name(text: &str) -> TypeName {
    let boxed = |text: &str| Box::new(type_name(text.trim()));
    match text.strip_suffix('>').and_then(|text| text.split_once('<')) {
        Some(("list", inner)) => TypeName::List(boxed(inner)),
        Some(("set", inner)) => TypeName::Set(boxed(inner)),
        Some(("frozen", inner)) => TypeName::Frozen(boxed(inner)),
        Some(("map", inner)) => {
            let (key, value) = inner.split_once(',').unwrap();
            TypeName::Map(boxed(key), boxed(value))
        }
        _ => TypeName::Named { keyspace: None, name: text.to_owned() },
    }
}

/// Parses columns such as `k int, c text, s int static`, with a key such as `a b;c d`: the partition key, then the
/// clustering columns.
pub fn create(name: &str, columns: &str, key: &str) -> CreateTable {
    let column = |text: &str| {
        let (name, cql_type) = text.trim().split_once(' ').unwrap();
        let is_static = cql_type.ends_with(" static");
        ColumnDefinition {
            name: name.to_owned(),
            cql_type: type_name(cql_type.trim_end_matches(" static")),
            is_static,
            is_primary_key: false,
        }
    };
    let names = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let (partition_key, clustering) = key.split_once(';').unwrap_or((key, ""));
    let key = PrimaryKey { partition_key: names(partition_key), clustering: names(clustering) };
    CreateTable {
        table: in_k(name),
        if_not_exists: false,
        columns: columns.split(", ").map(column).collect(),
        primary_keys: vec![key],
        is_compact: false,
        clustering_order: Vec::new(),
        properties: Properties::default(),
    }
}

pub fn compact(table: CreateTable) -> Statement {
    Statement::CreateTable(CreateTable { is_compact: true, ..table })
}

pub fn ordered(table: CreateTable, order: &[(&str, bool)]) -> CreateTable {
    let order = order.iter().map(|(name, is_reversed)| ((*name).to_owned(), *is_reversed)).collect();
    CreateTable { clustering_order: order, ..table }
}

pub fn family(database: &Database, name: &str) -> Arc<CfDef> {
    database.catalog().column_family("k", name).cloned().unwrap()
}

pub fn comparator(database: &Database, name: &str) -> String {
    family(database, name).comparator.class_name().replace(PACKAGE, "")
}

pub fn alter(table: &str, alter: Alter) -> Statement {
    Statement::AlterTable { table: in_k(table), alter }
}

pub fn add(table: &str, column: &str, cql_type: &str) -> Statement {
    alter(table, Alter::Add { column: column.to_owned(), cql_type: type_name(cql_type), is_static: false })
}

pub fn index(name: Option<&str>, table: &str, column: &str) -> CreateIndex {
    CreateIndex {
        name: name.map(str::to_owned),
        if_not_exists: false,
        table: in_k(table),
        column: column.to_owned(),
        target: IndexTarget::Values,
        is_custom: false,
        class: None,
        properties: Properties::default(),
    }
}

/// Returns a database in memory with the keyspace `k`.
pub async fn database_with_keyspace() -> Arc<Database> {
    with_keyspace().await
}

/// Runs a statement that must succeed.
pub async fn done(database: &Arc<Database>, statement: Statement) {
    assert_eq!(outcome_text(database, statement).await, "done");
}
