//! The system keyspaces: virtual tables that are generated from the server's state when they are read.
//!
//! Clients such as cqlsh, drivers and cassandra-cli read the node and the schema from them. The tables that they query
//! depend on `ReportedVersion`. `system_auth` shows the roles to superusers.

mod auth;
mod definitions;
mod element;
mod indexes;
mod legacy;
mod modern;
mod names;
mod node;
mod row;
mod shown;
mod traces;
mod view;

use std::sync::Arc;

use bytes::Bytes;

use super::QueryState;
use base::compat::features::SCHEMA_LISTS_SYSTEM;
use base::marshal::{CqlType, Native};
use base::schema::{CfDef, KeyspaceDef, TableDef};
use row::RowBuilder;

pub(crate) use definitions::{definition, keyspaces};
pub(crate) use element::{ElementOptions, index_target, replication, table_id, type_text};
pub use view::system_view;

pub(crate) use names::{AUTH, SCHEMA, SYSTEM, TRACES, VIRTUAL, is_system};

/// The requested partitions and tables; `None` means all.
#[derive(Debug, Default)]
pub(crate) struct RequestedTables {
    /// Row keys: the names of keyspaces in the tables of the schema.
    pub keys: Option<Vec<Bytes>>,
    /// Values of the first clustering column.
    pub first: Option<Vec<Bytes>>,
}

impl RequestedTables {
    fn takes(wanted: &Option<Vec<Bytes>>, name: &str) -> bool {
        wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|value| value == name.as_bytes()))
    }

    fn takes_first(&self, name: &str) -> bool {
        RequestedTables::takes(&self.first, name)
    }
}

/// A row of a table: its position in the ring and in its partition, and its values in the order of `TableDef::columns`.
/// `None` is null.
#[derive(Debug, Clone)]
pub(crate) struct SystemRow {
    /// The token and key of the partition, and the values of the clustering columns.
    pub place: (Vec<u8>, Vec<Bytes>),
    /// The value of each column, in the stored form.
    pub values: Vec<Option<Bytes>>,
}

/// Returns the rows of a system table, in the order of the ring and then of the clustering columns. They may include
/// rows that were not requested.
pub(crate) fn rows(state: &QueryState<'_>, cf: &CfDef, wanted: &RequestedTables) -> Vec<SystemRow> {
    let def = TableDef::of(cf, state.behaviour.release);
    let rows = made(state, &cf.keyspace, &cf.name, wanted);
    let mut rows: Vec<SystemRow> = rows.into_iter().map(|row| placed(state, &def, row)).collect();
    rows.sort_by(|left, right| left.place.cmp(&right.place));
    rows
}

fn made(state: &QueryState<'_>, keyspace: &str, table: &str, wanted: &RequestedTables) -> Vec<RowBuilder> {
    match (keyspace, table) {
        (SYSTEM, "local") => vec![node::local(state)],
        (SYSTEM, "schema_keyspaces") => legacy::keyspaces(state, wanted),
        (SYSTEM, "schema_columnfamilies") => legacy::families(state, wanted),
        (SYSTEM, "schema_columns") => legacy::columns(state, wanted),
        (SYSTEM, "IndexInfo") => indexes::built(state, wanted),
        (SYSTEM, "schema_usertypes") => legacy::user_types(state, wanted),
        (SCHEMA, "keyspaces") => modern::keyspaces(state, wanted),
        (SCHEMA, "tables") => modern::tables(state, wanted),
        (SCHEMA, "columns") => modern::columns(state, wanted),
        (SCHEMA, "dropped_columns") => modern::dropped_columns(state, wanted),
        (SCHEMA, "indexes") => modern::indexes(state, wanted),
        (SCHEMA, "types") => modern::types(state, wanted),
        (TRACES, "sessions") => traces::sessions(state, wanted),
        (TRACES, "events") => traces::events(state, wanted),
        (AUTH, table) => auth::rows(state, table),
        (VIRTUAL, "keyspaces") => modern::virtual_keyspaces(state),
        (VIRTUAL, "tables") => modern::virtual_tables(state),
        (VIRTUAL, "columns") => modern::virtual_columns(state),
        _ => Vec::new(),
    }
}

fn placed(state: &QueryState<'_>, def: &TableDef, mut row: RowBuilder) -> SystemRow {
    let keys = def.partition_key.len();
    let values: Vec<Option<Bytes>> = def.columns().map(|column| row.take(&column.name)).collect();
    let key = values.first().cloned().flatten().unwrap_or_default();
    let clustering = values[keys..keys + def.clustering.len()].iter().cloned();
    let clustering = sorting(def, clustering.map(Option::unwrap_or_default).collect());
    SystemRow { place: (state.database.ring_order().position(&key), clustering), values }
}

/// Returns the bytes by which clustering columns are sorted: texts are unchanged, and in time UUIDs the time comes
/// first. System tables have no other clustering types.
pub(crate) fn sorting(def: &TableDef, clustering: Vec<Bytes>) -> Vec<Bytes> {
    let values = def.clustering.iter().zip(clustering);
    values
        .map(|(column, value)| match (&column.cql_type, &value[..]) {
            (CqlType::Native(Native::Timeuuid), [l0, l1, l2, l3, m0, m1, h0, h1, rest @ ..]) => {
                [&[h0 & 0x0f, *h1, *m0, *m1, *l0, *l1, *l2, *l3][..], rest].concat().into()
            }
            _ => value,
        })
        .collect()
}

/// Calls `take` for each keyspace in the schema tables, with the system keyspaces first.
fn for_each_keyspace(state: &QueryState<'_>, wanted: &RequestedTables, mut take: impl FnMut(&KeyspaceDef)) {
    let system = keyspaces(state.reported);
    let catalog = state.database.catalog();
    let are_listed = SCHEMA_LISTS_SYSTEM.has(state.behaviour.release);
    let own = system.iter().filter(|keyspace| are_listed && keyspace.name != VIRTUAL);
    own.chain(catalog.keyspaces.values())
        .filter(|keyspace| RequestedTables::takes(&wanted.keys, &keyspace.name))
        .for_each(&mut take);
}

/// Calls `take` for each table in the schema tables.
fn for_each_table(
    state: &QueryState<'_>,
    wanted: &RequestedTables,
    mut take: impl FnMut(&CfDef, &Arc<TableDef>),
) {
    for_each_keyspace(state, wanted, |keyspace| {
        for cf in keyspace.column_families.values().filter(|cf| wanted.takes_first(&cf.name)) {
            take(cf, &TableDef::of(cf, state.behaviour.release));
        }
    });
}

#[cfg(test)]
mod tests;
