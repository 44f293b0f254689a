//! CollatingOrderPreservingPartitioner: rows in the alphabetical order of US English.

use super::collation::push_collation_key;
use super::{Partitioner, TokenForm};

/// The token is the key's collation key in US English, regardless of the machine's language: the order is `a, A, b, B`
/// and not `A, B, a, b`. Different keys may have the same token, since control characters are ignored.
///
/// Cassandra used the collator of its JDK; the module `collation` describes the differences. Invalid UTF-8 in a key is
/// treated as U+FFFD.
#[derive(Debug)]
pub struct CollatingOrderPreservingPartitioner;

impl Partitioner for CollatingOrderPreservingPartitioner {
    fn class_name(&self) -> &'static str {
        "org.apache.cassandra.dht.CollatingOrderPreservingPartitioner"
    }

    fn token(&self, key: &[u8], out: &mut Vec<u8>) {
        push_collation_key(&String::from_utf8_lossy(key), out);
    }

    fn token_form(&self) -> TokenForm {
        TokenForm::Variable
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
    fn text_is_the_hex_of_the_collation_key() {
        let mut token = Vec::new();
        CollatingOrderPreservingPartitioner.token(b"Z", &mut token);
        assert_eq!(CollatingOrderPreservingPartitioner.token_text(&token), "006d0000000100000002");
        let parsed = CollatingOrderPreservingPartitioner.parse_token("006d0000000100000002");
        assert_eq!(parsed, Ok(token));
        assert!(CollatingOrderPreservingPartitioner.parse_token("Z").is_err());
    }

    #[test]
    fn keys_that_are_not_utf_8_have_a_token() {
        let mut token = Vec::new();
        CollatingOrderPreservingPartitioner.token(b"a\xff", &mut token);
        assert!(token.starts_with(b"\x00\x53\x80\x00\xff\xfe"));
    }
}
