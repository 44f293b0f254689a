//! The size of a call's result, for the journal of a server with faults.

use base::model::FieldRole;
use db::faults::JournalResult;
use wire::thrift::interface::{Type, declarations};
use wire::thrift::{Reader, TType, WireError};

/// Returns the size of the result in a reply, which begins with field 0; `None` for a result without data.
pub(super) fn result_size(method: &str, reply: &[u8]) -> Option<JournalResult> {
    let declared = declarations(method.as_bytes()).last()?;
    let result = declared.result.as_ref()?;
    let mut reader = Reader::over(reply);
    reader.field_begin().ok()?.filter(|(ttype, _)| *ttype == result.ttype())?;
    let (rows, columns) = match (result, name_of_struct(result)) {
        (Type::I32, _) => (None, size(reader.i32().ok()?)),
        (Type::Struct(_), "ColumnOrSuperColumn" | "column_t" | "superColumn_t") => (None, Some(1)),
        (Type::Struct(_), "CqlResult") => (Some(elements_of_field(&mut reader).ok()??), None),
        (Type::Struct(_), "CASResult") => {
            let (TType::Bool, 1) = reader.field_begin().ok()?? else { return None };
            let applied = reader.bool().ok();
            return Some(JournalResult { applied, ..JournalResult::default() });
        }
        (Type::Map(..), _) if declared.result_role == FieldRole::Rows => {
            let (rows, columns) = map(&mut reader).ok()?;
            (Some(rows), Some(columns))
        }
        (Type::List(_), "KeySlice") => {
            let (rows, columns) = slices(&mut reader).ok()?;
            (Some(rows), Some(columns))
        }
        (Type::List(_), "ColumnOrSuperColumn" | "column_t" | "superColumn_t") => {
            (None, Some(reader.list_begin().ok()?.1))
        }
        (Type::List(_), _) if declared.result_role == FieldRole::Key => {
            (Some(reader.list_begin().ok()?.1), None)
        }
        _ => return None,
    };
    Some(JournalResult { rows, columns, applied: None })
}

/// Returns the name of the struct that a type is or has as its element; otherwise `""`.
fn name_of_struct(declared: &Type) -> &'static str {
    match declared.element().unwrap_or(declared) {
        Type::Struct(of) => of.name,
        _ => "",
    }
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
