//! The kinds of JSON values, decided by their first character.

use serde_json::value::RawValue;

/// A JSON value whose parts have not been parsed yet. Numbers are kept as text, so none is too large.
#[derive(Debug)]
pub(super) enum JsonKind<'j> {
    Null,
    Boolean(bool),
    /// Digits with an optional sign.
    Integer(&'j str),
    /// A number with a point or an exponent.
    Fraction(&'j str),
    String(String),
    List(&'j RawValue),
    Object(&'j RawValue),
}

impl<'j> JsonKind<'j> {
    pub(super) fn of(json: &'j RawValue) -> JsonKind<'j> {
        let text = json.get();
        match text.as_bytes().first() {
            Some(b'"') => JsonKind::String(serde_json::from_str(text).unwrap_or_default()),
            Some(b'[') => JsonKind::List(json),
            Some(b'{') => JsonKind::Object(json),
            Some(b't') => JsonKind::Boolean(true),
            Some(b'f') => JsonKind::Boolean(false),
            Some(b'n') | None => JsonKind::Null,
            Some(_) if text.contains(['.', 'e', 'E']) => JsonKind::Fraction(text),
            Some(_) => JsonKind::Integer(text),
        }
    }

    /// Returns the name of the Java class, which messages contain.
    fn class(&self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Boolean(_) => "Boolean",
            JsonKind::Integer(text) if text.parse::<i32>().is_ok() => "Integer",
            JsonKind::Integer(text) if text.parse::<i64>().is_ok() => "Long",
            JsonKind::Integer(_) => "BigInteger",
            JsonKind::Fraction(_) => "Double",
            JsonKind::String(_) => "String",
            JsonKind::List(_) => "ArrayList",
            JsonKind::Object(_) => "LinkedHashMap",
        }
    }

    /// Returns a constant as text, and lists and objects as they were written.
    pub(super) fn text(&self) -> &str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Boolean(true) => "true",
            JsonKind::Boolean(false) => "false",
            JsonKind::Integer(text) | JsonKind::Fraction(text) => text,
            JsonKind::String(text) => text,
            JsonKind::List(json) | JsonKind::Object(json) => json.get(),
        }
    }

    /// Returns the message that another kind was expected.
    pub(super) fn unexpected(&self, expected: &str) -> String {
        format!("Expected {expected}, but got a {}: {}", self.class(), self.text())
    }
}
