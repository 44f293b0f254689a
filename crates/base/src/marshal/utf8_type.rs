//! UTF-8 text.

use std::cmp::Ordering;

use super::views::views;
use super::{AbstractType, MarshalError, StoredOrder};
use crate::util::Release;

/// Names that are UTF-8 text. Releases differ in which bytes are valid, and therefore in the order:
///
/// ```text
/// 0.4, 0.5        any bytes; ordered by the UTF-16 code units of the decoded text
/// 0.6             well-formed UTF-8; ordered by bytes, which is the order of code points
/// 0.7 and later   what an incomplete check accepts (`lax_char_bytes`); ordered by bytes
/// ```
///
/// 0.4 and 0.5 decode malformed bytes to U+FFFD, so names with different malformed bytes can be the same name. We
/// decode as decoders do today: one U+FFFD for each longest prefix of a valid sequence. For an encoded surrogate Java
/// produces one U+FFFD where we produce two or three. Java's decoders of 2009 may also have differed for overlong
/// sequences.
///
/// "0.6" means 0.6.4 and later: 0.6.0 to 0.6.3 still behaved as 0.5.
#[derive(Debug)]
pub struct UTF8Type {
    since: Release,
}

views!(UTF8Type, stored as V0_6, changed in V0_3 V0_6 V0_7);

