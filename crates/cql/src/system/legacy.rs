//! The schema tables up to 2.2: `system.schema_keyspaces` and the others.

use std::collections::BTreeMap;

use super::element::{replication, table_id};
use super::row::RowBuilder;
use super::shown::ShownSettings;
use super::{RequestedTables, for_each_keyspace, for_each_table};
use crate::QueryState;
use crate::column_text::{class_text, component_index, index_of};
use base::compat::features::ReportedVersion;
use base::marshal::{CqlType, Native, PACKAGE};
use base::schema::{CfDef, ColumnKind, IndexDef, IndexKind, Layout, TableColumn, TableDef};
use base::util::in_order_of_options;

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the options of a strategy as JSON, in the order of a Java map.
fn options_text(options: &BTreeMap<String, String>) -> String {
    let pairs = in_order_of_options(options.iter());
    let pairs: Vec<String> =
        pairs.into_iter().map(|(name, value)| format!("{}:{}", json(&name), json(&value))).collect();
    format!("{{{}}}", pairs.join(","))
}

pub(super) fn keyspaces(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_keyspace(state, wanted, |keyspace| {
        let (class, options) = replication(keyspace);
        let row = RowBuilder::default()
            .text("keyspace_name", &*keyspace.name)
            .text("name", &*keyspace.name)
            .boolean("durable_writes", keyspace.durable_writes)
            .text("strategy_class", class)
            .text("strategy_options", json(&options));
        rows.push(row);
    });
    rows
}

/// Returns the caching: from 2.1 on as JSON with a space here, before as one word.
fn caching(settings: ShownSettings<'_>, reported: &ReportedVersion) -> String {
    if !reported.shows_caching_as_json() {
        return settings.text("caching");
    }
    let (keys, rows) = settings.caching();
    format!("{{\"keys\":\"{keys}\", \"rows_per_partition\":\"{rows}\"}}")
}

pub(super) fn families(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_table(state, wanted, |cf, def| rows.push(family(cf, def, state)));
    rows
}

/// Returns whether CREATE TABLE has made a column family, as far as its definition shows that.
fn is_of_cql(cf: &CfDef) -> bool {
    cf.table.is_some() || cf.key_alias.is_some() || !cf.names.is_default()
}

fn family(cf: &CfDef, def: &TableDef, state: &QueryState<'_>) -> RowBuilder {
    let (reported, shows_id) = (state.reported, state.behaviour.schema.shows_family_id);
    let is_of_cql = is_of_cql(cf);
    let lacks_names = !is_of_cql && !reported.has_default_names();
    let lacks_key_name = lacks_names && cf.key_alias.is_none();
    let names =
        |columns: &[TableColumn]| json(&columns.iter().map(|column| &column.name).collect::<Vec<_>>());
    let key_validator = cf.key_validator.as_ref().map(|validator| validator.class_name().to_owned());
    let settings = ShownSettings::in_release(cf, reported.release_of_settings());
    let is_leveled = settings.text("compaction_strategy").ends_with("LeveledCompactionStrategy");
    let retry = match cf.settings.get("speculative_retry") {
        None if cf.table.is_some() => "99.0PERCENTILE".to_owned(),
        _ => settings.text("speculative_retry"),
    };
    // A column family of Thrift clients only has a chance if it was set.
    let default_chance = is_of_cql.then_some(if is_leveled { 0.1 } else { 0.01 });
    let is_dense = matches!(def.layout, Layout::Dense | Layout::CompositeDense)
        || (def.layout == Layout::Super && cf.column_metadata.is_empty());
    RowBuilder::default()
        .text("keyspace_name", &*cf.keyspace)
        .text("columnfamily_name", &*cf.name)
        .optional_double(
            "bloom_filter_fp_chance",
            settings.optional_double("bloom_filter_fp_chance").or(default_chance),
        )
        .text("caching", caching(settings, reported))
        .bytes("cf_id", table_id(cf).as_bytes().to_vec())
        .text("column_aliases", if lacks_names { "[]".to_owned() } else { names(&def.clustering) })
        .text("comment", cf.comment.clone().unwrap_or_default())
        .text("compaction_strategy_class", settings.text("compaction_strategy"))
        .text("compaction_strategy_options", options_text(&settings.options("compaction_strategy_options")))
        .text("comparator", cf.comparator.class_name())
        .text("compression_parameters", json(&settings.options("compression_options")))
        .int("default_time_to_live", settings.int("default_time_to_live", 0))
        .text("default_validator", cf.default_validator.class_name())
        .numbers("dropped_columns", def.dropped.iter().map(|(name, column)| (name, &column.at_us)))
        .int("gc_grace_seconds", cf.gc_grace_s)
        .optional_int("id", shows_id.then_some(cf.id))
        .optional_int(
            "index_interval",
            reported.has_index_interval().then(|| settings.int("index_interval", 128)),
        )
        .boolean("is_dense", is_dense)
        .text("key_aliases", if lacks_key_name { "[]".to_owned() } else { names(&def.partition_key) })
        .text("key_validator", key_validator.unwrap_or_else(|| format!("{PACKAGE}BytesType")))
        .double("local_read_repair_chance", settings.double("dclocal_read_repair_chance", 0.1))
        .int("max_compaction_threshold", settings.int("max_compaction_threshold", 32))
        .int("max_index_interval", settings.int("max_index_interval", 2048))
        .int("memtable_flush_period_in_ms", settings.int("memtable_flush_period_in_ms", 0))
        .int("min_compaction_threshold", settings.int("min_compaction_threshold", 4))
        .int("min_index_interval", settings.int("min_index_interval", 128))
        .boolean("populate_io_cache_on_flush", settings.boolean("populate_io_cache_on_flush", false))
        .double("read_repair_chance", settings.double("read_repair_chance", 0.0))
        .boolean("replicate_on_write", settings.boolean("replicate_on_write", true))
        .text("speculative_retry", retry)
        .optional("subcomparator", cf.subcomparator().map(|sub| sub.class_name().to_owned()))
        .text("type", cf.type_name())
        .optional("value_alias", value_alias(def).filter(|_| !lacks_names))
}

