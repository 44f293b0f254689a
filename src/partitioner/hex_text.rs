//! The text form of tokens that is hexadecimal.

use super::{Partitioner, TokenError};
use crate::marshal::{AbstractType, BytesType};

pub(super) fn token_to_hex(token: &[u8]) -> String {
    BytesType.to_text(token)
}

pub(super) fn parse_hex_token(partitioner: &dyn Partitioner, text: &str) -> Result<Vec<u8>, TokenError> {
    BytesType.parse_text(text).map_err(|_| TokenError {
        text: text.to_owned(),
        partitioner: partitioner.class_name().to_owned(),
        reason: "it should be an even number of hexadecimal digits".to_owned(),
    })
}
