//! US-ASCII text, ordered as unsigned bytes.

use std::cmp::Ordering;

use super::views::views;
use super::{AbstractType, MarshalError, StoredOrder};
use crate::util::Release;

/// Names that are ASCII text. Releases 0.4 to 0.6 accept any bytes; 0.7 and later refuse bytes above 0x7f.
#[derive(Debug)]
pub struct AsciiType {
    since: Release,
}

views!(AsciiType, stored as V0_6, changed in V0_3 V0_7);

/// Refuses bytes above 0x7f with the message of 0.7, which prints them as Java's signed bytes.
fn check(value: &[u8]) -> Result<(), MarshalError> {
    match value.iter().find(|byte| !byte.is_ascii()) {
        Some(byte) => Err(MarshalError(format!("Invalid byte for ascii: {}", *byte as i8))),
        None => Ok(()),
    }
}

impl AbstractType for AsciiType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.AsciiType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        if self.since < Release::V0_7 { Ok(()) } else { check(value) }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        Ok(left.cmp(right))
    }

    fn ordered_is_name(&self) -> bool {
        true
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        VIEWS.iter().rfind(|view| view.since <= release).map(|view| view as &dyn AbstractType)
    }

    /// Shows bytes above 0x7f as U+FFFD, as Java decodes them.
    fn to_text(&self, value: &[u8]) -> String {
        let mut text = String::with_capacity(value.len());
        for byte in value {
            text.push(if byte.is_ascii() { char::from(*byte) } else { char::REPLACEMENT_CHARACTER });
        }
        text
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        check(text.as_bytes())?;
        Ok(text.as_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::at;

    #[test]
    fn only_0_7_and_later_refuse_bytes_above_7f() {
        let ascii = AsciiType::default();
        for release in Release::ALL {
            let view = at(&ascii, release);
            assert_eq!(view.validate(b"\x00a\x7f"), Ok(()));
            let refused = view.validate(b"a\x80\xff").map_err(|error| error.to_string());
            if release < Release::V0_7 {
                assert_eq!(refused, Ok(()));
            } else {
                assert_eq!(refused, Err("Invalid byte for ascii: -128".to_owned()));
            }
        }
        assert_eq!(ascii.validate(b"\xff"), Ok(()));
    }

    #[test]
    fn names_sort_by_unsigned_bytes() {
        let ascii = AsciiType::default();
        let names: [&[u8]; 6] = [b"", b"A", b"Z", b"a", b"aa", b"\x80"];
        assert!(names.is_sorted_by(|left, right| ascii.compare(left, right).is_lt()));
    }

    #[test]
    fn invalid_bytes_are_shown_as_replacement_characters_and_refused_in_text() {
        let ascii = AsciiType::default();
        assert_eq!(ascii.to_text(b"a\xc3b"), "a\u{fffd}b");
        assert_eq!(ascii.parse_text("ab"), Ok(b"ab".to_vec()));
        assert_eq!(ascii.parse_text("é").unwrap_err().to_string(), "Invalid byte for ascii: -61");
    }
}
