//! Integers of any length.

use std::cmp::Ordering;

use super::big_number::{digits_of, of_digits};
use super::{AbstractType, BytesType, MarshalError, StoredOrder};
use crate::util::limits::DECIMAL_BYTES_MAX;

/// Names that are integers of any length in two's complement, big-endian. Leading bytes that only repeat the sign are
/// ignored: 00 and 0000 are the same name.
#[derive(Debug)]
pub struct IntegerType;

/// Returns a number without the leading bytes that only repeat its sign.
pub(super) fn shortest(mut number: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = number
        && let Some(second) = rest.first()
        && (*first == 0 && *second < 0x80 || *first == 0xFF && *second >= 0x80)
    {
        number = rest;
    }
    number
}

fn is_negative(number: &[u8]) -> bool {
    number.first().is_some_and(|first| *first >= 0x80)
}

impl AbstractType for IntegerType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.IntegerType"
    }

    fn validate(&self, _value: &[u8]) -> Result<(), MarshalError> {
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if left.is_empty() || right.is_empty() {
            return left.is_empty().cmp(&right.is_empty()).reverse();
        }
        let (left, right) = (shortest(left), shortest(right));
        match (is_negative(left), is_negative(right)) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
            (true, true) => right.len().cmp(&left.len()).then_with(|| left.cmp(right)),
        }
    }

    /// Appends sign, length (inverted for negative numbers) and number.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if name.is_empty() {
            return;
        }
        let number = shortest(name);
        let length = u32::try_from(number.len()).unwrap_or(u32::MAX);
        out.push(u8::from(!is_negative(number)));
        out.extend_from_slice(&if is_negative(number) { !length } else { length }.to_be_bytes());
        out.extend_from_slice(number);
    }

    /// Returns the shortest form. The store keeps a longer form beside it.
    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        if ordered.is_empty() { Some(Vec::new()) } else { ordered.get(5..).map(<[u8]>::to_vec) }
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        if value.is_empty() {
            return String::new();
        }
        if value.len() > DECIMAL_BYTES_MAX {
            return BytesType.to_text(value);
        }
        let (is_negative, digits) = digits_of(value);
        if digits.is_empty() {
            return "0".to_owned();
        }
        let sign = if is_negative { "-" } else { "" };
        sign.chars().chain(digits.iter().map(|digit| char::from(b'0' + digit))).collect()
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let is_number = !digits.is_empty()
            && digits.len() <= DECIMAL_BYTES_MAX
            && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number {
            return Err(MarshalError(format!("unable to make int from '{text}'")));
        }
        Ok(of_digits(is_negative, digits.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_numeric_and_repeated_sign_bytes_are_ignored() {
        let names: [&[u8]; 8] =
            [b"", b"\xff\x00\x00", b"\xff\x7f", b"\x80", b"\xff", b"\x00", b"\x7f", b"\x00\x80"];
        assert!(names.is_sorted_by(|a, b| IntegerType.compare(a, b).is_lt()));
        assert!(IntegerType.compare(b"\x00", b"\x00\x00").is_eq());
        assert!(IntegerType.compare(b"\xff\xff\x80", b"\x80").is_eq());
    }

    #[test]
    fn text_is_decimal() {
        assert_eq!(IntegerType.to_text(b"\xff\x7f"), "-129");
        assert_eq!(IntegerType.parse_text("-129"), Ok(b"\xff\x7f".to_vec()));
        let long = "-123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(IntegerType.to_text(&IntegerType.parse_text(long).unwrap()), long);
        assert_eq!(IntegerType.parse_text("x").unwrap_err().0, "unable to make int from 'x'");
    }
}
