//! Tokens as CQL values: the result of `token()` and the values that it is compared with.

use crate::error::invalid;
use crate::{CqlError, Result};
use base::partitioner::{Partitioner, TokenForm};

/// Returns a token in its stored form for its CQL value.
pub(super) fn token_of_value(partitioner: &dyn Partitioner, value: &[u8]) -> Result<Vec<u8>> {
    if !matches!(partitioner.token_form(), TokenForm::Fixed(_)) {
        let mut token = Vec::new();
        partitioner.token(value, &mut token);
        return Ok(token);
    }
    let Some(number) = decimal_of(value) else {
        return invalid("Invalid token for this partitioner");
    };
    partitioner.parse_token(&number).map_err(|error| CqlError::invalid(error.to_string()))
}

/// Returns a two's complement number in decimal digits if it is between -2^127 and 2^128 - 1. The highest token of
/// `RandomPartitioner` is 2^127, which needs a sign byte before its sixteen bytes.
fn decimal_of(value: &[u8]) -> Option<String> {
    let is_negative = *value.first()? >= 0x80;
    let digits = if is_negative { value } else { value.strip_prefix(&[0]).unwrap_or(value) };
    if digits.len() > 16 {
        return None;
    }
    let fill = if is_negative { -1i128 } else { 0 };
    let number = digits.iter().fold(fill, |number, byte| (number << 8) | i128::from(*byte));
    Some(if is_negative { number.to_string() } else { (number as u128).to_string() })
}

/// Returns the token just before a token of fixed length, or `None` if it is the lowest.
pub(super) fn token_before(token: &[u8]) -> Option<Vec<u8>> {
    let mut before = token.to_vec();
    for byte in before.iter_mut().rev() {
        let (less, has_borrowed) = byte.overflowing_sub(1);
        *byte = less;
        if !has_borrowed {
            return Some(before);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::partitioner::{Murmur3Partitioner, RandomPartitioner};

    #[test]
    fn values_of_tokens_are_numbers() {
        for key in [&b"a"[..], b"key1", b"theo", b"\xff", b"k\0\0"] {
            let mut token = Vec::new();
            Murmur3Partitioner.token(key, &mut token);
            let number: i64 = Murmur3Partitioner.token_text(&token).parse().unwrap();
            assert_eq!(token_of_value(&Murmur3Partitioner, &number.to_be_bytes()).unwrap(), token);
        }
        assert!(token_of_value(&Murmur3Partitioner, b"").is_err());
    }

    #[test]
    fn the_ends_of_the_ring_are_valid_tokens() {
        let mut highest = vec![0; 17];
        highest[1] = 0x80;
        for (value, text) in [
            (&[0xff][..], "-1"),
            (&[0], "0"),
            (&[0, 0xff], "255"),
            (&highest, "170141183460469231731687303715884105728"),
        ] {
            let token = token_of_value(&RandomPartitioner, value).unwrap();
            assert_eq!(RandomPartitioner.token_text(&token), text);
        }
        highest[16] = 1;
        assert!(token_of_value(&RandomPartitioner, &highest).is_err());
        assert!(token_of_value(&RandomPartitioner, &[1; 17]).is_err());
    }

    #[test]
    fn the_previous_token_is_one_less() {
        assert_eq!(token_before(&[1, 0]), Some(vec![0, 255]));
        assert_eq!(token_before(&[0, 7]), Some(vec![0, 6]));
        assert_eq!(token_before(&[0, 0]), None);
    }
}
