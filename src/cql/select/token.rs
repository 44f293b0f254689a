//! Tokens as values: what `token()` gives and what it is compared with.

use bytes::Bytes;

use crate::cql::CqlError;
use crate::db::Database;
use crate::marshal::{CqlType, Native};
use crate::partitioner::{Partitioner, TokenForm};

/// The type of the partitioner's tokens.
pub(super) fn token_type(database: &Database) -> CqlType {
    let partitioner = database.partitioner();
    let class = partitioner.class_name();
    CqlType::Native(match (partitioner.token_form(), class.rsplit('.').next()) {
        (TokenForm::Fixed(8), _) => Native::Bigint,
        (TokenForm::Fixed(_), _) => Native::Varint,
        (_, Some("ByteOrderedPartitioner")) => Native::Blob,
        _ => Native::Text,
    })
}

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

/// What CQL has for the token of a row key.
pub(super) fn token_value(partitioner: &dyn Partitioner, key: &[u8]) -> Bytes {
    let mut token = Vec::new();
    partitioner.token(key, &mut token);
    let text = partitioner.token_text(&token);
    match partitioner.token_form() {
        TokenForm::Fixed(8) => {
            let number: i64 = text.parse().unwrap_or_default();
            Bytes::copy_from_slice(&number.to_be_bytes())
        }
        TokenForm::Fixed(_) => {
            // The largest is 2^127.
            let number: u128 = text.parse().unwrap_or_default();
            let bytes = [&[0][..], &number.to_be_bytes()].concat();
            let is_spare = |at: usize| bytes[at] == 0 && bytes[at + 1] < 0x80;
            let from = (0..bytes.len() - 1).find(|at| !is_spare(*at)).unwrap_or(bytes.len() - 1);
            Bytes::copy_from_slice(&bytes[from..])
        }
        TokenForm::Variable | TokenForm::IsKey => Bytes::copy_from_slice(key),
    }
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
    use crate::partitioner::{Murmur3Partitioner, RandomPartitioner};

    #[test]
    fn values_of_tokens_lead_back_to_them() {
        for key in [&b"a"[..], b"key1", b"theo", b"\xff", b"k\0\0"] {
            for partitioner in [&Murmur3Partitioner as &dyn Partitioner, &RandomPartitioner] {
                let mut token = Vec::new();
                partitioner.token(key, &mut token);
                let value = token_value(partitioner, key);
                assert_eq!(token_of_value(partitioner, &value).unwrap(), token);
            }
        }
        let value = token_value(&Murmur3Partitioner, b"a");
        assert_eq!(value[..], (-8_839_064_797_231_613_815i64).to_be_bytes());
    }

    #[test]
    fn the_token_before_is_one_less() {
        assert_eq!(token_before(&[1, 0]), Some(vec![0, 255]));
        assert_eq!(token_before(&[0, 7]), Some(vec![0, 6]));
        assert_eq!(token_before(&[0, 0]), None);
    }
}
