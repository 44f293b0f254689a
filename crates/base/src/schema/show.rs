//! Prints values, row keys and cell names for people.

use bytes::Bytes;

use super::{Layout, TableColumn, TableDef, name_text, quoted_text, row_key_parts};
use crate::marshal::{
    CollectionForm, CqlType, Native, STATIC_PREFIX, Types, ValueKind, components, list_from_bytes,
    map_from_bytes, timestamp_text, tuple_from_bytes,
};
use crate::util::hex;

/// Returns a value as a CQL literal, or in hex if the bytes are not a valid value of the type. Collections have 32-bit
/// lengths.
pub fn literal(types: &Types, cql_type: &CqlType, value: &Bytes) -> String {
    shown(types, cql_type, value).unwrap_or_else(|| format!("0x{}", hex(value)))
}

fn shown(types: &Types, cql_type: &CqlType, value: &Bytes) -> Option<String> {
    let items = |of: &CqlType| -> Option<String> {
        let items = list_from_bytes(value, CollectionForm::Long)?;
        Some(items.iter().map(|item| literal(types, of, item)).collect::<Vec<_>>().join(", "))
    };
    match cql_type {
        CqlType::Native(native) => shown_native(types, *native, value),
        CqlType::Custom(class) => Some(format!("'{}'", class.to_text(value))),
        CqlType::List { element, .. } => Some(format!("[{}]", items(element)?)),
        CqlType::Set { element, .. } => Some(format!("{{{}}}", items(element)?)),
        CqlType::Map { key, value: of, .. } => {
            let mut entries = Vec::new();
            for (entry_key, entry_value) in &map_from_bytes(value, CollectionForm::Long)? {
                let (key, value) = (literal(types, key, entry_key), literal(types, of, entry_value));
                entries.push(format!("{key}: {value}"));
            }
            Some(format!("{{{}}}", entries.join(", ")))
        }
        CqlType::Tuple(of_fields) => {
            let fields = fields(types, of_fields.iter(), value)?;
            Some(format!("({})", fields.join(", ")))
        }
        CqlType::User { user, .. } => {
            let values = fields(types, user.fields.iter().map(|(_, of)| of), value)?;
            let fields = user.fields.iter().zip(values).map(|((name, _), value)| {
                let name = name_text(name);
                format!("{name}: {value}")
            });
            Some(format!("{{{}}}", fields.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// Returns the fields of a tuple; missing fields at the end are null.
fn fields<'a>(
    types: &Types,
    of_fields: impl Iterator<Item = &'a CqlType>,
    value: &Bytes,
) -> Option<Vec<String>> {
    let mut found = tuple_from_bytes(value)?.into_iter();
    let field = |of: &CqlType| match found.next().flatten() {
        Some(field) => literal(types, of, &field),
        None => "null".to_owned(),
    };
    Some(of_fields.map(field).collect())
}

fn shown_native(types: &Types, native: Native, value: &[u8]) -> Option<String> {
    match native.kind() {
        ValueKind::Text => Some(quoted_text(std::str::from_utf8(value).ok()?)),
        ValueKind::Blob => Some(format!("0x{}", hex(value))),
        _ if value.is_empty() => Some("''".to_owned()),
        // The comparators of these types print bytes.
        ValueKind::Counter => Some(i64::from_be_bytes(value.try_into().ok()?).to_string()),
        ValueKind::Integer { bytes: 2 } => Some(i16::from_be_bytes(value.try_into().ok()?).to_string()),
        ValueKind::Integer { bytes: 1 } => Some(i8::from_be_bytes(value.try_into().ok()?).to_string()),
        // Their text form ends with seconds.
        ValueKind::Timestamp if has_milliseconds(value) => {
            let ms = i64::from_be_bytes(value.try_into().ok()?);
            Some(quoted_text(&timestamp_text(ms).replace('Z', "+0000")))
        }
        kind => {
            let class = types.resolve(native.class())?;
            class.validate(value).ok()?;
            let text = class.to_text(value);
            let is_quoted = matches!(kind, ValueKind::Quoted | ValueKind::Timestamp);
            Some(if is_quoted { quoted_text(text.trim_start_matches('/')) } else { text })
        }
    }
}

/// Returns whether a timestamp has a fraction of a second, in a year that its text form can have.
fn has_milliseconds(value: &[u8]) -> bool {
    const YEARS_MS: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;
    let ms = <[u8; 8]>::try_from(value).map(i64::from_be_bytes);
    ms.is_ok_and(|ms| ms % 1000 != 0 && YEARS_MS.contains(&ms))
}

/// Returns a composite name with its components separated: `0004|00000067|00 0000|00`; static columns begin with
/// `ffff`. Other names are in plain hex, and the empty name is `-`.
pub fn framed(name: &[u8], is_composite: bool) -> String {
    if name.is_empty() {
        return "-".to_owned();
    }
    let is_static = is_composite && name.starts_with(&STATIC_PREFIX);
    let mut rest = if is_static { &name[STATIC_PREFIX.len()..] } else { name };
    if !is_composite {
        return hex(name);
    }
    let mut parts = if is_static { vec![hex(&STATIC_PREFIX)] } else { Vec::new() };
    while !rest.is_empty() {
        let part = rest.split_first_chunk::<2>().and_then(|(length, after)| {
            let (value, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            let (end, after) = after.split_first()?;
            Some((*length, value, *end, after))
        });
        let Some((length, value, end, after)) = part else { return hex(name) };
        let value = if value.is_empty() { String::new() } else { format!("|{}", hex(value)) };
        parts.push(format!("{}{value}|{end:02x}", hex(&length)));
        rest = after;
    }
    parts.join(" ")
}

/// Whether the cell names of a table are composites.
pub fn has_composite_names(table: &TableDef) -> bool {
    matches!(table.layout, Layout::Sparse | Layout::CompositeDense)
}

/// Returns a row key as columns and values: `user='theo'`.
pub fn row_key(types: &Types, table: &TableDef, key: &Bytes) -> String {
    match row_key_parts(key, table.partition_key.len()) {
        Some(parts) => assigned(types, &table.partition_key, &parts).join(" "),
        None => "(not a key of this table)".to_owned(),
    }
}

/// Returns columns with their values.
pub fn assigned(types: &Types, columns: &[TableColumn], values: &[Bytes]) -> Vec<String> {
    let pairs = columns.iter().zip(values);
    pairs.map(|(of, value)| format!("{}={}", of.name, literal(types, &of.cql_type, value))).collect()
}

/// Returns the meaning of a cell in CQL: its row, then `column`, `column['element']`, `column.field` or `(marker)`, and the
/// value if it is given.
pub fn meaning(types: &Types, table: &TableDef, name: &Bytes, value: Option<&Bytes>) -> String {
    let Some(place) = table.place_of(name) else { return "(not a name of this table)".to_owned() };
    let mut words = assigned(types, &table.clustering, &place.clustering);
    if place.is_static {
        words.push("(static)".to_owned());
    }
    let column = match &place.column {
        None => table.compact_value(),
        Some(name) if name.is_empty() => {
            words.push("(marker)".to_owned());
            return words.join(" ");
        }
        Some(name) => table.others.values().find(|column| column.cell_name == *name),
    };
    let Some(column) = column else {
        words.push(match &place.column {
            Some(name) => format!("(no column {})", String::from_utf8_lossy(name)),
            None => "(no value)".to_owned(),
        });
        return words.join(" ");
    };
    let shown = |of: &CqlType| value.map(|value| format!("={}", literal(types, of, value)));
    words.push(match (&column.cql_type, &place.element) {
        (CqlType::Map { key, value, is_frozen: false }, Some(element)) => {
            format!("{}[{}]{}", column.name, literal(types, key, element), shown(value).unwrap_or_default())
        }
        (CqlType::Set { element: of, is_frozen: false }, Some(element)) => {
            format!("{} {{{}}}", column.name, literal(types, of, element))
        }
        (CqlType::List { element: of, is_frozen: false }, Some(element)) => {
            format!("{}[{}]{}", column.name, hex(element), shown(of).unwrap_or_default())
        }
        (CqlType::User { user, is_frozen: false }, Some(element)) => {
            let at = <[u8; 2]>::try_from(&element[..]).map(u16::from_be_bytes);
            match at.ok().and_then(|at| user.fields.get(usize::from(at))) {
                Some((field, of)) => {
                    format!("{}.{field}{}", column.name, shown(of).unwrap_or_default())
                }
                None => format!("{}.(no field {})", column.name, hex(element)),
            }
        }
        (of, _) => format!("{}{}", column.name, shown(of).unwrap_or_default()),
    });
    words.join(" ")
}

/// Returns the bound of a slice or range tombstone as columns and values, as far as it can be decoded.
pub fn bound(types: &Types, table: &TableDef, name: &Bytes) -> String {
    if name.is_empty() || !has_composite_names(table) {
        return if name.is_empty() { String::new() } else { meaning(types, table, name, None) };
    }
    let is_static = name.starts_with(&STATIC_PREFIX);
    let rest = if is_static { &name[STATIC_PREFIX.len()..] } else { &name[..] };
    let Some(parts) = components(rest) else { return String::new() };
    let values: Vec<Bytes> = parts.iter().map(|part| Bytes::copy_from_slice(part)).collect();
    let mut words = match is_static {
        true => vec!["(static)".to_owned()],
        false => assigned(types, &table.clustering, &values),
    };
    let rest: Vec<&Bytes> = values.iter().skip(table.clustering.len()).collect();
    if let Some((column, elements)) = rest.split_first() {
        words.push(String::from_utf8_lossy(column).into_owned());
        words.extend(elements.iter().map(|element| format!("[{}]", hex(element))));
    }
    words.join(" ")
}
