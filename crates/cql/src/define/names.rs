//! Checks the names of keyspaces and tables, and which keyspaces may be changed.

use crate::error::invalid;
use crate::system::is_system;
use crate::{CqlError, QueryState, Result};
use base::compat::features::releases::NEWEST;
use base::compat::{Line, texts};
use base::marshal::TypeError;
use cql_syntax::Place;
use db::limits::SCHEMA_NAME_CHARS_MAX;

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Checks the name of a new keyspace.
pub(super) fn check_keyspace(name: &str) -> Result<()> {
    let lower = name.to_ascii_lowercase();
    if is_system(&lower) {
        return invalid(texts::own_keyspace(NEWEST, &lower));
    }
    if !is_word(name) {
        return invalid(format!("\"{name}\" is not a valid keyspace name"));
    }
    too_long("Keyspace", name)
}

/// Checks the name of a new table.
pub(super) fn check_table(line: Line, name: &str) -> Result<()> {
    if !is_word(name) {
        return invalid(texts::invalid_table_name(line, name));
    }
    too_long("Column family", name)
}

fn too_long(what: &str, name: &str) -> Result<()> {
    if name.len() > SCHEMA_NAME_CHARS_MAX {
        return invalid(format!(
            "{what} names shouldn't be more than {SCHEMA_NAME_CHARS_MAX} characters long (got \"{name}\")"
        ));
    }
    Ok(())
}

/// Refuses changes of the system keyspaces.
pub(super) fn check_not_system(keyspace: &str) -> Result<()> {
    if is_system(&keyspace.to_ascii_lowercase()) {
        return Err(CqlError::Unauthorized(texts::own_keyspace_in_cql(NEWEST, keyspace)));
    }
    Ok(())
}

/// Returns the keyspace of a schema change. Keyspaces that cannot be changed are refused.
pub(super) fn keyspace_of<'n>(state: &QueryState<'n>, named: Option<&'n str>) -> Result<&'n str> {
    let keyspace = state.keyspace_of(named)?;
    check_not_system(keyspace)?;
    Ok(keyspace)
}

/// Returns an error that the old servers report as a syntax error although it has no position.
pub(super) fn syntax(message: impl Into<String>) -> CqlError {
    CqlError::Syntax { message: message.into(), place: Place { line: 0, column: 0 } }
}

/// Returns a type, or the error for a class that does not exist.
pub(super) fn configured<T>(found: Result<T, TypeError>) -> Result<T> {
    found.or_else(|error| configuration(error.to_string()))
}

pub(super) fn configuration<T>(message: impl Into<String>) -> Result<T> {
    Err(CqlError::Configuration(message.into()))
}