/// Returns the name of a dense table's value column, which is empty if the table has none, as in Cassandra.
fn value_alias(def: &TableDef) -> Option<String> {
    let is_dense = matches!(def.layout, Layout::Dense | Layout::CompositeDense);
    def.compact_value().map(|value| value.name.clone()).or_else(|| is_dense.then(String::new))
}

pub(super) fn columns(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_table(state, wanted, |cf, def| {
        let lists_all = state.reported.lists_key_columns();
        let is_listed =
            |kind: ColumnKind| lists_all || matches!(kind, ColumnKind::Regular | ColumnKind::Static);
        let listed = def.columns().filter(|column| is_listed(column.kind));
        rows.extend(listed.map(|column| self::column(cf, def, column, state.reported)));
        if value_alias(def).is_some_and(|alias| alias.is_empty()) && lists_all {
            let value = TableColumn::new("", ColumnKind::CompactValue, 0, CqlType::Native(Native::Blob));
            rows.push(self::column(cf, def, &value, state.reported));
        }
    });
    rows
}

fn column(cf: &CfDef, def: &TableDef, column: &TableColumn, reported: &ReportedVersion) -> RowBuilder {
    let kind = match column.kind {
        ColumnKind::PartitionKey => "partition_key",
        ColumnKind::Clustering => "clustering_key",
        ColumnKind::Static => "static",
        ColumnKind::CompactValue => "compact_value",
        ColumnKind::Regular => "regular",
    };
    let index = index_of(cf, column);
    let mut row = RowBuilder::default()
        .text("keyspace_name", &*cf.keyspace)
        .text("columnfamily_name", &*cf.name)
        .text("column_name", &*column.name)
        .optional("index_name", index.and_then(|index| index.name.clone()))
        .optional("index_options", index_options(index, def, is_of_cql(cf), reported))
        .optional("index_type", index.map(|index| index.kind.name().to_owned()))
        .text("type", kind)
        .text("validator", class_text(column));
    if let Some(place) = component_index(cf, def, column) {
        row = row.int("component_index", i32::try_from(place).unwrap_or(i32::MAX));
    }
    row
}

/// Returns the options of a column's index as JSON. 1.2 added the number of clustering columns, and 2.1 writes `null` for
/// a column without an index.
fn index_options(
    index: Option<&IndexDef>,
    def: &TableDef,
    is_of_cql: bool,
    reported: &ReportedVersion,
) -> Option<String> {
    // An index of Thrift clients only has options if they were set.
    let with_options = index.filter(|index| index.options.is_some() || is_of_cql);
    let Some(index) = with_options else {
        return reported.shows_absent_index_options().then(|| "null".to_owned());
    };
    let mut options = index.options.clone().unwrap_or_default();
    if index.kind == IndexKind::Composites && reported.shows_index_prefix_size() {
        options.insert("prefix_size".to_owned(), def.clustering.len().to_string());
    }
    Some(json(&options))
}

pub(super) fn user_types(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    for_each_keyspace(state, wanted, |keyspace| {
        for user_type in keyspace.user_types.values().filter(|known| wanted.takes_first(&known.name)) {
            let names: Vec<String> = user_type.fields.iter().map(|(name, _)| name.clone()).collect();
            let types: Vec<String> = user_type.fields.iter().map(|(_, field)| field.class_name()).collect();
            let row = RowBuilder::default()
                .text("keyspace_name", &*user_type.keyspace)
                .text("type_name", &*user_type.name)
                .texts("field_names", &names)
                .texts("field_types", &types);
            rows.push(row);
        }
    });
    rows
}
