//! The text form of tokens that is hexadecimal.

use std::borrow::Cow;

use super::TokenError;
use crate::marshal::{AbstractType, BytesType};

/// Parses hexadecimal digits. If their number is odd, a zero is put before them, as Cassandra does
/// (`AbstractByteOrderedPartitioner.tokenFactory`).
pub(super) fn parse_hex_token(partitioner: &str, text: &str) -> Result<Vec<u8>, TokenError> {
    let digits = if text.len() % 2 == 1 { Cow::Owned(format!("0{text}")) } else { Cow::Borrowed(text) };
    BytesType.parse_text(&digits).map_err(|_| TokenError {
        text: text.to_owned(),
        partitioner: partitioner.to_owned(),
        reason: "it should be hexadecimal digits".to_owned(),
    })
}