/// Compares decoded text as Java compares strings: by UTF-16 code units, which sort U+10000 before U+E000.
fn compare_decoded(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (String::from_utf8_lossy(left), String::from_utf8_lossy(right));
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Returns the length of the first character if the check of 0.7 to 2.1 accepts it. That check is incomplete, and
/// applications may have stored bytes that it accepts: C0 may be followed by any continuation byte, after E0 and F0
/// only some bits of the next byte are checked, F4 to F7 encode code points beyond U+10FFFF, and surrogates are
/// accepted.
fn lax_char_bytes(bytes: &[u8]) -> Option<usize> {
    let next = |byte: u8| byte & 0xc0 == 0x80;
    match *bytes {
        [0x00..=0x7f, ..] => Some(1),
        [0xc0 | 0xc2..=0xdf, second, ..] if next(second) => Some(2),
        [0xe0, second, third, ..] if second & 0xe0 != 0x80 && next(third) => Some(3),
        [0xe1..=0xef, second, third, ..] if next(second) && next(third) => Some(3),
        [0xf0, second, third, fourth, ..] if second & 0x30 != 0 && next(third) && next(fourth) => Some(4),
        [0xf1..=0xf7, second, third, fourth, ..] if next(second) && next(third) && next(fourth) => Some(4),
        _ => None,
    }
}

/// Returns whether 0.7 to 2.1 accept the bytes as UTF-8.
fn is_lax_utf8(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some((_, after)) = lax_char_bytes(rest).and_then(|length| rest.split_at_checked(length)) {
        rest = after;
    }
    rest.is_empty()
}

/// Formats bytes as Java prints a byte array: `[-61, 40]`.
fn java_array(value: &[u8]) -> String {
    let signed: Vec<String> = value.iter().map(|byte| (*byte as i8).to_string()).collect();
    format!("[{}]", signed.join(", "))
}

impl AbstractType for UTF8Type {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.UTF8Type"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        let refused = |text: String| Err(MarshalError(text));
        match self.since {
            since if since < Release::V0_6 => Ok(()),
            since if since < Release::V0_7 => match std::str::from_utf8(value) {
                Ok(_) => Ok(()),
                Err(_) => refused(format!("invalid UTF8 bytes {}", java_array(value))),
            },
            _ if is_lax_utf8(value) => Ok(()),
            _ => refused("String didn't validate.".to_owned()),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.since < Release::V0_6 { compare_decoded(left, right) } else { left.cmp(right) }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        Ok(left.cmp(right))
    }

    fn ordered_is_name(&self) -> bool {
        true
    }

    fn stored_order(&self) -> StoredOrder {
        if self.since < Release::V0_6 { StoredOrder::WithinPrefix(0) } else { StoredOrder::Exact }
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        VIEWS.iter().rfind(|view| view.since <= release).map(|view| view as &dyn AbstractType)
    }

    fn to_text(&self, value: &[u8]) -> String {
        String::from_utf8_lossy(value).into_owned()
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        Ok(text.as_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::at;

    fn view(release: Release) -> &'static dyn AbstractType {
        static TYPE: UTF8Type = UTF8Type { since: Release::V0_6 };
        at(&TYPE, release)
    }

    /// The first and last characters of each encoded length.
    const GOOD: [&str; 8] = [
        "",
        "\0",
        "\u{7f}\u{80}",
        "\u{7ff}",
        "\u{800}",
        "\u{d7ff}\u{e000}",
        "\u{ffff}",
        "\u{10000}\u{10ffff}",
    ];

    /// Bytes that 0.6.4 and later refuse: stray continuation bytes, truncated sequences, impossible bytes.
    const BAD: [&[u8]; 9] = [
        b"\x80",
        b"\xff",
        b"\xc3",
        b"a\xc3(",
        b"\xc1\x80",
        b"\xe0\x80\x80",
        b"\xe2\x82",
        b"\xf0\x80\x80\x80",
        b"\xf8\x88\x80\x80\x80",
    ];

    /// Malformed bytes that the check of 0.7 and later accepts.
    const LAX: [&[u8]; 7] = [
        b"\xc0\x80",
        b"\xc0\xbf",
        b"\xe0a\x80",
        b"\xed\xa0\x80",
        b"\xf00\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\xf7\xbf\xbf\xbf",
    ];

    #[test]
    fn well_formed_text_is_valid_everywhere() {
        for release in Release::ALL {
            for good in GOOD {
                assert_eq!(view(release).validate(good.as_bytes()), Ok(()), "{release} {good:?}");
            }
        }
    }

    #[test]
    fn malformed_bytes_are_valid_only_before_0_6() {
        for bad in BAD {
            assert_eq!(view(Release::V0_5).validate(bad), Ok(()));
            for release in Release::ALL.into_iter().filter(|release| *release >= Release::V0_6) {
                assert!(view(release).validate(bad).is_err(), "{release} {bad:x?}");
            }
        }
    }

    #[test]
    fn malformed_bytes_that_0_7_accepted_are_valid_from_0_7_on() {
        for lax in LAX {
            assert!(view(Release::V0_6).validate(lax).is_err(), "{lax:x?}");
            for release in Release::ALL.into_iter().filter(|release| *release >= Release::V0_7) {
                assert_eq!(view(release).validate(lax), Ok(()), "{release} {lax:x?}");
            }
        }
    }

    #[test]
    fn an_invalid_name_is_refused_in_the_words_of_the_release() {
        let text = |release, name: &[u8]| view(release).validate(name).unwrap_err().to_string();
        assert_eq!(text(Release::V0_6, b"\xff"), "invalid UTF8 bytes [-1]");
        assert_eq!(text(Release::V0_6, b"a\xc3("), "invalid UTF8 bytes [97, -61, 40]");
        assert_eq!(text(Release::V0_7, b"\xff"), "String didn't validate.");
        assert_eq!(text(Release::V2_1, b"\xff"), "String didn't validate.");
    }

    #[test]
    fn before_0_6_order_is_that_of_java_strings() {
        let (last_unit, first_pair) = ("\u{ffff}".as_bytes(), "\u{10000}".as_bytes());
        assert_eq!(view(Release::V0_5).compare(first_pair, last_unit), Ordering::Less);
        assert_eq!(view(Release::V0_6).compare(first_pair, last_unit), Ordering::Greater);
        assert_eq!(view(Release::V0_5).compare(b"a\xff", b"a\xfe"), Ordering::Equal);
        assert_eq!(view(Release::V0_5).compare(b"\xff", "\u{fffd}".as_bytes()), Ordering::Equal);
        assert_eq!(view(Release::V0_5).compare(b"", b"\xff"), Ordering::Less);
    }
}
