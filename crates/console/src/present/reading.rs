//! Bytes read by their type.

use bytes::Bytes;
use uuid::Uuid;

use super::escape::{escaped, lines};
use super::time::date_of_ms;
use base::marshal::{
    AbstractType, CqlType, Native, STATIC_PREFIX, Types, ValueKind, components, composite_parts, unreversed,
};
use base::util::hex;
use cql::values::to_cql_text;

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// There are no bytes.
    Empty,
    /// A text, or a value in the text form of its type.
    Typed,
    /// Bytes without a type, all of which can be printed.
    Printable,
    /// Bytes in hex, after `0x`.
    Hex,
}

/// Bytes as people read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    pub text: String,
    pub form: TextForm,
    /// The date of a time UUID, or why the type does not accept the bytes; empty if there is nothing to say.
    pub note: String,
}

impl Reading {
    fn typed(text: String) -> Reading {
        Reading { text, form: TextForm::Typed, note: String::new() }
    }

    fn hex(bytes: &[u8], note: &str) -> Reading {
        Reading { text: blob(bytes), form: TextForm::Hex, note: note.to_owned() }
    }
}

/// Returns bytes in hex, after `0x`.
pub(super) fn blob(bytes: &[u8]) -> String {
    format!("0x{}", hex(bytes))
}

/// Reads bytes by a comparator or validator.
pub(crate) fn read_as(types: &Types, class: &dyn AbstractType, bytes: &Bytes) -> Reading {
    let (name, _) = unreversed(class.class_name());
    if bytes.is_empty() {
        return Reading { text: String::new(), form: TextForm::Empty, note: String::new() };
    }
    match composite_parts(name) {
        Some(parts) => composite(types, &parts, bytes).unwrap_or_else(|| not_valid(name, bytes)),
        None => match CqlType::of_class(name) {
            CqlType::Custom(_) => by_class(class, bytes),
            of => read_as_type(&of, bytes),
        },
    }
}

/// Reads bytes by a type of CQL. Collections have 32-bit lengths.
pub(crate) fn read_as_type(of: &CqlType, bytes: &Bytes) -> Reading {
    match of {
        _ if bytes.is_empty() => Reading { text: String::new(), form: TextForm::Empty, note: String::new() },
        CqlType::Native(native) => by_native(*native, bytes),
        CqlType::Custom(class) => by_class(&**class, bytes),
        of => match to_cql_text(of, bytes) {
            text if text.starts_with("0x") => not_valid(&of.to_string(), bytes),
            text => Reading::typed(escaped(text.as_bytes())),
        },
    }
}

fn not_valid(name: &str, bytes: &[u8]) -> Reading {
    let name = name.rsplit('.').next().filter(|_| !name.contains('(')).unwrap_or(name);
    Reading::hex(bytes, &format!("not a valid {name}"))
}

/// Reads bytes by the text form of their class.
fn by_class(class: &dyn AbstractType, bytes: &[u8]) -> Reading {
    if class.validate(bytes).is_err() {
        return not_valid(class.class_name(), bytes);
    }
    let mut reading = Reading::typed(escaped(class.to_text(bytes).as_bytes()));
    reading.note = uuid_date(bytes).filter(|_| class.class_name().ends_with("UUIDType")).unwrap_or_default();
    reading
}

fn by_native(native: Native, bytes: &Bytes) -> Reading {
    match native.kind() {
        ValueKind::Text => Reading::typed(lines(bytes).unwrap_or_else(|| escaped(bytes))),
        ValueKind::Blob => match lines(bytes).filter(|_| !bytes.starts_with(b"0x")) {
            Some(text) => Reading { text, form: TextForm::Printable, note: String::new() },
            None => Reading::hex(bytes, ""),
        },
        ValueKind::Counter => match <[u8; 8]>::try_from(&bytes[..]) {
            Ok(count) => Reading::typed(i64::from_be_bytes(count).to_string()),
            Err(_) => not_valid("counter", bytes),
        },
        // Their comparators print bytes.
        ValueKind::Integer { bytes: 1 | 2 } => match bytes[..] {
            [byte] => Reading::typed(byte.cast_signed().to_string()),
            [high, low] => Reading::typed(i16::from_be_bytes([high, low]).to_string()),
            _ => not_valid(native.name(), bytes),
        },
        _ => {
            let class = CqlType::Native(native).type_ref(&Types::builtin());
            let mut reading = by_class(&*class, bytes);
            if native.kind() == ValueKind::Timestamp
                && let Ok(ms) = <[u8; 8]>::try_from(&bytes[..])
                && reading.form == TextForm::Typed
            {
                let ms = i64::from_be_bytes(ms);
                reading.text = date_of_ms(ms).unwrap_or_else(|| format!("{ms} ms since 1970"));
            }
            reading
        }
    }
}

