//! The statements that create keyspaces, types and indexes.

use std::collections::BTreeMap;

use crate::system::{VIRTUAL, index_target, replication, type_text};
use base::marshal::{CqlType, Native, PACKAGE, UserType};
use base::schema::{CfDef, ColumnDef, IndexKind, KeyspaceDef, TableDef, name_text, quoted_text};
use base::util::Release;

const STRATEGIES: &str = "org.apache.cassandra.locator.";

/// Returns `{'a': 'b', 'c': 'd'}`, in the order of the keys.
pub(super) fn map(entries: &BTreeMap<String, String>) -> String {
    let entries = entries.iter().map(|(key, value)| format!("{}: {}", quoted_text(key), quoted_text(value)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// Returns a type as text that is parsed to the same type. Timestamps of old column families sort differently from
/// CQL's, so they are written as their class.
pub(super) fn column_type(cql_type: &CqlType) -> String {
    match cql_type {
        CqlType::Native(Native::OldTimestamp) => format!("'{PACKAGE}{}'", Native::OldTimestamp.class()),
        other => type_text(other),
    }
}

pub(super) fn keyspace(keyspace: &KeyspaceDef) -> String {
    let name = name_text(&keyspace.name);
    if keyspace.name == VIRTUAL {
        return format!(
            "/*\nWarning: Keyspace {name} is a virtual keyspace and cannot be recreated with CQL.\nStructure, for \
             reference:*/\n// VIRTUAL KEYSPACE {name};"
        );
    }
    let (class, options) = replication(keyspace);
    let class = class.strip_prefix(STRATEGIES).unwrap_or(class);
    let options =
        options.iter().map(|(name, value)| format!(", {}: {}", quoted_text(name), quoted_text(value)));
    let (class, options): (_, String) = (quoted_text(class), options.collect());
    let durable = keyspace.durable_writes;
    format!(
        "CREATE KEYSPACE {name} WITH replication = {{'class': {class}{options}}}  AND durable_writes = {durable};"
    )
}

pub(super) fn user_type(user_type: &UserType) -> String {
    let field =
        |(name, cql_type): &(String, CqlType)| format!("    {} {}", name_text(name), column_type(cql_type));
    let fields: Vec<String> = user_type.fields.iter().map(field).collect();
    let (keyspace, name) = (name_text(&user_type.keyspace), name_text(&user_type.name));
    format!("CREATE TYPE {keyspace}.{name} (\n{}\n);", fields.join(",\n"))
}

/// Returns the statement for an index on a column, or an empty text if the column has no index.
pub(super) fn index(cf: &CfDef, column: &ColumnDef, release: Release) -> String {
    let Some(index) = &column.index else { return String::new() };
    let def = TableDef::of(cf, release);
    let mut options = index.options.clone().unwrap_or_default();
    let class = options.remove("class_name");
    let known = def.columns().find(|known| known.cell_name == column.name);
    let target = match known {
        Some(known) => index_target(known, &mut options),
        None => name_text(&String::from_utf8_lossy(&column.name)),
    };
    let custom = if index.kind == IndexKind::Custom { "CUSTOM " } else { "" };
    let using = class.map(|class| format!(" USING {}", quoted_text(&class))).unwrap_or_default();
    let with = match (&*using, options.is_empty()) {
        ("", _) | (_, true) => String::new(),
        _ => format!(" WITH OPTIONS = {}", map(&options)),
    };
    let (keyspace, table) = (name_text(&cf.keyspace), name_text(&cf.name));
    let name = name_text(index.name.as_deref().unwrap_or_default());
    format!("CREATE {custom}INDEX {name} ON {keyspace}.{table} ({target}){using}{with};")
}
