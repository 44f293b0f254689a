//! The keyspace `system`: tables that are made of what the server knows of itself whenever they are read.
//!
//! `system_auth` shows the roles, to superusers.
//!
//! Columns and values are those of Cassandra 2.1. Clients read the schema from them: cqlsh, drivers, cassandra-cli.

mod auth;
mod node;
mod row;
mod schema;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::QueryState;
use crate::marshal::{CqlType, Native};
use crate::schema::{ColumnKind, Layout, TableColumn, TableDef};
use row::Row;

/// The keyspace's name.
pub const SYSTEM: &str = "system";

/// The keyspace of the roles, which is there where they are kept in the store.
pub const SYSTEM_AUTH: &str = "system_auth";

/// A table with all its rows, in the order of the ring and then of the clustering columns.
#[derive(Debug, Clone)]
pub struct SystemTable {
    pub def: Arc<TableDef>,
    /// Values in the order of `TableDef::columns`; `None` is null.
    pub rows: Vec<Vec<Option<Bytes>>>,
}

/// A table of the keyspace; `None` where there is none of this name.
pub fn system_table(state: &QueryState<'_>, keyspace: &str, table: &str) -> Option<SystemTable> {
    if keyspace == SYSTEM_AUTH {
        return auth::table_of(state, table).map(|(def, rows)| sorted(state, def, rows));
    }
    if keyspace != SYSTEM {
        return None;
    }
    let (def, rows) = match table {
        "local" => (node::local_table(), vec![node::local(state)]),
        "peers" => (node::peers_table(), Vec::new()),
        "schema_keyspaces" => (schema::keyspaces_table(), schema::keyspaces(state)),
        "schema_columnfamilies" => (schema::families_table(), schema::families(state)),
        "schema_columns" => (schema::columns_table(), schema::columns(state)),
        "schema_usertypes" => (schema::user_types_table(), schema::user_types(state)),
        "schema_triggers" => (schema::triggers_table(), Vec::new()),
        _ => return None,
    };
    Some(sorted(state, def, rows))
}

fn sorted(state: &QueryState<'_>, def: TableDef, rows: Vec<Row>) -> SystemTable {
    let keys = def.partition_key.len();
    let keyed = rows.into_iter().map(|mut row| {
        let values: Vec<Option<Bytes>> = def.columns().map(|column| row.take(&column.name)).collect();
        let key = values.first().cloned().flatten().unwrap_or_default();
        let clustering = values[keys..keys + def.clustering.len()].to_vec();
        ((state.database.ring_position(&key), clustering), values)
    });
    let mut rows: Vec<_> = keyed.collect();
    rows.sort_by(|(left, _), (right, _)| left.cmp(right));
    SystemTable { def: Arc::new(def), rows: rows.into_iter().map(|(_, values)| values).collect() }
}

/// A type by the name that CQL has for it.
fn native(name: &str) -> CqlType {
    CqlType::Native(Native::named(name).unwrap_or(Native::Blob))
}

fn set_of(element: &str) -> CqlType {
    CqlType::Set { element: Box::new(native(element)), is_frozen: false }
}

fn list_of(element: &str) -> CqlType {
    CqlType::List { element: Box::new(native(element)), is_frozen: false }
}

fn map_of(key: &str, value: &str) -> CqlType {
    CqlType::Map { key: Box::new(native(key)), value: Box::new(native(value)), is_frozen: false }
}

/// A table whose key columns are texts, unless said otherwise.
fn table(
    (key, key_type): (&str, &str),
    clustering: &[&str],
    others: impl IntoIterator<Item = (&'static str, CqlType)>,
) -> TableDef {
    let clustered = clustering.iter().enumerate();
    let others = others.into_iter();
    let others: BTreeMap<String, TableColumn> = others
        .map(|(name, cql_type)| (name.to_owned(), TableColumn::new(name, ColumnKind::Regular, 0, cql_type)))
        .collect();
    TableDef {
        layout: Layout::Sparse,
        partition_key: vec![TableColumn::new(key, ColumnKind::PartitionKey, 0, native(key_type))],
        clustering: clustered
            .map(|(position, name)| TableColumn::new(name, ColumnKind::Clustering, position, native("text")))
            .collect(),
        others,
    }
}

#[cfg(test)]
mod tests;