/// Reads a composite name, component by component, with colons between them; a colon in a component has a backslash.
/// `None` if the bytes are not a composite of these types.
fn composite(types: &Types, classes: &[&str], bytes: &Bytes) -> Option<Reading> {
    let is_static = bytes.starts_with(&STATIC_PREFIX);
    let parts = components(bytes.strip_prefix(&STATIC_PREFIX).unwrap_or(bytes))?;
    if parts.len() > classes.len() {
        return None;
    }
    let (mut texts, mut notes) = (Vec::new(), Vec::new());
    if is_static {
        notes.push("static".to_owned());
    }
    let mut previous: &[u8] = &[];
    for (class, part) in classes.iter().zip(parts) {
        let class = types.resolve(class)?;
        let class = class.after(previous).unwrap_or(&class);
        let reading = read_as(types, &**class, &bytes.slice_ref(part));
        texts.push(reading.text.replace(':', "\\:"));
        notes.extend(Some(reading.note).filter(|note| !note.is_empty()));
        previous = part;
    }
    Some(Reading { text: texts.join(":"), form: TextForm::Typed, note: notes.join(", ") })
}

/// Returns the date of a time UUID.
fn uuid_date(bytes: &[u8]) -> Option<String> {
    let uuid = Uuid::from_slice(bytes).ok().filter(|uuid| uuid.get_version_num() == 1)?;
    let (seconds, nanos) = uuid.get_timestamp()?.to_unix();
    date_of_ms(i64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(i64::from(nanos / 1_000_000))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(class: &str, bytes: &[u8]) -> (String, TextForm, String) {
        let types = Types::builtin();
        let class = types.resolve(class).unwrap_or_else(|| panic!("no type {class}"));
        let Reading { text, form, note } = read_as(&types, &*class, &Bytes::copy_from_slice(bytes));
        (text, form, note)
    }

    #[test]
    fn values_are_read_by_their_type() {
        let of = |class: &str, bytes: &[u8]| read(class, bytes).0;
        assert_eq!(of("UTF8Type", "\u{e9}\n".as_bytes()), "\u{e9}\n");
        assert_eq!(of("UTF8Type", b"a\nb\0"), "a\\nb\\0");
        assert_eq!(of("UTF8Type", b"\xff"), "\\xff");
        assert_eq!(of("LongType", &7i64.to_be_bytes()), "7");
        assert_eq!(of("ShortType", &[0xFF, 0xFE]), "-2");
        assert_eq!(of("ReversedType(Int32Type)", &[0, 0, 0, 9]), "9");
        assert_eq!(of("DateType", &1_250_558_130_123i64.to_be_bytes()), "2009-08-18 01:15:30.123Z");
        assert_eq!(of("ListType(Int32Type)", &[0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5]), "[5]");
        assert_eq!(read("BytesType", b"title"), ("title".to_owned(), TextForm::Printable, String::new()));
        let post = ("Hello,\n\nworld\\r\n\\\\n".to_owned(), TextForm::Printable, String::new());
        assert_eq!(read("BytesType", b"Hello,\n\nworld\r\n\\n"), post);
        assert_eq!(read("BytesType", b"\n"), ("0x0a".to_owned(), TextForm::Hex, String::new()));
        assert_eq!(read("BytesType", b"0x00"), ("0x30783030".to_owned(), TextForm::Hex, String::new()));
        assert_eq!(read("BytesType", b"a\0"), ("0x6100".to_owned(), TextForm::Hex, String::new()));
        assert_eq!(read("LongType", b"").1, TextForm::Empty);
        let wrong = ("0x616263".to_owned(), TextForm::Hex, "not a valid LongType".to_owned());
        assert_eq!(read("LongType", b"abc"), wrong);
    }

    #[test]
    fn time_uuids_have_their_date() {
        let bytes = *Uuid::parse_str("2d1b8a00-8b95-11de-8a39-0800200c9a66").unwrap().as_bytes();
        for class in ["TimeUUIDType", "UUIDType", "LexicalUUIDType"] {
            let (text, _, note) = read(class, &bytes);
            assert_eq!(text, "2d1b8a00-8b95-11de-8a39-0800200c9a66");
            assert!(note.starts_with("2009-08-18 "), "{class}: {note}");
        }
        let random = *Uuid::parse_str("2d1b8a00-8b95-41de-8a39-0800200c9a66").unwrap().as_bytes();
        assert_eq!(read("UUIDType", &random).2, "");
    }

    #[test]
    fn composites_are_read_by_component() {
        let class = "CompositeType(UTF8Type,Int32Type,BytesType)";
        assert_eq!(read(class, b"\0\x03a:b\0\0\x04\0\0\0\x05\0\0\x01\xff\0").0, "a\\:b:5:0xff");
        assert_eq!(
            read(class, b"\xff\xff\0\0\0\0\0\0\0\x01t\0"),
            ("::t".to_owned(), TextForm::Typed, "static".to_owned())
        );
        assert_eq!(read(class, b"\0\x09a").1, TextForm::Hex);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            for row in base::marshal::NATIVES {
                for class in [row.class.to_owned(), format!("CompositeType({},UTF8Type)", row.class), format!("SetType({})", row.class)] {
                    let (text, form, _) = read(&class, &bytes);
                    prop_assert!(text.is_empty() == (form == TextForm::Empty) || form == TextForm::Typed);
                    prop_assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'));
                }
            }
        }
    }
}
