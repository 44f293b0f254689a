//! RandomPartitioner: tokens by MD5. Rows are distributed evenly, and the order of scans has no meaning.

use md5::{Digest, Md5};

use super::{Partitioner, TokenError, TokenForm};
use crate::compat::Behaviour;
use crate::util::Release;

/// The token is the absolute value of the key's MD5, read as a signed 128-bit number: 0 to 2^127.
#[derive(Debug)]
pub struct RandomPartitioner;

/// Returns the stored form of a token: 16 bytes, big-endian, of the token plus one. So 0 is stored for -1, the minimum
/// token since 0.7.
fn stored(token: i128) -> Vec<u8> {
    (token.wrapping_add(1) as u128).to_be_bytes().to_vec()
}

impl Partitioner for RandomPartitioner {
    fn class_name(&self) -> &'static str {
        "org.apache.cassandra.dht.RandomPartitioner"
    }

    fn token(&self, key: &[u8], out: &mut Vec<u8>) {
        let digest: [u8; 16] = Md5::digest(key).into();
        let absolute = i128::from_be_bytes(digest).unsigned_abs();
        out.extend_from_slice(&(absolute + 1).to_be_bytes());
    }

    fn token_form(&self) -> TokenForm {
        TokenForm::Fixed(16)
    }

    fn preserves_order(&self) -> bool {
        false
    }

    fn minimum_token(&self, release: Release) -> Vec<u8> {
        stored(if Behaviour::of(release).reads.random_ring_begins_below_zero { -1 } else { 0 })
    }

    fn maximum_token(&self) -> Option<Vec<u8>> {
        Some(((1u128 << 127) + 1).to_be_bytes().to_vec())
    }

    fn token_text(&self, token: &[u8]) -> String {
        let mut wide = [0; 16];
        let width = token.len().min(16);
        wide[16 - width..].copy_from_slice(&token[..width]);
        match u128::from_be_bytes(wide) {
            0 => "-1".to_owned(),
            above => (above - 1).to_string(),
        }
    }

    fn parse_token(&self, text: &str) -> Result<Vec<u8>, TokenError> {
        let error = |reason: &str| TokenError {
            text: text.to_owned(),
            partitioner: self.class_name().to_owned(),
            reason: reason.to_owned(),
        };
        if text == "-1" {
            return Ok(stored(-1));
        }
        let number: u128 = text.parse().map_err(|_| error("it should be a decimal number"))?;
        if number > 1 << 127 {
            return Err(error("the largest token is 2^127"));
        }
        Ok((number + 1).to_be_bytes().to_vec())
    }

    fn random_token(&self, dice: u128) -> Vec<u8> {
        ((dice >> 1) + 1).to_be_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(key: &str) -> String {
        let mut token = Vec::new();
        RandomPartitioner.token(key.as_bytes(), &mut token);
        RandomPartitioner.token_text(&token)
    }

    #[test]
    fn tokens_of_cassandra() {
        assert_eq!(text("a"), "16955237001963240173058271559858726497");
        assert_eq!(text("key"), "80325066489831061459460196859901989661");
        assert_eq!(text("__notag__"), "62023408357129520936975037359303335131");
        assert_eq!(text("i-got-a-new-guitar"), "113632442667805324020146825526628433829");
    }

    #[test]
    fn the_minimum_is_minus_one_since_0_7() {
        let minimum = |release| RandomPartitioner.token_text(&RandomPartitioner.minimum_token(release));
        assert_eq!(minimum(Release::V0_6), "0");
        assert_eq!(minimum(Release::V0_7), "-1");
        assert!(
            RandomPartitioner.minimum_token(Release::V0_7) < RandomPartitioner.minimum_token(Release::V0_6)
        );
    }

    #[test]
    fn order_is_numeric_and_text_decimal() {
        let largest = (1u128 << 127).to_string();
        let texts = ["-1", "0", "1", "9", "10", &largest];
        let tokens = texts.map(|text| RandomPartitioner.parse_token(text).unwrap());
        assert!(tokens.is_sorted());
        assert_eq!(tokens.each_ref().map(|token| RandomPartitioner.token_text(token)), texts);
    }

    #[test]
    fn text_that_is_not_a_token_is_refused() {
        let too_large = ((1u128 << 127) + 1).to_string();
        for bad in ["", "-2", "x", "1.5", &too_large] {
            let error = RandomPartitioner.parse_token(bad).unwrap_err();
            assert!(error.to_string().contains("RandomPartitioner"), "{error}");
        }
    }

    #[test]
    fn random_tokens_are_tokens() {
        for dice in [0, 1, u128::MAX] {
            let text = RandomPartitioner.token_text(&RandomPartitioner.random_token(dice));
            assert!(RandomPartitioner.parse_token(&text).is_ok(), "{text}");
        }
    }
}
