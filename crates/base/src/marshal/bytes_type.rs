//! Any bytes, ordered as unsigned bytes.

use std::cmp::Ordering;

use super::{AbstractType, MarshalError, StoredOrder};
use crate::util::{hex, unhex};

/// Names that are plain bytes. Every name is valid, and a prefix sorts before longer names that begin with it.
#[derive(Debug)]
pub struct BytesType;

impl AbstractType for BytesType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.BytesType"
    }

    fn validate(&self, _value: &[u8]) -> Result<(), MarshalError> {
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    fn ordered_is_name(&self) -> bool {
        true
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        hex(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        unhex(text.as_bytes()).ok_or_else(|| MarshalError(format!("cannot parse '{text}' as hex bytes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_valid_and_sort_as_unsigned() {
        let names: [&[u8]; 6] = [b"", b"\x00", b"\x00\x00", b"\x7f", b"\x80", b"\xff"];
        assert!(names.is_sorted_by(|left, right| BytesType.compare(left, right).is_lt()));
        assert!(names.iter().all(|name| BytesType.validate(name).is_ok()));
    }

    #[test]
    fn text_is_hex() {
        assert_eq!(BytesType.to_text(b"\x00k\xff"), "006bff");
        assert_eq!(BytesType.parse_text("006BFF"), Ok(b"\x00k\xff".to_vec()));
        assert_eq!(BytesType.parse_text(""), Ok(Vec::new()));
        for bad in ["0", "xy", "+1", "é"] {
            let error = BytesType.parse_text(bad).unwrap_err();
            assert_eq!(error.to_string(), format!("cannot parse '{bad}' as hex bytes"));
        }
    }
}
