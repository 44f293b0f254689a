//! Limits of the sizes of what statements define.

use super::names::invalid;
use crate::cql::CqlError;
use crate::marshal::{CqlType, UserType};
use crate::schema::TableDef;
use crate::util::limits::{TABLE_COLUMNS_MAX, TABLE_TYPES_TEXT_BYTES_MAX};

/// That a user type may be written in full.
pub fn check_user_type(user: &UserType) -> Result<(), CqlError> {
    match user.size().excess() {
        Some(excess) => invalid(format!("User type {}.{} {excess}", user.keyspace, user.name)),
        None => Ok(()),
    }
}

/// The same for a type that is made of others.
pub fn check_type(cql_type: &CqlType) -> Result<(), CqlError> {
    match cql_type.size().excess() {
        Some(excess) => invalid(format!("Type {cql_type} {excess}")),
        None => Ok(()),
    }
}

/// How many columns a table has, and how large their types are together.
pub fn check_table(table: &TableDef) -> Result<(), CqlError> {
    let columns = table.columns().count();
    if columns > TABLE_COLUMNS_MAX {
        return invalid(format!(
            "The table has {columns} columns, and at most {TABLE_COLUMNS_MAX} are allowed: use a map or clustering \
             columns"
        ));
    }
    let bytes =
        table.columns().map(|column| column.cql_type.size().text_bytes).fold(0, usize::saturating_add);
    if bytes > TABLE_TYPES_TEXT_BYTES_MAX {
        return invalid(format!(
            "The class names of the columns' types have {bytes} bytes, and at most {TABLE_TYPES_TEXT_BYTES_MAX} are \
             allowed: use smaller user types or several tables"
        ));
    }
    Ok(())
}
