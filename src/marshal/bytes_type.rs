//! Any bytes, ordered as unsigned bytes.

use std::cmp::Ordering;

use super::{AbstractType, MarshalError, StoredOrder};

/// Names that are just bytes: every name is valid, a prefix sorts before what it begins.
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
        value.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        let bad = || MarshalError(format!("cannot parse '{text}' as hex bytes"));
        if !text.len().is_multiple_of(2) || !text.is_ascii() {
            return Err(bad());
        }
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| bad()))
            .collect()
    }
}
