//! Version numbers as column names: `1.10` comes after `1.9`.

use std::cmp::Ordering;

use thriftstore::marshal::{AbstractType, MarshalError, StoredOrder};

/// The comparator of version numbers: decimal numbers separated by dots, compared number by number; `1` sorts before
/// `1.0`.
#[derive(Debug)]
pub struct VersionType;

/// Returns the numbers of a name that `validate` accepts.
fn numbers(name: &[u8]) -> impl Iterator<Item = u32> {
    let parts = name.split(|byte| *byte == b'.').filter(|part| !part.is_empty());
    parts.map(|part| str::from_utf8(part).ok().and_then(|part| part.parse().ok()).unwrap_or(u32::MAX))
}

impl AbstractType for VersionType {
    fn class_name(&self) -> &str {
        "com.example.marshal.VersionType"
    }

    /// Names that compare equal are one column, so each version must have one spelling: `1.02` is refused.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        if value.is_empty() {
            // An empty name is an open end of a slice. Columns with an empty name are refused elsewhere.
            return Ok(());
        }
        let is_number = |part: &[u8]| {
            let is_plain = part == b"0" || part.first().is_some_and(|digit| (b'1'..=b'9').contains(digit));
            is_plain && str::from_utf8(part).is_ok_and(|part| part.parse::<u32>().is_ok())
        };
        if value.split(|byte| *byte == b'.').all(is_number) {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(value);
        Err(MarshalError(format!("'{shown}' is not a version: numbers separated by dots, as in 1.10.2")))
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        numbers(left).cmp(numbers(right))
    }

    // Every comparator needs the methods above and the text forms below. The methods in between are optional: with them
    // names are stored in this order and a slice only reads what it returns; without them each read sorts the row in
    // memory.

    /// Appends each number as four big-endian bytes, which sort like the numbers.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        numbers(name).for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let (numbers, rest) = ordered.as_chunks::<4>();
        let texts: Vec<String> =
            numbers.iter().map(|number| u32::from_be_bytes(*number).to_string()).collect();
        rest.is_empty().then(|| texts.join(".").into_bytes())
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        String::from_utf8_lossy(value).into_owned()
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        self.validate(text.as_bytes()).map(|()| text.as_bytes().to_vec())
    }
}
