//! The system keyspaces as column families: a database of its own, whose rows are made when they are read.
//!
//! Thrift calls and CQL 2 read `system` and `system_traces` as they read other keyspaces: by names, slices, ranges of
//! keys and pages. So they run on a [`Database`] over [`SystemStore`], whose schema has only these two keyspaces.

mod cells;
mod node_families;
mod system_store;

use std::sync::Arc;

use super::definitions::listed_in;
use super::names::{SYSTEM, TRACES};
use crate::QueryState;
use base::schema::{Catalog, KeyspaceDef};
use db::Database;
use system_store::SystemStore;

/// Returns the database in which calls of a session read a keyspace, if it is `system`, or `system_traces` in a release
/// that has it. `None` for all other keyspaces.
pub fn system_view(state: &QueryState<'_>, keyspace: &[u8]) -> Option<Arc<Database>> {
    let name = [SYSTEM, TRACES].into_iter().find(|name| name.as_bytes() == keyspace)?;
    let mut def = state.database.describe(state.behaviour).keyspace(keyspace)?;
    // Levels of consistency are checked against the factor, although there is only one node.
    let factor = def.strategy_options.get("replication_factor").and_then(|factor| factor.parse().ok());
    def.replication_factor = factor.unwrap_or(1);
    add_tables(&mut def, state);
    let catalog = Catalog { keyspaces: [(name.to_owned(), def)].into_iter().collect(), ..Catalog::default() };
    Some(Arc::new(state.database.view(Arc::new(catalog), Arc::new(SystemStore::new(state)))))
}

/// Adds the tables that calls which describe a keyspace do not show. Of the others, CQL knows the columns.
fn add_tables(keyspace: &mut KeyspaceDef, state: &QueryState<'_>) {
    for cf in listed_in(state.behaviour.line(), &keyspace.name) {
        if !keyspace.column_families.contains_key(&cf.name) {
            keyspace.column_families.insert(cf.name.clone(), cf.clone());
        }
    }
}
