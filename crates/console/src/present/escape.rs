//! Texts on pages: every character can be seen.

/// Returns the text of bytes with escapes for what cannot be seen, and for bytes that are not UTF-8: `\n`, `\u{202e}`,
/// `\xff`. A backslash is doubled.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_escaped(chunk.valid(), &mut out);
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// Returns whether `escaped` changes nothing but backslashes.
pub(super) fn is_printable(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        let mut shown = String::with_capacity(text.len());
        push_escaped(text, &mut shown);
        shown.replace("\\\\", "\\") == text
    })
}

/// Returns a text with its line breaks, and with escapes for its tabs and carriage returns; `None` if there is anything
/// else that cannot be seen, or nothing that can. A line break differs from its escape, which has a backslash.
pub(super) fn lines(bytes: &[u8]) -> Option<String> {
    let seen: Vec<u8> = bytes.iter().copied().filter(|byte| !b"\n\r\t".contains(byte)).collect();
    let is_text = std::str::from_utf8(bytes).is_ok() && !seen.is_empty() && is_printable(&seen);
    is_text.then(|| bytes.split(|byte| *byte == b'\n').map(escaped).collect::<Vec<_>>().join("\n"))
}

/// Appends a text with the escapes of `str::escape_debug`, which leaves letters of all languages as they are. Quotes
/// are harmless in HTML, which has its own escapes.
fn push_escaped(text: &str, out: &mut String) {
    let mut escaped = text.escape_debug();
    while let Some(c) = escaped.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match escaped.next() {
            Some(quote @ ('"' | '\'')) => out.push(quote),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        for (bytes, expected) in [
            (&b"it's \"so\""[..], "it's \"so\""),
            ("\u{e9}t\u{e9} \u{5e9}\u{5dc} \u{1f600}".as_bytes(), "\u{e9}t\u{e9} \u{5e9}\u{5dc} \u{1f600}"),
            (b"<b>a\nb\0</b>", "<b>a\\nb\\0</b>"),
            ("a\u{202e}b\u{200b}\u{2066}".as_bytes(), "a\\u{202e}b\\u{200b}\\u{2066}"),
            (b"caf\xe9", "caf\\xe9"),
            (b"C:\\temp", "C:\\\\temp"),
            (b"\\xe9", "\\\\xe9"),
        ] {
            assert_eq!(escaped(bytes), expected);
        }
        assert!(is_printable(b"C:\\temp'") && !is_printable(b"\\\n") && !is_printable(b"\xe9"));
    }

    proptest! {
        #[test]
        fn different_bytes_have_different_texts(
            one in prop::collection::vec(any::<u8>(), 0..4),
            other in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            prop_assert_eq!(escaped(&one) == escaped(&other), one == other);
        }

        #[test]
        fn nothing_invisible_is_left(text in any::<String>()) {
            let shown = escaped(text.as_bytes());
            prop_assert!(!shown.chars().any(char::is_control));
            let bidi = ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{61c}'];
            prop_assert!(!shown.contains(bidi));
        }
    }
}
