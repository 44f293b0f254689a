//! Removes white space as Java's `String.trim` does.

use bytes::Bytes;

/// Returns the text without spaces and control characters (bytes up to 0x20) at both ends.
pub fn trimmed(text: &Bytes) -> Bytes {
    let is_text = |byte: &u8| *byte > b' ';
    let start = text.iter().position(is_text).unwrap_or(text.len());
    let end = text.iter().rposition(is_text).map_or(start, |last| last + 1);
    text.slice(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trims_the_same_characters_as_java() {
        for (text, expected) in
            [("k", "k"), (" \tk k\n\0", "k k"), (" \n", ""), ("", ""), ("\u{a0}k", "\u{a0}k")]
        {
            assert_eq!(trimmed(&Bytes::from(text)), expected);
        }
    }
}
