//! Tokens as values of the cluster's statements.

use bytes::Bytes;
use num_bigint::BigInt;

use base::partitioner::Partitioner;
use store::{Result, StoreError};

/// Encodes a token as the type that tokens of the cluster's partitioner have in CQL.
pub(super) fn token_value(partitioner: &dyn Partitioner, token: &[u8]) -> Result<Bytes> {
    let text = partitioner.token_text(token);
    let wrong_token =
        || StoreError::Invalid(format!("{text} is not a token of {}", partitioner.class_name()));
    let short = partitioner.class_name().rsplit('.').next().unwrap_or_default();
    match short {
        "Murmur3Partitioner" => {
            let number: i64 = text.parse().map_err(|_| wrong_token())?;
            Ok(Bytes::copy_from_slice(&number.to_be_bytes()))
        }
        "RandomPartitioner" => {
            let number: BigInt = text.parse().map_err(|_| wrong_token())?;
            Ok(number.to_signed_bytes_be().into())
        }
        _ => Ok(Bytes::copy_from_slice(token)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::partitioner::{Murmur3Partitioner, RandomPartitioner};

    #[test]
    fn tokens_are_numbers_of_the_partitioner() {
        let token = |partitioner: &dyn Partitioner, text: &str| {
            token_value(partitioner, &partitioner.parse_token(text).unwrap()).unwrap()
        };
        assert_eq!(token(&Murmur3Partitioner, "-2"), Bytes::copy_from_slice(&(-2i64).to_be_bytes()));
        assert_eq!(token(&RandomPartitioner, "256"), Bytes::from_static(&[1, 0]));
    }
}
