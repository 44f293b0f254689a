//! OrderPreservingPartitioner: rows in the order of their keys' text.

use super::{Partitioner, TokenError, TokenForm};

/// The token is the key, in the order of Java strings: by UTF-16 code units.
///
/// That is the order of the UTF-8 bytes with one exception: characters above U+FFFF, whose four bytes begin with F0 to
/// F4, are surrogate pairs in UTF-16 and sort before U+E000 to U+FFFF, which begin with EE and EF. So the stored token
/// is the key with these seven lead bytes, which occur nowhere else in UTF-8, mapped to the other order.
///
/// Keys that are not UTF-8 have tokens too. Cassandra 0.7 and later returned an internal error for them.
#[derive(Debug)]
pub struct OrderPreservingPartitioner;

/// Lead bytes in the order of UTF-16. They are stored as `LEADS_FROM` and the bytes after it.
const LEADS: [u8; 7] = [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xee, 0xef];

/// The smallest lead byte that is mapped.
const LEADS_FROM: u8 = 0xee;

/// Characters of the token that a node chooses for itself, as in Cassandra 0.6.
const RANDOM_LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn stored(byte: u8) -> u8 {
    match byte {
        0xf0..=0xf4 => byte - 2,
        0xee | 0xef => byte + 5,
        other => other,
    }
}

fn unstored(byte: u8) -> u8 {
    let at = byte.checked_sub(LEADS_FROM).map(usize::from);
    at.and_then(|at| LEADS.get(at)).copied().unwrap_or(byte)
}

impl Partitioner for OrderPreservingPartitioner {
    fn class_name(&self) -> &'static str {
        "org.apache.cassandra.dht.OrderPreservingPartitioner"
    }

    fn token(&self, key: &[u8], out: &mut Vec<u8>) {
        out.extend(key.iter().copied().map(stored));
    }

    fn token_form(&self) -> TokenForm {
        TokenForm::IsKey
    }

    fn key_of_token(&self, token: &[u8]) -> Option<Vec<u8>> {
        Some(token.iter().copied().map(unstored).collect())
    }

    fn preserves_order(&self) -> bool {
        true
    }

    /// Returns the key, with U+FFFD for invalid UTF-8.
    fn token_text(&self, token: &[u8]) -> String {
        let key: Vec<u8> = token.iter().copied().map(unstored).collect();
        String::from_utf8_lossy(&key).into_owned()
    }

    /// Any text is a valid token.
    fn parse_token(&self, text: &str) -> Result<Vec<u8>, TokenError> {
        Ok(text.bytes().map(stored).collect())
    }

    /// Returns sixteen letters and digits.
    fn random_token(&self, dice: u128) -> Vec<u8> {
        dice.to_be_bytes().map(|byte| RANDOM_LETTERS[usize::from(byte) % RANDOM_LETTERS.len()]).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::util::Release;

    fn token(key: &str) -> Vec<u8> {
        let mut token = Vec::new();
        OrderPreservingPartitioner.token(key.as_bytes(), &mut token);
        token
    }

    #[test]
    fn order_is_that_of_utf_16() {
        let keys =
            ["", "A", "a", "aa", "é", "\u{d7ff}", "\u{10000}", "😀", "\u{10ffff}", "\u{e000}", "\u{ffff}"];
        assert!(keys.is_sorted_by_key(|key| token(key)));
        assert_eq!(token("a\u{10000}"), b"a\xee\x90\x80\x80");
    }

    #[test]
    fn every_byte_round_trips() {
        let key: Vec<u8> = (0..=255).collect();
        let mut token = Vec::new();
        OrderPreservingPartitioner.token(&key, &mut token);
        assert_eq!(OrderPreservingPartitioner.key_of_token(&token), Some(key));
    }

    #[test]
    fn text_is_the_key() {
        assert_eq!(OrderPreservingPartitioner.token_text(&token("日\u{ffff}😀")), "日\u{ffff}😀");
        assert_eq!(OrderPreservingPartitioner.parse_token("日😀").unwrap(), token("日😀"));
        assert_eq!(OrderPreservingPartitioner.minimum_token(Release::V0_6), b"");
        let random = OrderPreservingPartitioner.random_token(u128::MAX);
        assert!(random.len() == 16 && random.iter().all(u8::is_ascii_alphanumeric));
    }

    /// Text in which the characters around the surrogates are frequent.
    fn text() -> impl Strategy<Value = String> {
        let char = prop_oneof![
            prop::char::range('a', 'c'),
            prop::char::range('\u{d7f0}', '\u{e010}'),
            prop::char::range('\u{fff0}', '\u{1000f}'),
            any::<char>(),
        ];
        prop::collection::vec(char, 0..5).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn memcmp_of_tokens_is_utf_16_order(left in text(), right in text()) {
            prop_assert_eq!(token(&left).cmp(&token(&right)), left.encode_utf16().cmp(right.encode_utf16()));
        }
    }
}
