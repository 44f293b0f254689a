//! Bytes as a text.

use std::borrow::Cow;

/// Returns bytes as a text of equal length, in which control characters replace bytes that are not UTF-8: no language has
/// them, and places in the text are places in the bytes.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{1}'));
    }
    Cow::Owned(text)
}
