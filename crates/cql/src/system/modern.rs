//! The schema tables since 3.0: `system_schema`, and `system_virtual_schema` of 4.0.

use super::element::{ElementOptions, replication, table_id, type_text};
use super::names::VIRTUAL;
use super::row::RowBuilder;
use super::{RequestedTables, for_each_keyspace, for_each_table, keyspaces as system_keyspaces};
use crate::QueryState;
use base::marshal::CqlType;
use base::schema::{CfDef, ColumnKind, Layout, TableColumn, TableDef};

pub(super) fn keyspaces(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_keyspace(state, wanted, |keyspace| {
        let (class, mut options) = replication(keyspace);
        options.insert("class".to_owned(), class.to_owned());
        let row = RowBuilder::default()
            .text("keyspace_name", &*keyspace.name)
            .boolean("durable_writes", keyspace.durable_writes)
            .map("replication", &options);
        rows.push(row);
    });
    rows
}

pub(super) fn tables(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_table(state, wanted, |cf, def| rows.push(table(cf, def)));
    rows
}

/// Returns the flags of a table, with the words of 3.0.
fn flags(cf: &CfDef, def: &TableDef) -> Vec<String> {
    let is_dense = matches!(def.layout, Layout::Dense | Layout::CompositeDense)
        || (def.layout == Layout::Super && cf.column_metadata.is_empty());
    let flags = [
        ("compound", matches!(def.layout, Layout::Sparse | Layout::CompositeDense)),
        ("counter", cf.is_counter()),
        ("dense", is_dense),
        ("super", def.layout == Layout::Super),
    ];
    flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.to_owned()).collect()
}

fn table(cf: &CfDef, def: &TableDef) -> RowBuilder {
    let options = ElementOptions::of(cf);
    RowBuilder::default()
        .text("keyspace_name", &*cf.keyspace)
        .text("table_name", &*cf.name)
        .text("additional_write_policy", "99p")
        .double("bloom_filter_fp_chance", options.bloom_filter_fp_chance)
        .map("caching", &options.caching)
        .boolean("cdc", false)
        .text("comment", options.comment)
        .map("compaction", &options.compaction)
        .map("compression", &options.compression)
        .double("crc_check_chance", 1.0)
        .double("dclocal_read_repair_chance", options.dclocal_read_repair_chance.unwrap_or(0.0))
        .int("default_time_to_live", options.default_time_to_live)
        .map("extensions", &Default::default())
        .texts("flags", &flags(cf, def))
        .int("gc_grace_seconds", options.gc_grace_seconds)
        .bytes("id", table_id(cf).as_bytes().to_vec())
        .int("max_index_interval", options.max_index_interval)
        .int("memtable_flush_period_in_ms", options.memtable_flush_period_in_ms)
        .int("min_index_interval", options.min_index_interval)
        .text("read_repair", "BLOCKING")
        .double("read_repair_chance", options.read_repair_chance.unwrap_or(0.0))
        .text("speculative_retry", options.speculative_retry)
}

pub(super) fn columns(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_table(state, wanted, |cf, def| {
        rows.extend(def.columns().map(|known| column(cf, known, def.layout)));
        rows.extend(hidden(cf, def));
    });
    rows
}

fn column(cf: &CfDef, column: &TableColumn, layout: Layout) -> RowBuilder {
    let kind = match column.kind {
        ColumnKind::PartitionKey => "partition_key",
        ColumnKind::Clustering => "clustering",
        ColumnKind::Static => "static",
        // 3.0 shows the columns of a static compact table as static, which is how clients recognize such a table.
        ColumnKind::Regular if layout == Layout::StaticCompact => "static",
        ColumnKind::Regular | ColumnKind::CompactValue => "regular",
    };
    let position = match column.kind {
        ColumnKind::PartitionKey | ColumnKind::Clustering => {
            i32::try_from(column.position).unwrap_or(i32::MAX)
        }
        _ => -1,
    };
    let order = match (column.kind, column.is_reversed) {
        (ColumnKind::Clustering, false) => "asc",
        (ColumnKind::Clustering, true) => "desc",
        _ => "none",
    };
    row_of_column(cf, &column.name, kind, position, order, type_text(&column.cql_type))
        .bytes("column_name_bytes", column.cell_name.clone())
}

pub(super) fn dropped_columns(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_table(state, wanted, |cf, def| {
        for (name, column) in &def.dropped {
            let row = RowBuilder::default()
                .text("keyspace_name", &*cf.keyspace)
                .text("table_name", &*cf.name)
                .text("column_name", String::from_utf8_lossy(name))
                .bytes("dropped_time", (column.at_us / 1000).to_be_bytes().to_vec())
                .text("kind", if column.is_static { "static" } else { "regular" })
                .text("type", type_text(&column.cql_type));
            rows.push(row);
        }
    });
    rows
}

