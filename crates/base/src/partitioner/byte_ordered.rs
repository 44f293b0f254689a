//! ByteOrderedPartitioner: rows in the order of their keys' bytes.

use super::{Partitioner, TokenForm};

/// The token is the key, in the order of unsigned bytes. Since Cassandra 0.7.
#[derive(Debug)]
pub struct ByteOrderedPartitioner;

impl Partitioner for ByteOrderedPartitioner {
    fn class_name(&self) -> &'static str {
        "org.apache.cassandra.dht.ByteOrderedPartitioner"
    }

    fn token(&self, key: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(key);
    }

    fn token_form(&self) -> TokenForm {
        TokenForm::IsKey
    }

    fn key_of_token(&self, token: &[u8]) -> Option<Vec<u8>> {
        Some(token.to_vec())
    }

    fn preserves_order(&self) -> bool {
        true
    }

    fn has_hex_tokens(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_hex() {
        assert_eq!(ByteOrderedPartitioner.token_text(b"\x00k\xff"), "006bff");
        assert_eq!(ByteOrderedPartitioner.parse_token("006BFF").unwrap(), b"\x00k\xff");
        assert_eq!(ByteOrderedPartitioner.parse_token("").unwrap(), b"");
        assert_eq!(ByteOrderedPartitioner.parse_token("bff").unwrap(), b"\x0b\xff");
        for bad in ["x", "xy", "+1", "é"] {
            assert!(ByteOrderedPartitioner.parse_token(bad).is_err(), "{bad}");
        }
    }
}
