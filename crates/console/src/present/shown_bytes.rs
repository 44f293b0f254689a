//! Bytes on a page: the beginning of their text, and their length.

use bytes::Bytes;

use super::reading::{Reading, TextForm, blob, read_as, read_as_type};
use crate::limits::ADMIN_SHOWN_CHARS;
use base::marshal::{AbstractType, CqlType, PACKAGE, Types};

/// Bytes of at most this length are decoded. Longer ones cannot be shown completely anyway, and decoding takes time.
const DECODED_BYTES_MAX: usize = 16 * 1024;

/// A key, name or value as a page shows it. `present/macros.html` has the HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownBytes {
    /// The text, or its beginning.
    pub text: String,
    pub form: TextForm,
    pub note: String,
    /// The bytes in hex after `0x`, or their beginning.
    pub hex: String,
    /// The number of all bytes.
    pub length: usize,
    /// Whether the text is only a beginning.
    pub is_cut: bool,
    pub is_hex_cut: bool,
    /// The class of the colour of its type; empty: the colour of other text.
    pub tone: &'static str,
}

/// Returns the class of the colour of a type, by the name of its class or of CQL.
fn tone_of(name: &str) -> &'static str {
    let name = name.replace(PACKAGE, "");
    let name = name.strip_prefix("ReversedType(").and_then(|name| name.strip_suffix(')')).unwrap_or(&name);
    match name {
        // Collections, tuples and composites have values of several types.
        _ if name.contains(['(', '<']) => "",
        "UTF8Type" | "AsciiType" | "text" | "varchar" | "ascii" => "text",
        "DateType" | "TimestampType" | "SimpleDateType" | "TimeType" | "timestamp" | "date" | "time" => {
            "time"
        }
        name if name.to_ascii_lowercase().contains("uuid") => "id",
        "LongType" | "Int32Type" | "IntegerType" | "ShortType" | "ByteType" | "DoubleType" | "FloatType"
        | "DecimalType" | "BooleanType" | "CounterColumnType" | "bigint" | "int" | "varint" | "smallint"
        | "tinyint" | "double" | "float" | "decimal" | "boolean" | "counter" => "number",
        _ => "",
    }
}

impl ShownBytes {
    /// Shows bytes of a comparator or validator.
    pub(crate) fn of(types: &Types, class: &dyn AbstractType, bytes: &Bytes) -> ShownBytes {
        let shown = ShownBytes::at_most(ADMIN_SHOWN_CHARS, bytes, |bytes| read_as(types, class, bytes));
        shown.with_tone(class.class_name())
    }

    /// Shows bytes of a type of CQL.
    pub(crate) fn of_type(of: &CqlType, bytes: &Bytes) -> ShownBytes {
        let shown = ShownBytes::at_most(ADMIN_SHOWN_CHARS, bytes, |bytes| read_as_type(of, bytes));
        shown.with_tone(&of.to_string())
    }

    /// Shows at most a number of characters of bytes, which `read` decodes.
    pub(crate) fn at_most(chars: usize, bytes: &Bytes, read: impl Fn(&Bytes) -> Reading) -> ShownBytes {
        let decoded = bytes.len() <= DECODED_BYTES_MAX.max(chars);
        let reading = if decoded { read(bytes) } else { beginning(bytes, chars, read) };
        let Reading { mut text, form, note } = reading;
        let cut_at = text.char_indices().nth(chars).map(|(at, _)| at);
        if let Some(at) = cut_at {
            text.truncate(at);
        }
        let hex_bytes = bytes.len().min(chars / 2);
        ShownBytes {
            text,
            form,
            note,
            hex: blob(bytes.get(..hex_bytes).unwrap_or_default()),
            length: bytes.len(),
            is_cut: cut_at.is_some() || !decoded,
            is_hex_cut: hex_bytes < bytes.len(),
            tone: "",
        }
    }

    /// Gives a text the colour of its type. Bytes in hex are not what their type reads.
    fn with_tone(self, name: &str) -> ShownBytes {
        let tone = if self.is_hex() { "" } else { tone_of(name) };
        ShownBytes { tone, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.form == TextForm::Empty
    }

    pub(crate) fn is_hex(&self) -> bool {
        self.form == TextForm::Hex
    }
}

/// Reads the beginning of long bytes: of a text the text, of other types hex.
fn beginning(bytes: &Bytes, chars: usize, read: impl Fn(&Bytes) -> Reading) -> Reading {
    // A character has at most four bytes. The last one of the beginning may be incomplete, and is cut away.
    let start = bytes.slice(..bytes.len().min(4 * (chars + 1)));
    let reading = read(&start);
    if reading.form == TextForm::Hex {
        let text = blob(start.get(..chars.min(start.len())).unwrap_or_default());
        return Reading { text, form: TextForm::Hex, note: String::new() };
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(class: &str, bytes: Vec<u8>) -> ShownBytes {
        let types = Types::builtin();
        ShownBytes::of(&types, &*types.resolve(class).unwrap(), &bytes.into())
    }

    #[test]
    fn types_have_colours() {
        let tone = |class: &str, bytes: &[u8]| shown(class, bytes.to_vec()).tone;
        assert_eq!(tone("UTF8Type", b"a"), "text");
        assert_eq!(tone("ReversedType(LongType)", &[0; 8]), "number");
        assert_eq!(tone("DateType", &[0; 8]), "time");
        assert_eq!(tone("TimeUUIDType", b"not a UUID"), "", "it is shown in hex");
        assert_eq!(tone("BytesType", b"a"), "");
        assert_eq!(tone("CompositeType(TimeUUIDType,UTF8Type)", b""), "");
    }

    #[test]
    fn long_values_are_cut() {
        let max = ADMIN_SHOWN_CHARS;
        for (class, letter) in [("UTF8Type", "\u{1f600}"), ("BytesType", "a"), ("UTF8Type", "\u{e9}")] {
            for count in [max, max + 1, 64 * 1024] {
                let bytes = letter.repeat(count).into_bytes();
                let length = bytes.len();
                let shown = shown(class, bytes);
                assert_eq!(shown.text, letter.repeat(count.min(max)), "{class} {letter} {count}");
                assert_eq!((shown.is_cut, shown.length), (count > max, length));
                assert_eq!(shown.hex.len(), 2 + length.min(max / 2) * 2);
            }
        }
        let shown = shown("BytesType", vec![0; 100_000]);
        assert!(shown.is_cut && shown.is_hex() && shown.text.len() == max, "{shown:?}");
    }
}
