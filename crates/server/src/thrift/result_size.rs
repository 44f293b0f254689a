//! The size of a call's result, for the journal of a server with faults.

use super::wire::{Reader, TType, WireError};
use crate::db::faults::JournalResult;

/// Returns the size of the result in a reply, which begins with field 0; `None` for calls whose result is no data.
pub fn result_size(method: &str, reply: &[u8]) -> Option<JournalResult> {
    let mut reader = Reader::over(reply);
    let (ttype, _) = reader.field_begin().ok()??;
    let (rows, columns) = match (method, ttype) {
        ("get" | "get_column" | "get_superColumn", TType::Struct) => (None, Some(1)),
        ("get_count" | "get_column_count", TType::I32) => (None, size(reader.i32().ok()?)),
        ("get_key_range", TType::List) => (Some(reader.list_begin().ok()?.1), None),
        ("cas", TType::Struct) => {
            let (TType::Bool, 1) = reader.field_begin().ok()?? else { return None };
            let applied = reader.bool().ok();
            return Some(JournalResult { applied, ..JournalResult::default() });
        }
        ("execute_cql_query" | "execute_prepared_cql_query", TType::Struct) => {
            (elements_of_field(&mut reader).ok()?, None)
        }
        ("multiget" | "multiget_slice" | "multiget_count", TType::Map) => {
            let (rows, columns) = map(&mut reader).ok()?;
            (Some(rows), Some(columns))
        }
        ("get_columns_since" | "get_multi_slice", TType::List) => (None, Some(reader.list_begin().ok()?.1)),
        (slice, TType::List) if slice.starts_with("get_slice") => (None, Some(reader.list_begin().ok()?.1)),
        ("get_range_slice" | "get_range_slices" | "get_indexed_slices" | "get_paged_slice", TType::List) => {
            let (rows, columns) = slices(&mut reader).ok()?;
            (Some(rows), Some(columns))
        }
        _ => return None,
    };
    Some(JournalResult { rows, columns, applied: None })
}

fn size(number: i32) -> Option<usize> {
    usize::try_from(number).ok()
}

/// Returns the numbers of rows and columns in a map from row keys to columns, or to their number.
fn map(reader: &mut Reader<'_>) -> Result<(usize, usize), WireError> {
    let (key, value, rows) = reader.map_begin()?;
    let mut columns = 0;
    for _ in 0..rows {
        reader.skip(key)?;
        columns += match value {
            TType::I32 => size(reader.i32()?).unwrap_or(0),
            TType::List => {
                let mut list = reader.clone();
                reader.skip(value)?;
                list.list_begin()?.1
            }
            other => {
                reader.skip(other)?;
                1
            }
        };
    }
    Ok((rows, columns))
}

/// Returns the numbers of rows and columns in a list of KeySlice.
fn slices(reader: &mut Reader<'_>) -> Result<(usize, usize), WireError> {
    let (_, rows) = reader.list_begin()?;
    let mut columns = 0;
    for _ in 0..rows {
        columns += elements_of_field(reader)?.unwrap_or(0);
    }
    Ok((rows, columns))
}

/// Reads a KeySlice or CqlResult, and returns the length of the list in field 2: columns or rows.
fn elements_of_field(reader: &mut Reader<'_>) -> Result<Option<usize>, WireError> {
    let mut count = None;
    while let Some((ttype, id)) = reader.field_begin()? {
        if (ttype, id) == (TType::List, 2) {
            count = Some(reader.clone().list_begin()?.1);
        }
        reader.skip(ttype)?;
    }
    Ok(count)
}
