//! UUIDs of any version, in the order of `java.util.UUID`.

use std::cmp::Ordering;

use super::stored::{compare_stored, push_sign_flipped};
use super::unchecked::empty_first;
use super::uuid_text::{parse_uuid_text, uuid_to_text};
use super::views::views;
use super::{AbstractType, MarshalError, StoredOrder};
use crate::util::Release;

/// UUIDs that are compared as two signed 8-byte numbers, as `java.util.UUID.compareTo` does. Despite the type's name
/// the order is not lexical: 80.. is the smallest first byte and 7f.. the largest. The stored form has both sign bits
/// flipped.
#[derive(Debug)]
pub struct LexicalUUIDType {
    since: Release,
}

views!(LexicalUUIDType, stored as V0_6, changed in V0_3 V0_7 V2_0);

/// Returns the two numbers that Java compares; `None` if the name is not 16 bytes long.
fn halves(name: &[u8]) -> Option<(i64, i64)> {
    let bits = u128::from_be_bytes(name.try_into().ok()?);
    Some(((bits >> 64) as i64, bits as i64))
}

impl LexicalUUIDType {
    fn length_error(&self, length: usize) -> MarshalError {
        MarshalError(match self.since {
            since if since < Release::V0_7 => "UUIDs must be exactly 16 bytes".to_owned(),
            since if since < Release::V2_0 => format!("LexicalUUID should be 16 or 0 bytes ({length})"),
            _ => format!("UUID should be 16 or 0 bytes ({length})"),
        })
    }

    /// Returns the two numbers of the UUID in the first 16 bytes; further bytes are ignored.
    fn leading_halves(&self, value: &[u8]) -> Result<(i64, i64), MarshalError> {
        value.get(..16).and_then(halves).ok_or_else(|| self.length_error(value.len()))
    }
}

impl AbstractType for LexicalUUIDType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.LexicalUUIDType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.len() {
            0 | 16 => Ok(()),
            length => Err(self.length_error(length)),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match (halves(left), halves(right)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => compare_stored(self, left, right),
        }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        match empty_first(left, right) {
            Some(order) => Ok(order),
            None => Ok(self.leading_halves(left)?.cmp(&self.leading_halves(right)?)),
        }
    }

    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if name.len() == 16 {
            push_sign_flipped(name, out);
        } else {
            out.extend_from_slice(name);
        }
    }

    /// Flips the sign bits a second time.
    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let mut name = Vec::with_capacity(ordered.len());
        self.ordered(ordered, &mut name);
        Some(name)
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        VIEWS.iter().rfind(|view| view.since <= release).map(|view| view as &dyn AbstractType)
    }

    fn to_text(&self, value: &[u8]) -> String {
        uuid_to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        parse_uuid_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::at;

    #[test]
    fn a_name_that_is_neither_16_bytes_long_nor_empty_is_refused() {
        let lexical = LexicalUUIDType::default();
        let text = |release| at(&lexical, release).validate(b"x").unwrap_err().to_string();
        assert_eq!(text(Release::V0_4), "UUIDs must be exactly 16 bytes");
        assert_eq!(text(Release::V0_6), "UUIDs must be exactly 16 bytes");
        assert_eq!(text(Release::V0_7), "LexicalUUID should be 16 or 0 bytes (1)");
        assert_eq!(text(Release::V1_2), "LexicalUUID should be 16 or 0 bytes (1)");
        assert_eq!(text(Release::V2_1), "UUID should be 16 or 0 bytes (1)");
        for release in Release::ALL {
            assert_eq!(at(&lexical, release).validate(b""), Ok(()));
            assert_eq!(at(&lexical, release).validate(&[0xff; 16]), Ok(()));
        }
    }

    #[test]
    fn both_halves_compare_as_signed_numbers() {
        let lexical = LexicalUUIDType::default();
        let mut names = vec![Vec::new()];
        for first in [0x80, 0xff, 0x00, 0x7f] {
            for ninth in [0x80, 0xff, 0x00, 0x7f] {
                let mut name = vec![0; 16];
                name[0] = first;
                name[8] = ninth;
                names.push(name);
            }
        }
        assert!(names.is_sorted_by(|left, right| lexical.compare(left, right).is_lt()));
        assert!(names.is_sorted_by(|left, right| compare_stored(&lexical, left, right).is_lt()));
    }

    #[test]
    fn only_canonical_text_is_parsed() {
        let lexical = LexicalUUIDType::default();
        let text = "00000000-0001-1000-8000-0000000000ff";
        let name = lexical.parse_text(text).unwrap();
        assert_eq!(name[6..], [0x10, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xff]);
        assert_eq!(lexical.to_text(&name), text);
        assert_eq!(lexical.to_text(b""), "");
        for bad in ["x", "00000000000110008000000000000001", "{00000000-0001-1000-8000-0000000000ff}"] {
            let error = lexical.parse_text(bad).unwrap_err();
            assert_eq!(error.to_string(), format!("unable to make UUID from '{bad}'"));
        }
    }
}
