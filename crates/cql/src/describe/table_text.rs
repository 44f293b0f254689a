//! The CREATE TABLE statement of a table.

use super::text::{column_type, map};
use crate::QueryState;
use crate::define::{column_family, in_old_words};
use crate::system::{ElementOptions, VIRTUAL, table_id};
use crate::values::TypeScope;
use base::compat::features::ReportedVersion;
use base::schema::{CfDef, ColumnKind, KeyspaceDef, Layout, TableColumn, TableDef, name_text, quoted_text};
use cql_syntax::{CreateTable, Statement, parse};

/// The properties that a statement has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Those that differ from the default.
    Changed,
    All,
    /// All, and the table's id.
    Internal,
}

/// Returns CREATE TABLE for a table. If CQL cannot create the table, the statement is in a comment.
pub(super) fn table(state: &QueryState<'_>, keyspace: &KeyspaceDef, cf: &CfDef, detail: Detail) -> String {
    let def = TableDef::of(cf, state.behaviour.release);
    let name = format!("{}.{}", name_text(&cf.keyspace), name_text(&cf.name));
    let columns = columns(&def);
    if cf.keyspace == VIRTUAL {
        let comment = quoted_text(cf.comment.as_deref().unwrap_or_default());
        return format!(
            "/*\nWarning: Table {name} is a virtual table and cannot be recreated with CQL.\nStructure, for reference:\n\
             VIRTUAL TABLE {name} ({columns}) WITH comment = {comment};\n*/"
        );
    }
    let mut properties = layout_properties(cf, &def, detail);
    let mut options = options(state.reported, cf);
    if detail == Detail::Changed {
        // Column families of Thrift clients have some other defaults than CREATE TABLE.
        let without = made_by(&statement(&name, &columns, &properties), state, keyspace);
        let defaults = self::options(state.reported, &without.unwrap_or_else(|| CfDef::new("", "")));
        options.retain(|option| !defaults.contains(option));
    }
    properties.extend(options.into_iter().map(|(name, value)| format!("{name} = {value}")));
    let text = statement(&name, &columns, &properties);
    if is_made_by(&text, state, keyspace, cf, &def) {
        return text;
    }
    // The text must not end the comment.
    let text = text.replace("*/", "* /");
    format!(
        "/*\nWarning: Table {name} omitted because it has constructs not compatible with CQL (was created via legacy \
         API).\n\nApproximate structure, for reference:\n(this should not be used to reproduce this schema)\n\n{text}\n*/"
    )
}

/// Returns the columns and the primary key, for the text between the parentheses.
fn columns(def: &TableDef) -> String {
    let is_simple = def.partition_key.len() == 1 && def.clustering.is_empty();
    // Static columns come first, and columns that take one cell come before the others.
    let mut others: Vec<&TableColumn> = def.others.values().collect();
    others.sort_by_key(|column| (column.kind != ColumnKind::Static, column.cql_type.is_multi_cell()));
    let mut lines = Vec::new();
    for column in def.partition_key.iter().chain(&def.clustering).chain(others) {
        let words = match column.kind {
            ColumnKind::Static => " static",
            ColumnKind::PartitionKey if is_simple => " PRIMARY KEY",
            _ => "",
        };
        lines.push(format!("{} {}{words}", name_text(&column.name), column_type(&column.cql_type)));
    }
    if !is_simple {
        let names = |columns: &[TableColumn]| -> Vec<String> {
            columns.iter().map(|column| name_text(&column.name)).collect()
        };
        let mut key = match &names(&def.partition_key)[..] {
            [one] => vec![one.clone()],
            several => vec![format!("({})", several.join(", "))],
        };
        key.extend(names(&def.clustering));
        lines.push(format!("PRIMARY KEY ({})", key.join(", ")));
    }
    let lines: Vec<String> = lines.into_iter().map(|line| format!("\n    {line}")).collect();
    format!("{}\n", lines.join(","))
}

/// Returns the properties after WITH that define the stored cells: the layout and the order.
fn layout_properties(cf: &CfDef, def: &TableDef, detail: Detail) -> Vec<String> {
    let mut all = Vec::new();
    if detail == Detail::Internal {
        all.push(format!("ID = {}", table_id(cf)));
    }
    if def.is_compact() {
        all.push("COMPACT STORAGE".to_owned());
    }
    let has_order = def.clustering.iter().any(|column| column.is_reversed)
        || detail != Detail::Changed && !def.clustering.is_empty();
    if has_order {
        let mut orders = Vec::new();
        for column in &def.clustering {
            let order = if column.is_reversed { "DESC" } else { "ASC" };
            orders.push(format!("{} {order}", name_text(&column.name)));
        }
        all.push(format!("CLUSTERING ORDER BY ({})", orders.join(", ")));
    }
    all
}