fn row_of_column(
    cf: &CfDef,
    name: &str,
    kind: &'static str,
    position: i32,
    order: &'static str,
    type_name: String,
) -> RowBuilder {
    RowBuilder::default()
        .text("keyspace_name", &*cf.keyspace)
        .text("table_name", &*cf.name)
        .text("column_name", name)
        .text("clustering_order", order)
        .bytes("column_name_bytes", name.as_bytes().to_vec())
        .text("kind", kind)
        .int("position", position)
        .text("type", type_name)
}

/// Returns the columns that 3.0 adds for a compact table: the type of undeclared column names and of their values.
/// Clients remove them again.
fn hidden(cf: &CfDef, def: &TableDef) -> Vec<RowBuilder> {
    let is_free = |name: &String| def.column(name).is_none();
    let numbered = |base: &'static str| (1..).map(move |number| format!("{base}{number}"));
    let value =
        || std::iter::once("value".to_owned()).chain(numbered("value")).find(is_free).unwrap_or_default();
    match def.layout {
        Layout::StaticCompact => {
            let (comparator, validator) = (CqlType::of(&cf.comparator), CqlType::of(&cf.default_validator));
            let name = numbered("column").find(is_free).unwrap_or_default();
            vec![
                row_of_column(cf, &name, "clustering", 0, "asc", type_text(&comparator)),
                row_of_column(cf, &value(), "regular", -1, "none", type_text(&validator)),
            ]
        }
        Layout::Dense | Layout::CompositeDense if def.compact_value().is_none() => {
            vec![row_of_column(cf, &value(), "regular", -1, "none", "empty".to_owned())]
        }
        _ => Vec::new(),
    }
}

pub(super) fn indexes(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_table(state, wanted, |cf, def| {
        for known in def.columns() {
            let definition = cf.column_metadata.get(&known.cell_name);
            let Some(index) = definition.and_then(|definition| definition.index.as_ref()) else { continue };
            let mut options = index.options.clone().unwrap_or_default();
            let target = super::element::index_target(known, &mut options);
            options.insert("target".to_owned(), target);
            let row = RowBuilder::default()
                .text("keyspace_name", &*cf.keyspace)
                .text("table_name", &*cf.name)
                .text("index_name", index.name.clone().unwrap_or_default())
                .text("kind", index.kind.name())
                .map("options", &options);
            rows.push(row);
        }
    });
    rows
}

pub(super) fn types(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_keyspace(state, wanted, |keyspace| {
        for user_type in keyspace.user_types.values().filter(|known| wanted.takes_first(&known.name)) {
            let names: Vec<String> = user_type.fields.iter().map(|(name, _)| name.clone()).collect();
            let types: Vec<String> = user_type.fields.iter().map(|(_, field)| type_text(field)).collect();
            let row = RowBuilder::default()
                .text("keyspace_name", &*keyspace.name)
                .text("type_name", &*user_type.name)
                .texts("field_names", &names)
                .texts("field_types", &types);
            rows.push(row);
        }
    });
    rows
}

/// Calls `take` for each virtual table. The schema of virtual tables lists only its own tables.
fn for_each_virtual(state: &QueryState<'_>, mut take: impl FnMut(&CfDef, &TableDef)) {
    let keyspaces = system_keyspaces(state.reported);
    let tables = keyspaces.iter().filter(|keyspace| keyspace.name == VIRTUAL);
    for cf in tables.flat_map(|keyspace| keyspace.column_families.values()) {
        take(cf, &TableDef::of(cf, state.behaviour.release));
    }
}

pub(super) fn virtual_keyspaces(state: &QueryState<'_>) -> Vec<RowBuilder> {
    if !state.reported.has_virtual_tables() {
        return Vec::new();
    }
    vec![RowBuilder::default().text("keyspace_name", VIRTUAL)]
}

pub(super) fn virtual_tables(state: &QueryState<'_>) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_virtual(state, |cf, _| {
        let row = RowBuilder::default()
            .text("keyspace_name", VIRTUAL)
            .text("table_name", &*cf.name)
            .text("comment", cf.comment.clone().unwrap_or_default());
        rows.push(row);
    });
    rows
}

pub(super) fn virtual_columns(state: &QueryState<'_>) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_virtual(state, |cf, def| rows.extend(def.columns().map(|known| column(cf, known, def.layout))));
    rows
}
