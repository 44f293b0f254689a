//! Signed 8-byte integers.

use std::cmp::Ordering;

use super::stored::{compare_stored, push_sign_flipped};
use super::unchecked::compare_signed_first;
use super::views::views;
use super::{AbstractType, BytesType, MarshalError, StoredOrder};
use crate::util::Release;

/// Names that are big-endian `i64`s, in numeric order. The stored form has the sign bit flipped.
#[derive(Debug)]
pub struct LongType {
    since: Release,
}

views!(LongType, stored as V0_6, changed in V0_3 V0_7);

impl AbstractType for LongType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.LongType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.len() {
            0 | 8 => Ok(()),
            _ if self.since < Release::V0_7 => Err(MarshalError("A long is exactly 8 bytes".to_owned())),
            length => Err(MarshalError(format!("Expected 8 or 0 byte long ({length})"))),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match (<[u8; 8]>::try_from(left), <[u8; 8]>::try_from(right)) {
            (Ok(left), Ok(right)) => i64::from_be_bytes(left).cmp(&i64::from_be_bytes(right)),
            _ => compare_stored(self, left, right),
        }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        Ok(compare_signed_first(left, right))
    }

    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if name.len() == 8 {
            push_sign_flipped(name, out);
        } else {
            out.extend_from_slice(name);
        }
    }

    /// Flips the sign bit a second time.
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
        match <[u8; 8]>::try_from(value) {
            Ok(number) => i64::from_be_bytes(number).to_string(),
            Err(_) => BytesType.to_text(value),
        }
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let number: i64 =
            text.parse().map_err(|_| MarshalError(format!("unable to make long from '{text}'")))?;
        Ok(number.to_be_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::at;

    #[test]
    fn a_name_that_is_neither_8_bytes_long_nor_empty_is_refused() {
        let long = LongType::default();
        for release in Release::ALL {
            let view = at(&long, release);
            assert_eq!(view.validate(b""), Ok(()));
            assert_eq!(view.validate(&[0xff; 8]), Ok(()));
            let old = release < Release::V0_7;
            let text = if old { "A long is exactly 8 bytes" } else { "Expected 8 or 0 byte long (7)" };
            assert_eq!(view.validate(&[0; 7]).unwrap_err().to_string(), text, "{release}");
        }
    }

    #[test]
    fn the_empty_name_sorts_before_numbers_in_numeric_order() {
        let long = LongType::default();
        let mut names = vec![Vec::new()];
        names.extend([i64::MIN, -2, -1, 0, 1, 256, i64::MAX].map(|number| number.to_be_bytes().to_vec()));
        assert!(names.is_sorted_by(|left, right| long.compare(left, right).is_lt()));
        assert!(names.is_sorted_by(|left, right| compare_stored(&long, left, right).is_lt()));
    }

    #[test]
    fn text_is_decimal() {
        let long = LongType::default();
        assert_eq!(long.to_text(&(-5i64).to_be_bytes()), "-5");
        assert_eq!(long.to_text(b""), "");
        assert_eq!(long.to_text(b"\x01\xff"), "01ff");
        assert_eq!(long.parse_text("-5"), Ok((-5i64).to_be_bytes().to_vec()));
        assert_eq!(long.parse_text("x").unwrap_err().to_string(), "unable to make long from 'x'");
    }
}