/// Returns the statement of a table with properties.
fn statement(name: &str, columns: &str, properties: &[String]) -> String {
    let with = if properties.is_empty() { "" } else { " WITH " };
    format!("CREATE TABLE {name} ({columns}){with}{};", properties.join("\n    AND "))
}

fn options(reported: &ReportedVersion, cf: &CfDef) -> Options {
    if reported.has_properties_of_3_0() {
        return newer_options(&ElementOptions::of(cf));
    }
    older_options(&ElementOptions::of_2_1(cf))
}

type Options = Vec<(&'static str, String)>;

/// Returns the options as 4.0 prints them. 4.0 has no read repair chances; they are only printed if a client has set
/// them.
fn newer_options(options: &ElementOptions) -> Options {
    let mut all: Options = vec![
        ("additional_write_policy", "'99p'".to_owned()),
        ("bloom_filter_fp_chance", format!("{:?}", options.bloom_filter_fp_chance)),
        ("caching", map(&options.caching)),
        ("cdc", "false".to_owned()),
        ("comment", quoted_text(&options.comment)),
        ("compaction", map(&options.compaction)),
        ("compression", map(&options.compression)),
        ("crc_check_chance", "1.0".to_owned()),
    ];
    all.extend(
        options
            .dclocal_read_repair_chance
            .map(|chance| ("dclocal_read_repair_chance", format!("{chance:?}"))),
    );
    all.extend([
        ("default_time_to_live", options.default_time_to_live.to_string()),
        ("extensions", "{}".to_owned()),
        ("gc_grace_seconds", options.gc_grace_seconds.to_string()),
        ("max_index_interval", options.max_index_interval.to_string()),
        ("memtable_flush_period_in_ms", options.memtable_flush_period_in_ms.to_string()),
        ("min_index_interval", options.min_index_interval.to_string()),
        ("read_repair", "'BLOCKING'".to_owned()),
    ]);
    all.extend(options.read_repair_chance.map(|chance| ("read_repair_chance", format!("{chance:?}"))));
    all.push(("speculative_retry", quoted_text(&options.speculative_retry)));
    all
}

/// Returns the options as cqlsh of 2.1 prints them.
fn older_options(options: &ElementOptions) -> Options {
    let chance = |set: Option<f64>, default: f64| format!("{:?}", set.unwrap_or(default));
    vec![
        ("bloom_filter_fp_chance", format!("{:?}", options.bloom_filter_fp_chance)),
        ("caching", map(&options.caching)),
        ("comment", quoted_text(&options.comment)),
        ("compaction", map(&options.compaction)),
        ("compression", map(&options.compression)),
        ("dclocal_read_repair_chance", chance(options.dclocal_read_repair_chance, 0.1)),
        ("default_time_to_live", options.default_time_to_live.to_string()),
        ("gc_grace_seconds", options.gc_grace_seconds.to_string()),
        ("max_index_interval", options.max_index_interval.to_string()),
        ("memtable_flush_period_in_ms", options.memtable_flush_period_in_ms.to_string()),
        ("min_index_interval", options.min_index_interval.to_string()),
        ("read_repair_chance", chance(options.read_repair_chance, 0.0)),
        ("speculative_retry", quoted_text(&options.speculative_retry)),
    ]
}

/// Checks whether the statement creates a column family with the same cells, by comparing the result. Column families
/// of Thrift clients may have super columns, names that are not texts, or types for values that CQL cannot define.
fn is_made_by(
    text: &str,
    state: &QueryState<'_>,
    keyspace: &KeyspaceDef,
    cf: &CfDef,
    def: &TableDef,
) -> bool {
    if def.layout == Layout::Sparse {
        return true;
    }
    made_by(text, state, keyspace).is_some_and(|made| cells_of(&made) == cells_of(cf))
}

/// Returns the column family that a statement creates.
fn made_by(text: &str, state: &QueryState<'_>, keyspace: &KeyspaceDef) -> Option<CfDef> {
    let create = read(text, state.reported)?;
    column_family(&create, &TypeScope::of_existing(keyspace, state.database.types())).ok()
}

fn read(text: &str, reported: &ReportedVersion) -> Option<CreateTable> {
    let Statement::CreateTable(mut create) = parse(text).ok()?.statement else { return None };
    create.properties = in_old_words(reported, &create.properties).into_owned();
    Some(create)
}

/// Returns everything that defines the names and values of cells.
fn cells_of(cf: &CfDef) -> Vec<String> {
    let bytes = "org.apache.cassandra.db.marshal.BytesType";
    let key = cf.key_validator.as_ref().map_or(bytes, |validator| validator.class_name());
    let subcomparator = cf.subcomparator().map(|sub| sub.class_name()).unwrap_or_default();
    let types = [cf.comparator.class_name(), cf.default_validator.class_name(), key, subcomparator];
    let mut all = Vec::from(types.map(str::to_owned));
    for column in cf.column_metadata.values() {
        all.push(format!("{} {}", base::util::hex(&column.name), column.validator.class_name()));
    }
    all
}
