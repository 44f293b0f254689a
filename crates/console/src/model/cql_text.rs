//! A model as CQL, with its sample data.

use bytes::Bytes;

use super::script::Script;
use super::sketch::OpenSketch;
use crate::limits::{SKETCH_ROWS, SKETCH_SCRIPT_BYTES_MAX};
use base::marshal::{CqlType, Native};
use base::schema::show::literal;
use base::schema::{Catalog, CfDef, ColumnKind, TableColumn, TableDef, name_text};
use cql::{Outcome, QueryOptions, QueryState, ResultSet};

/// Returns the model and its sample data as a script of CQL.
pub(super) async fn cql_text(open: &OpenSketch, catalog: &Catalog) -> Script {
    let mut script = Script::new("cql", "CQL");
    let state = open.state();
    let mut inserts = String::new();
    for keyspace in catalog.keyspaces.values() {
        let definitions = cql::definitions_of(&state, keyspace);
        for definition in &definitions {
            script.text.extend([definition, "\n\n"]);
        }
        for cf in keyspace.column_families.values() {
            let warning = format!("/*\nWarning: Table {} omitted", full_name(cf));
            if definitions.iter().any(|definition| definition.starts_with(&warning)) {
                let why = "left out. CQL cannot create its super columns, names or types of values";
                script.lose(format!("{}: {why}; the approximate table is in a comment.", cf.name));
                continue;
            }
            inserts.push_str(&rows_text(open, cf, &mut script).await);
        }
    }
    if inserts.is_empty() {
        return script;
    }
    script.lose("Timestamps and times to live: INSERT uses the time at which it runs.".to_owned());
    if script.text.len() + inserts.len() > SKETCH_SCRIPT_BYTES_MAX {
        script.lose("The sample data: they are too long for this page.".to_owned());
    } else {
        script.text.push_str(&inserts);
    }
    script
}

/// Returns the name of a table with its keyspace, as statements have it.
pub(super) fn full_name(cf: &CfDef) -> String {
    format!("{}.{}", name_text(&cf.keyspace), name_text(&cf.name))
}

/// Reads the first rows of a table. The last value is whether there are more.
pub(super) async fn table_rows(state: &QueryState<'_>, cf: &CfDef) -> Result<(ResultSet, bool), String> {
    let statement = format!("SELECT * FROM {}", full_name(cf));
    let options = QueryOptions { page_size: Some(SKETCH_ROWS), ..QueryOptions::default() };
    match cql::query(state, &statement, &options).await {
        Ok(Outcome::Rows(rows)) => {
            let is_cut = rows.paging_state.is_some();
            Ok((rows, is_cut))
        }
        Ok(_) => Err("the table has no rows".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

async fn rows_text(open: &OpenSketch, cf: &CfDef, script: &mut Script) -> String {
    let state = open.state();
    let def = TableDef::of(cf, state.behaviour.release);
    let Ok((rows, is_cut)) = table_rows(&state, cf).await else { return String::new() };
    if is_cut {
        script.lose(format!("{}: rows after the first {SKETCH_ROWS} are left out.", cf.name));
    }
    let mut text = String::new();
    for row in &rows.rows {
        let named: Vec<(&TableColumn, &Bytes)> = rows
            .columns
            .iter()
            .zip(row)
            .filter_map(|(spec, value)| Some((def.column(&spec.name)?, value.as_ref()?)))
            .collect();
        for statement in statements_of_row(open, cf, &named) {
            // A value that is not valid for its type has no literal.
            match cql::prepare(&state, &statement) {
                Ok(_) => text.extend([&*statement, "\n"]),
                Err(error) => script.lose(format!("{}: a row is left out. {error}", cf.name)),
            }
        }
    }
    text
}

/// Returns the statements that write a row: INSERT, or UPDATE for each counter.
fn statements_of_row(open: &OpenSketch, cf: &CfDef, row: &[(&TableColumn, &Bytes)]) -> Vec<String> {
    let shown = |column: &TableColumn, value: &Bytes| literal(open.database.types(), &column.cql_type, value);
    let counter = CqlType::Native(Native::Counter);
    let counters: Vec<_> = row.iter().filter(|(column, _)| column.cql_type == counter).collect();
    if counters.is_empty() {
        let names: Vec<String> = row.iter().map(|(column, _)| name_text(&column.name)).collect();
        let values: Vec<String> = row.iter().map(|(column, value)| shown(column, value)).collect();
        let (names, values) = (names.join(", "), values.join(", "));
        return vec![format!("INSERT INTO {} ({names}) VALUES ({values});", full_name(cf))];
    }
    let keys: Vec<String> = row
        .iter()
        .filter(|(column, _)| matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering))
        .map(|(column, value)| format!("{} = {}", name_text(&column.name), shown(column, value)))
        .collect();
    let (table, keys) = (full_name(cf), keys.join(" AND "));
    let mut statements = Vec::new();
    for (column, value) in counters {
        let (name, value) = (name_text(&column.name), shown(column, value));
        statements.push(format!("UPDATE {table} SET {name} = {name} + {value} WHERE {keys};"));
    }
    statements
}
