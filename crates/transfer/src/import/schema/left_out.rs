//! The objects that the import leaves out: code that ran in the old server, and data derived from other tables.

use std::collections::BTreeMap;

use super::FoundSchema;
use super::system_rows::{SchemaRow, SystemTables};
use crate::import::FamilyName;
use base::schema::is_system_keyspace;
use sstable::SstableError;

/// Reads `schema_triggers`, `schema_functions` and `schema_aggregates` (2.0 to 2.2).
pub(super) fn read_old(tables: &SystemTables<'_>, schema: &mut FoundSchema) -> Result<(), SstableError> {
    // The options of a trigger are a map of several cells, with a class.
    add(schema, tables.rows("schema_triggers", 2)?, trigger);
    add(schema, tables.rows("schema_functions", 2)?, |row| code_of("function", row));
    add(schema, tables.rows("schema_aggregates", 2)?, |row| code_of("aggregate", row));
    Ok(())
}

/// Reads `triggers`, `functions`, `aggregates` and `views` (3.0 and later), and `column_masks` (5.0).
pub(super) fn read_new(tables: &SystemTables<'_>, schema: &mut FoundSchema) -> Result<(), SstableError> {
    add(schema, tables.rows("triggers", 2)?, trigger);
    add(schema, tables.rows("functions", 2)?, |row| code_of("function", row));
    add(schema, tables.rows("aggregates", 2)?, |row| code_of("aggregate", row));
    add(schema, tables.rows("column_masks", 2)?, mask);
    for row in tables.rows("views", 1)?.iter().filter(|row| !is_system_keyspace(&row.keyspace)) {
        let Some(name) = row.clustering.first() else { continue };
        let view = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
        let base = row.text("base_table_name").unwrap_or("an unknown table");
        schema.left_out.push(format!(
            "the materialized view {view}: its rows are made of those of {}.{base}; to import them as a table, define one \
             of this name with --schema",
            row.keyspace
        ));
        schema.views.insert(view);
    }
    Ok(())
}

fn add(schema: &mut FoundSchema, rows: Vec<SchemaRow>, sentence: impl Fn(&SchemaRow) -> Option<String>) {
    let of_users = rows.iter().filter(|row| !is_system_keyspace(&row.keyspace));
    schema.left_out.extend(of_users.filter_map(sentence));
}

fn trigger(row: &SchemaRow) -> Option<String> {
    let [table, name] = &row.clustering[..] else { return None };
    Some(format!("the trigger {name} of {}.{table}: there are no triggers", row.keyspace))
}

fn mask(row: &SchemaRow) -> Option<String> {
    let [table, column] = &row.clustering[..] else { return None };
    let function = row.text("function_name").unwrap_or("an unknown function");
    Some(format!(
        "the mask {function} of the column {column} of {}.{table}: there are none, and clients see the stored values",
        row.keyspace
    ))
}

fn code_of(kind: &str, row: &SchemaRow) -> Option<String> {
    let name = row.clustering.first()?;
    Some(format!("the {kind} {}.{name}: there are none of users", row.keyspace))
}

/// Returns the sentence for an index of a table of CQL by a class that is not Cassandra's own.
pub(super) fn custom_index(family: &FamilyName, index: &str, options: &BTreeMap<String, String>) -> String {
    let class = options.get("class_name").map_or("an unknown class", String::as_str);
    format!("the index {index} of {family}: {class} makes its entries, and there are no such classes")
}
