//! CQL statements, for cqlsh.

use std::borrow::Cow;

use crate::report::reproduction::CqlValue;
use base::util::hex;
use cql_syntax::{TokenKind, tokens_of_any};

/// Returns a statement with its values in place of `?`, on lines of its own. Bytes whose type is not known are written
/// as they are, with a comment: the server refuses them where the type is not blob.
pub(super) fn statement(text: &str, values: &[CqlValue]) -> String {
    let mut out = String::new();
    if values.iter().any(|value| matches!(value, CqlValue::Bytes(_))) {
        out += "-- The types of the values are not known: convert the blobs, for example with blobAsInt(0x...).\n";
    }
    let mut values = values.iter();
    for token in tokens_of_any(text) {
        let raw = token.raw(text);
        let value = if token.kind == TokenKind::Symbol && raw == "?" { values.next() } else { None };
        out += &value.map_or(Cow::Borrowed(raw), |value| Cow::Owned(literal(value)));
    }
    // Values of named markers, which have no place of their own.
    for value in values {
        out += &format!(" -- value: {}", literal(value));
    }
    let end = if out.trim_end().ends_with(';') { "\n" } else { ";\n" };
    out + end
}

fn literal(value: &CqlValue) -> String {
    match value {
        CqlValue::Null => "NULL".to_owned(),
        CqlValue::Unset => "/* unset */ NULL".to_owned(),
        CqlValue::Bytes(bytes) => format!("0x{}", hex(bytes)),
        CqlValue::Literal(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_place_of_markers() {
        let values = [CqlValue::Literal("'ada'".to_owned()), CqlValue::Null];
        assert_eq!(
            statement("UPDATE t SET a = ?, b = 'what?''?' WHERE k = ?", &values),
            "UPDATE t SET a = 'ada', b = 'what?''?' WHERE k = NULL;\n"
        );
        let bytes = [CqlValue::Bytes(vec![0, 255].into())];
        assert!(statement("SELECT * FROM t WHERE k = ?;", &bytes).ends_with("WHERE k = 0x00ff;\n"));
        assert_eq!(statement("SELECT ?", &[]), "SELECT ?;\n");
    }
}
