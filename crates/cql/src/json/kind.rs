//! The kinds of JSON values, decided by their first character.

use serde_json::value::RawValue;

/// A JSON value whose parts have not been parsed yet. Numbers are kept as text, so none is too large.
#[derive(Debug)]
pub(super) enum Kind<'j> {
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

impl<'j> Kind<'j> {
    pub fn of(json: &'j RawValue) -> Kind<'j> {
        let text = json.get();
        match text.as_bytes().first() {
            Some(b'"') => Kind::String(serde_json::from_str(text).unwrap_or_default()),
            Some(b'[') => Kind::List(json),
            Some(b'{') => Kind::Object(json),
            Some(b't') => Kind::Boolean(true),
            Some(b'f') => Kind::Boolean(false),
            Some(b'n') | None => Kind::Null,
            Some(_) if text.contains(['.', 'e', 'E']) => Kind::Fraction(text),
            Some(_) => Kind::Integer(text),
        }
    }

    /// Returns the name of the Java class, which messages contain.
    fn class(&self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Boolean(_) => "Boolean",
            Kind::Integer(text) if text.parse::<i32>().is_ok() => "Integer",
            Kind::Integer(text) if text.parse::<i64>().is_ok() => "Long",
            Kind::Integer(_) => "BigInteger",
            Kind::Fraction(_) => "Double",
            Kind::String(_) => "String",
            Kind::List(_) => "ArrayList",
            Kind::Object(_) => "LinkedHashMap",
        }
    }

    /// Returns a constant as text, and lists and objects as they were written.
    pub fn text(&self) -> &str {
        match self {
            Kind::Null => "null",
            Kind::Boolean(true) => "true",
            Kind::Boolean(false) => "false",
            Kind::Integer(text) | Kind::Fraction(text) => text,
            Kind::String(text) => text,
            Kind::List(json) | Kind::Object(json) => json.get(),
        }
    }

    /// Returns the message that another kind was expected.
    pub fn unexpected(&self, expected: &str) -> String {
        format!("Expected {expected}, but got a {}: {}", self.class(), self.text())
    }
}
