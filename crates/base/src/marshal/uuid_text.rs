//! The text form of UUIDs, which all UUID types share.

use uuid::Uuid;

use super::{AbstractType, BytesType, MarshalError};

/// Length of the canonical text with its four hyphens. No other form is accepted.
const CANONICAL_CHARS: usize = 36;

/// Formats a UUID as canonical lower-case text. Empty bytes are formatted as the empty text, bytes of any other length
/// in hex.
pub(super) fn uuid_to_text(value: &[u8]) -> String {
    match Uuid::from_slice(value) {
        Ok(uuid) => uuid.to_string(),
        Err(_) => BytesType.to_text(value),
    }
}

/// Parses the canonical text of a UUID of any version. The empty text is the empty value.
pub(super) fn parse_uuid_text(text: &str) -> Result<Vec<u8>, MarshalError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    match Uuid::try_parse(text) {
        Ok(uuid) if text.len() == CANONICAL_CHARS => Ok(uuid.as_bytes().to_vec()),
        _ => Err(MarshalError(format!("unable to make UUID from '{text}'"))),
    }
}
