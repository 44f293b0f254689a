//! The bytes of keys, names and values.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RowError, RowOrigin};
use base::marshal::{AbstractType, BytesType, PACKAGE, TypeRef};
use base::schema::CfDef;
use db::limits::NAME_BYTES_MAX;

/// Types whose values are written as texts, if they are printable.
const PLAIN: [&str; 3] = ["AsciiType", "BytesType", "UTF8Type"];

/// Bytes of a key, name or value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a key, name or value is \"text\", {\"hex\": \"00ff\"}, or {\"typed\": \"42\"} in the form of its type"
)]
pub enum JsonBytes {
    /// The bytes of the text in UTF-8.
    Text(String),
    /// Any bytes.
    Hex(JsonHex),
    /// A text in the form of a type, such as a number.
    Typed(JsonTyped),
}

/// Bytes in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonHex {
    /// Two digits for each byte.
    pub hex: String,
}

/// A text in the form of the key's, name's or value's type, as in cassandra-cli.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonTyped {
    /// The text.
    pub typed: String,
}

impl JsonBytes {
    /// Returns a text if the bytes are printable UTF-8, else hexadecimal digits.
    pub fn of(bytes: &[u8]) -> JsonBytes {
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.chars().any(char::is_control) => JsonBytes::Text(text.to_owned()),
            _ => JsonBytes::Hex(JsonHex { hex: BytesType.to_text(bytes) }),
        }
    }

    /// Returns the text of a type that is not a text itself, if the type reads the same bytes from it. Otherwise as
    /// [`JsonBytes::of`].
    pub fn typed(bytes: &[u8], class: &TypeRef) -> JsonBytes {
        let name = class.class_name().strip_prefix(PACKAGE).unwrap_or_default();
        if bytes.is_empty() || PLAIN.contains(&name) || class.validate(bytes).is_err() {
            return JsonBytes::of(bytes);
        }
        let typed = class.to_text(bytes);
        match class.parse_text(&typed) {
            Ok(parsed) if parsed == bytes => JsonBytes::Typed(JsonTyped { typed }),
            _ => JsonBytes::of(bytes),
        }
    }

    /// Returns the bytes; typed texts without a type are UTF-8. `None` accepts any bytes. Rows that a person has written
    /// must be valid for the type.
    pub(crate) fn bytes(&self, of_type: Option<&TypeRef>, origin: RowOrigin) -> Result<Bytes, RowError> {
        let wrong = |text: &str, why: String| RowError(format!("{text:?}: {why}"));
        let (text, bytes) = match (self, of_type) {
            (JsonBytes::Hex(JsonHex { hex }), _) => (hex, BytesType.parse_text(hex)),
            (JsonBytes::Typed(JsonTyped { typed }), Some(class)) => (typed, class.parse_text(typed)),
            (JsonBytes::Text(text) | JsonBytes::Typed(JsonTyped { typed: text }), _) => {
                (text, Ok(text.clone().into_bytes()))
            }
        };
        let bytes = bytes.map_err(|error| wrong(text, error.to_string()))?;
        let checked = of_type.filter(|_| !origin.is_stored());
        if let Some(Err(error)) = checked.map(|class| class.validate(&bytes)) {
            return Err(wrong(text, error.to_string()));
        }
        Ok(bytes.into())
    }

    /// Returns the bytes of a name or key, which have a limited length. Names must be valid for their type, which sorts
    /// them.
    pub(crate) fn name(&self, of_type: Option<&TypeRef>, origin: RowOrigin) -> Result<Bytes, RowError> {
        let bytes = self.bytes(of_type, origin)?;
        let least = usize::from(!origin.is_stored());
        if bytes.len() < least || bytes.len() > NAME_BYTES_MAX {
            return Err(RowError(format!(
                "a key or name has {} bytes: it must have {least} to {NAME_BYTES_MAX}",
                bytes.len()
            )));
        }
        Ok(bytes)
    }
}

/// The form in which the bytes of a stored row are written.
#[derive(Debug, Clone, Copy)]
pub enum BytesForm<'a> {
    /// As texts and hexadecimal digits.
    Plain,
    /// In the texts of the types of a column family.
    Typed(&'a CfDef),
}

impl BytesForm<'_> {
    pub(crate) fn key(self, bytes: &[u8]) -> JsonBytes {
        match self {
            BytesForm::Typed(CfDef { key_validator: Some(class), .. }) => JsonBytes::typed(bytes, class),
            _ => JsonBytes::of(bytes),
        }
    }

    /// Writes the name of a super column, or of a column of a Standard row.
    pub(crate) fn outer_name(self, bytes: &[u8]) -> JsonBytes {
        match self {
            BytesForm::Typed(cf) => JsonBytes::typed(bytes, &cf.comparator),
            BytesForm::Plain => JsonBytes::of(bytes),
        }
    }

    /// Writes the name of a column in a super column, or in none.
    pub(crate) fn name(self, super_column: Option<&Bytes>, bytes: &[u8]) -> JsonBytes {
        match (self, super_column) {
            (BytesForm::Typed(cf), Some(_)) => {
                JsonBytes::typed(bytes, cf.subcomparator().unwrap_or(&cf.comparator))
            }
            _ => self.outer_name(bytes),
        }
    }

    /// Writes a value. The cells of a CQL table have no validators.
    pub(crate) fn value(self, name: &[u8], bytes: &[u8]) -> JsonBytes {
        match self {
            BytesForm::Typed(cf) if cf.table.is_none() => JsonBytes::typed(bytes, cf.value_validator(name)),
            _ => JsonBytes::of(bytes),
        }
    }
}
