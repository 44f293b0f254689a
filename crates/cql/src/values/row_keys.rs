//! Row keys, made of the values of the partition key's columns.

use bytes::Bytes;

use crate::Result;
use crate::error::invalid;
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use base::schema::row_key;
use db::limits::NAME_BYTES_MAX;

/// Returns the row key of these values, one for each column.
///
/// # Errors
/// If the key is empty or too long. Its length is checked before it is made.
pub(crate) fn checked_row_key(values: &[Bytes]) -> Result<Bytes> {
    check_row_key(values)?;
    Ok(row_key(values))
}

/// Checks the row key of these values.
///
/// # Errors
/// If it is empty or too long.
pub(super) fn check_row_key(values: &[Bytes]) -> Result<()> {
    let length = match values {
        [value] => value.len(),
        values => values.iter().map(|value| value.len() + 3).sum(),
    };
    if length == 0 {
        return invalid(texts::empty_key(NEWEST));
    }
    if length > NAME_BYTES_MAX {
        return invalid(texts::long_key(NEWEST, length, NAME_BYTES_MAX));
    }
    Ok(())
}
