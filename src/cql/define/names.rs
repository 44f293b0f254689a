//! Names of keyspaces and tables, and who may change them.

use crate::compat::features::releases::NEWEST;
use crate::compat::texts;
use crate::cql::system::is_system;
use crate::cql::{CqlError, Place, QueryState};
use crate::util::limits::SCHEMA_NAME_CHARS_MAX;

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The name of a keyspace that is to be made.
pub fn check_keyspace(name: &str) -> Result<(), CqlError> {
    if is_system(name) {
        return Err(CqlError::invalid(texts::own_keyspace(NEWEST, name)));
    }
    if !is_word(name) {
        return Err(CqlError::invalid(format!("\"{name}\" is not a valid keyspace name")));
    }
    too_long("Keyspace", name)
}

/// The name of a table that is to be made.
pub fn check_table(name: &str) -> Result<(), CqlError> {
    if !is_word(name) {
        return Err(CqlError::invalid(format!(
            "\"{name}\" is not a valid column family name (must be alphanumeric character only: [0-9A-Za-z]+)"
        )));
    }
    too_long("Column family", name)
}

fn too_long(what: &str, name: &str) -> Result<(), CqlError> {
    if name.len() > SCHEMA_NAME_CHARS_MAX {
        return Err(CqlError::invalid(format!(
            "{what} names shouldn't be more than {SCHEMA_NAME_CHARS_MAX} characters long (got \"{name}\")"
        )));
    }
    Ok(())
}

/// Refuses changes of what the server describes itself in.
pub fn check_not_system(keyspace: &str) -> Result<(), CqlError> {
    if is_system(&keyspace.to_ascii_lowercase()) {
        return Err(CqlError::Unauthorized(texts::own_keyspace_in_cql(NEWEST, keyspace)));
    }
    Ok(())
}

/// The keyspace that a change of the schema means: one that may be changed.
pub fn keyspace_of<'n>(state: &QueryState<'n>, named: Option<&'n str>) -> Result<&'n str, CqlError> {
    let keyspace = state.keyspace_of(named)?;
    check_not_system(keyspace)?;
    Ok(keyspace)
}

/// A mistake that the old servers call one of syntax although it has no place.
pub fn syntax(message: impl Into<String>) -> CqlError {
    CqlError::Syntax { message: message.into(), place: Place { line: 0, column: 0 } }
}

pub fn configuration<T>(message: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::Configuration(message.into()))
}

pub fn invalid<T>(message: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(message))
}
