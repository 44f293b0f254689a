//! White space as Java's `trim` has it.

use bytes::Bytes;

/// The bytes without the blanks and control characters at both ends.
pub fn trimmed(text: &Bytes) -> Bytes {
    let is_black = |byte: &u8| *byte > b' ';
    let start = text.iter().position(is_black).unwrap_or(text.len());
    let end = text.iter().rposition(is_black).map_or(start, |last| last + 1);
    text.slice(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_is_what_it_is_to_java() {
        for (text, expected) in
            [("k", "k"), (" \tk k\n\0", "k k"), (" \n", ""), ("", ""), ("\u{a0}k", "\u{a0}k")]
        {
            assert_eq!(trimmed(&Bytes::from(text)), expected);
        }
    }
}
