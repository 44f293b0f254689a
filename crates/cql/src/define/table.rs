//! DROP TABLE and TRUNCATE.

use super::names::keyspace_of;
use super::table_changed;
use crate::error::invalid;
use crate::{ChangeKind, Outcome, QueryState, Result};
use base::compat::texts;
use cql_syntax::TableName;
use db::Access;

/// Checks whether a table exists. It is an error if its keyspace does not exist.
fn is_there(state: &QueryState<'_>, keyspace: &str, table: &str) -> Result<bool> {
    let catalog = state.database.catalog();
    match catalog.keyspace(keyspace) {
        Some(keyspace) => Ok(keyspace.column_families.contains_key(table)),
        None => invalid(texts::unknown_keyspace(state.behaviour, keyspace)),
    }
}

pub(super) async fn drop_table(
    state: &QueryState<'_>,
    table: &TableName,
    if_exists: bool,
) -> Result<Outcome> {
    let keyspace = keyspace_of(state, table.keyspace.as_deref())?;
    let (key, family) = (keyspace.as_bytes(), table.name.as_bytes());
    state.check(Access::DropFamily { keyspace: key, family })?;
    let is_there = match is_there(state, keyspace, &table.name) {
        Err(_) if if_exists => false,
        known => known?,
    };
    if !is_there {
        return if if_exists {
            Ok(Outcome::Void)
        } else {
            invalid(texts::unknown_table(state.line(), &table.name))
        };
    }
    state.database.schema_changes(state.behaviour).drop_column_family(keyspace, &table.name).await?;
    Ok(table_changed(ChangeKind::Dropped, keyspace, &table.name))
}

pub(super) async fn truncate(state: &QueryState<'_>, table: &TableName) -> Result<Outcome> {
    let keyspace = keyspace_of(state, table.keyspace.as_deref())?;
    let (key, family) = (keyspace.as_bytes(), table.name.as_bytes());
    state.check(Access::Write { keyspace: key, family })?;
    if !is_there(state, keyspace, &table.name)? {
        return invalid(texts::unknown_table(state.line(), &table.name));
    }
    state.database.schema_changes(state.behaviour).truncate(key, family).await?;
    Ok(Outcome::Void)
}
