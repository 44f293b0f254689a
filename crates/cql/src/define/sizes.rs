//! Limits on the sizes of definitions.

use crate::Result;
use crate::error::invalid;
use crate::limits::TABLE_TYPES_TEXT_BYTES_MAX;
use base::marshal::{CqlType, UserType};
use base::schema::TableDef;
use base::util::limits::TABLE_COLUMNS_MAX;

/// Checks that the full text of a user type is not too long.
pub(super) fn check_user_type(user: &UserType) -> Result<()> {
    match user.size().excess() {
        Some(excess) => invalid(format!("User type {}.{} {excess}", user.keyspace, user.name)),
        None => Ok(()),
    }
}

/// Checks that the full text of a type is not too long.
pub(super) fn check_type(cql_type: &CqlType) -> Result<()> {
    match cql_type.size().excess() {
        Some(excess) => invalid(format!("Type {cql_type} {excess}")),
        None => Ok(()),
    }
}

/// Checks the number of a table's columns, and the total size of their types.
pub(super) fn check_table(table: &TableDef) -> Result<()> {
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
