//! Murmur3Partitioner: tokens by MurmurHash3, the default since Cassandra 1.2.

use super::{Partitioner, TokenError, TokenForm};
use crate::util::Release;

/// The token is the first half of MurmurHash3 (x64, 128 bits, seed 0) of the key, as a signed number. It includes
/// Cassandra's bug that treats the last bytes of a key as signed: ASCII keys have the tokens of the standard algorithm,
/// most others do not.
#[derive(Debug)]
pub struct Murmur3Partitioner;

/// Returns the stored form of a token: 8 bytes, big-endian, with the sign bit inverted.
fn stored(token: i64) -> [u8; 8] {
    ((token as u64) ^ (1 << 63)).to_be_bytes()
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Mixes eight bytes for the first half of the state.
fn mix_first(bits: u64) -> u64 {
    bits.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

/// Mixes eight bytes for the second half of the state.
fn mix_second(bits: u64) -> u64 {
    bits.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// Mixes all bits of a half.
fn avalanche(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

/// Returns up to eight bytes as a little-endian number. Each byte is sign-extended before it is shifted.
fn signed_tail(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().fold(0, |bits, (at, byte)| bits ^ ((*byte as i8 as u64) << (8 * at)))
}

/// Returns the first half of the hash.
fn hash(key: &[u8]) -> i64 {
    let (mut first, mut second) = (0u64, 0u64);
    let (blocks, tail) = key.as_chunks::<16>();
    for block in blocks {
        let bits = u128::from_le_bytes(*block);
        first = (first ^ mix_first(bits as u64)).rotate_left(27).wrapping_add(second);
        first = first.wrapping_mul(5).wrapping_add(0x52dc_e729);
        second = (second ^ mix_second((bits >> 64) as u64)).rotate_left(31).wrapping_add(first);
        second = second.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    first ^= mix_first(signed_tail(low));
    second ^= mix_second(signed_tail(high));

    let length = key.len() as u64;
    first ^= length;
    second ^= length;
    first = first.wrapping_add(second);
    second = second.wrapping_add(first);
    avalanche(first).wrapping_add(avalanche(second)) as i64
}

impl Partitioner for Murmur3Partitioner {
    fn class_name(&self) -> &'static str {
        "org.apache.cassandra.dht.Murmur3Partitioner"
    }

    /// Appends the token of a key. Only the empty key has the minimum token: a hash that equals it becomes the maximum.
    fn token(&self, key: &[u8], out: &mut Vec<u8>) {
        let token = match hash(key) {
            _ if key.is_empty() => i64::MIN,
            i64::MIN => i64::MAX,
            other => other,
        };
        out.extend_from_slice(&stored(token));
    }

    fn token_form(&self) -> TokenForm {
        TokenForm::Fixed(8)
    }

    fn preserves_order(&self) -> bool {
        false
    }

    fn minimum_token(&self, _release: Release) -> Vec<u8> {
        stored(i64::MIN).to_vec()
    }

    fn maximum_token(&self) -> Option<Vec<u8>> {
        Some(stored(i64::MAX).to_vec())
    }

    fn token_text(&self, token: &[u8]) -> String {
        let mut wide = [0; 8];
        let width = token.len().min(8);
        wide[..width].copy_from_slice(&token[..width]);
        ((u64::from_be_bytes(wide) ^ (1 << 63)) as i64).to_string()
    }

    fn parse_token(&self, text: &str) -> Result<Vec<u8>, TokenError> {
        let token: i64 = text.parse().map_err(|_| TokenError {
            text: text.to_owned(),
            partitioner: self.class_name().to_owned(),
            reason: "it should be a decimal number from -2^63 to 2^63-1".to_owned(),
        })?;
        Ok(stored(token).to_vec())
    }

    fn random_token(&self, dice: u128) -> Vec<u8> {
        stored((dice as i64).max(i64::MIN + 1)).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(key: &[u8]) -> String {
        let mut token = Vec::new();
        Murmur3Partitioner.token(key, &mut token);
        Murmur3Partitioner.token_text(&token)
    }

    fn standard(key: &[u8]) -> i64 {
        murmur3::murmur3_x64_128(&mut &key[..], 0).unwrap() as i64
    }

    #[test]
    fn tokens_of_cassandra() {
        assert_eq!(text(b"a"), "-8839064797231613815");
        assert_eq!(text(b"key"), "-6847573755651342660");
        assert_eq!(text(b"__notag__"), "-4893743722742507509");
        assert_eq!(text(b"\x80"), "-5284281814142962636");
        assert_eq!(text("é".as_bytes()), "5461403030378599040");
        assert_eq!(text(b""), i64::MIN.to_string());
    }

    #[test]
    fn the_standard_algorithm_differs_for_a_tail_above_ascii() {
        assert_eq!(standard(b"\x80"), 7017059463262962058);
        assert_eq!(standard("é".as_bytes()), -3956277427552623640);
    }

    #[test]
    fn order_is_numeric_and_text_decimal() {
        let numbers = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(numbers.is_sorted_by_key(|number| stored(*number)));
        for number in numbers {
            let token = Murmur3Partitioner.parse_token(&number.to_string()).unwrap();
            assert_eq!(Murmur3Partitioner.token_text(&token), number.to_string());
        }
        assert!(Murmur3Partitioner.parse_token("9223372036854775808").is_err());
        assert!(Murmur3Partitioner.random_token(1 << 63) > Murmur3Partitioner.minimum_token(Release::V1_2));
    }

    proptest! {
        /// Complete blocks of 16 bytes may have any bytes, the tail only ASCII.
        #[test]
        fn the_standard_algorithm_agrees_for_a_tail_of_ascii(
            blocks in prop::collection::vec(any::<[u8; 16]>(), 0..4), tail in "[ -~]{1,15}"
        ) {
            let key = [blocks.concat(), tail.into_bytes()].concat();
            prop_assert_eq!(text(&key), standard(&key).to_string());
        }
    }
}
