//! Values as short texts, for reports.

use std::fmt::Write as _;

use bytes::Bytes;

use super::super::value::{Value, plain_text};
use crate::limits::REPORT_TEXT_CHARS_MAX;
use base::util::hex;

/// Returns a value as text: `[{1: "a", 3: 5}]`. Long values are cut.
pub(crate) fn shown(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Returns bytes as text in quotes, or in hex.
pub(super) fn shown_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    write_bytes(bytes, &mut out);
    out
}

/// Returns a value of a native result.
pub(super) fn shown_cell(cell: Option<&Bytes>) -> String {
    cell.map_or_else(|| "null".to_owned(), |bytes| shown_bytes(bytes))
}

fn write_bytes(bytes: &[u8], out: &mut String) {
    let shown = bytes.get(..REPORT_TEXT_CHARS_MAX).unwrap_or(bytes);
    match plain_text(bytes).filter(|text| !text.is_empty() || bytes.is_empty()) {
        Some(text) => {
            let cut: String = text.chars().take(REPORT_TEXT_CHARS_MAX).collect();
            let _ = write!(out, "{cut:?}");
        }
        None => {
            out.push_str("0x");
            out.push_str(&hex(shown));
        }
    }
}

fn write(value: &Value, out: &mut String) {
    if out.len() > REPORT_TEXT_CHARS_MAX {
        return;
    }
    match value {
        Value::Bool(value) => *out += if *value { "true" } else { "false" },
        Value::Byte(value) => *out += &value.to_string(),
        Value::I16(value) => *out += &value.to_string(),
        Value::I32(value) => *out += &value.to_string(),
        Value::I64(value) => *out += &value.to_string(),
        Value::Double(value) => *out += &value.to_string(),
        Value::Binary(bytes) => write_bytes(bytes, out),
        Value::Struct(fields) => write_list('{', fields.iter(), '}', out, |(id, value), out| {
            *out += &format!("{id}: ");
            write(value, out);
        }),
        Value::List(_, items) => write_list('[', items.iter(), ']', out, write),
        Value::Set(_, items) => write_list('{', items.iter(), '}', out, write),
        Value::Map(_, _, pairs) => write_list('{', pairs.iter(), '}', out, |(key, value), out| {
            write(key, out);
            *out += ": ";
            write(value, out);
        }),
    }
}

fn write_list<T>(
    open: char,
    items: impl Iterator<Item = T>,
    close: char,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            *out += ", ";
        }
        if out.len() > REPORT_TEXT_CHARS_MAX {
            out.push('…');
            break;
        }
        write(item, out);
    }
    out.push(close);
}
