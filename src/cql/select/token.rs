//! Tokens as values: what `token()` gives and what it is compared with.

use crate::cql::CqlError;
use crate::partitioner::{Partitioner, TokenForm};

/// A token as it is kept, of the value that CQL has for it.
pub(super) fn token_of_value(partitioner: &dyn Partitioner, value: &[u8]) -> Result<Vec<u8>, CqlError> {
    if !matches!(partitioner.token_form(), TokenForm::Fixed(_)) {
        let mut token = Vec::new();
        partitioner.token(value, &mut token);
        return Ok(token);
    }
    let Some(number) = number_of(value) else {
        return Err(CqlError::invalid("Invalid token for this partitioner"));
    };
    partitioner.parse_token(&number.to_string()).map_err(|error| CqlError::invalid(error.to_string()))
}

/// A number of at most seventeen bytes, where it fits.
fn number_of(value: &[u8]) -> Option<i128> {
    let first = *value.first()?;
    let fill = if first >= 0x80 { -1i128 } else { 0 };
    (value.len() <= 16).then(|| value.iter().fold(fill, |number, byte| (number << 8) | i128::from(*byte)))
}

/// The token just before one of a fixed length; `None` where there is none.
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
    use crate::partitioner::Murmur3Partitioner;

    #[test]
    fn values_of_tokens_are_their_numbers() {
        for key in [&b"a"[..], b"key1", b"theo", b"\xff", b"k\0\0"] {
            let mut token = Vec::new();
            Murmur3Partitioner.token(key, &mut token);
            let number: i64 = Murmur3Partitioner.token_text(&token).parse().unwrap();
            assert_eq!(token_of_value(&Murmur3Partitioner, &number.to_be_bytes()).unwrap(), token);
        }
        assert!(token_of_value(&Murmur3Partitioner, b"").is_err());
    }

    #[test]
    fn the_token_before_is_one_less() {
        assert_eq!(token_before(&[1, 0]), Some(vec![0, 255]));
        assert_eq!(token_before(&[0, 7]), Some(vec![0, 6]));
        assert_eq!(token_before(&[0, 0]), None);
    }
}
