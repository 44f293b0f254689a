//! The table of built indexes, `system."IndexInfo"`.

use super::row::RowBuilder;
use super::{RequestedTables, for_each_keyspace};
use crate::QueryState;

/// Returns the built indexes. In releases before 3.0 their names begin with the table.
pub(super) fn built(state: &QueryState<'_>, wanted: &RequestedTables) -> Vec<RowBuilder> {
    let mut rows = Vec::new();
    let has_table = state.reported.names_tables_of_indexes();
    for_each_keyspace(state, wanted, |keyspace| {
        for cf in keyspace.column_families.values() {
            for column in cf.column_metadata.values() {
                let name = column.index.as_ref().and_then(|index| index.name.as_ref());
                let Some(name) = name.filter(|_| state.database.indexes().is_built(cf, &column.name)) else {
                    continue;
                };
                let name = if has_table { format!("{}.{name}", cf.name) } else { name.clone() };
                rows.push(RowBuilder::default().text("table_name", &*keyspace.name).text("index_name", name));
            }
        }
    });
    rows
}
