//! The text form that both UUID types share.

use uuid::Uuid;

use super::{AbstractType, BytesType, MarshalError};

/// Length of the canonical text, with its four hyphens: the only form that is read.
const CANONICAL_CHARS: usize = 36;

/// Canonical lower-case text; nothing for nothing, and hex for what is no UUID.
pub(super) fn uuid_to_text(value: &[u8]) -> String {
    match Uuid::from_slice(value) {
        Ok(uuid) => uuid.to_string(),
        Err(_) => BytesType.to_text(value),
    }
}

/// Reads canonical text of any version; the empty text is the empty value.
pub(super) fn parse_uuid_text(text: &str) -> Result<Vec<u8>, MarshalError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    match Uuid::try_parse(text) {
        Ok(uuid) if text.len() == CANONICAL_CHARS => Ok(uuid.as_bytes().to_vec()),
        _ => Err(MarshalError(format!("unable to make UUID from '{text}'"))),
    }
}
