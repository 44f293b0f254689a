//! The bytes that may replace a byte, so that a hash has the class of the data that it replaces.
//!
//! ```text
//!   text       "Ab-9é"       letters of a case, digits; signs and spaces stay; of é the last byte changes
//!   number     00 00 01 2c   leading zeros stay, and the highest bit after them: the number keeps its magnitude and sign
//!   UUID       ..-1..-8..    version and variant stay
//! ```
//!
//! Numbers are hashed without their leading zeros (or 0xff, if they are negative), so 300 as an int, as a bigint and as a
//! constant in CQL become the same number.

/// The bytes from `first` on that may replace a byte. A byte stays as it is where `size` is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alphabet {
    pub first: u8,
    pub size: u16,
}

const fn alphabet(first: u8, size: u16) -> Alphabet {
    Alphabet { first, size }
}

const fn only(byte: u8) -> Alphabet {
    alphabet(byte, 1)
}

const ANY: Alphabet = alphabet(0, 256);
const LOWER: Alphabet = alphabet(b'a', 26);
const UPPER: Alphabet = alphabet(b'A', 26);
const DIGIT: Alphabet = alphabet(b'0', 10);
/// All bytes after the first of a character in UTF-8.
const CONTINUATION: Alphabet = alphabet(0x80, 64);
/// Those after 0xc2 without the control characters U+0080 to U+009F.
const AFTER_C2: Alphabet = alphabet(0xa0, 32);
/// The first byte of a number above zero: not zero, and with the highest bit that it had.
const LOW: Alphabet = alphabet(0x01, 0x7f);
const HIGH: Alphabet = alphabet(0x80, 0x80);
/// The first byte of a number below zero: not 0xff, and with the highest bit that it had.
const NEGATIVE_LOW: Alphabet = alphabet(0x00, 0x80);
const NEGATIVE_HIGH: Alphabet = alphabet(0x80, 0x7f);

/// The classes of bytes without structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    Text,
    /// 16 bytes that are a UUID of a known version.
    Uuid,
    Number,
}

impl Class {
    pub(super) fn of(bytes: &[u8]) -> Class {
        if is_uuid(bytes) {
            Class::Uuid
        } else if is_text(bytes) {
            Class::Text
        } else {
            Class::Number
        }
    }
}

fn is_uuid(bytes: &[u8]) -> bool {
    let versioned = bytes.get(6).is_some_and(|byte| (1..=5).contains(&(byte >> 4)));
    bytes.len() == 16 && versioned && bytes.get(8).is_some_and(|byte| byte >> 6 == 0b10)
}

/// Returns whether bytes are UTF-8 that can be printed.
fn is_text(bytes: &[u8]) -> bool {
    str::from_utf8(bytes)
        .is_ok_and(|text| text.chars().all(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r')))
}

/// Returns the number of leading bytes that only show the sign of a number.
pub(super) fn sign_bytes(number: &[u8]) -> usize {
    let sign = if number.first().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
    number.iter().take_while(|byte| **byte == sign).count()
}

/// Returns the alphabet of each byte.
pub(super) fn alphabets(bytes: &[u8], class: Class) -> Vec<Alphabet> {
    let each = bytes.iter().enumerate();
    match class {
        Class::Text => each
            .map(|(at, byte)| {
                of_text(*byte, at.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(at + 1))
            })
            .collect(),
        Class::Uuid => each.map(|(at, byte)| of_uuid(at, *byte)).collect(),
        Class::Number => {
            let (sign, is_negative) = (sign_bytes(bytes), bytes.first().is_some_and(|byte| *byte >= 0x80));
            each.map(|(at, byte)| match at.checked_sub(sign) {
                None => only(*byte),
                // A byte alone may be a bool.
                Some(_) if bytes.len() == 1 && *byte == 1 => only(1),
                Some(_) if bytes.len() == 1 && !is_negative => alphabet(2, 0x7e),
                Some(0) => of_first(*byte, is_negative),
                Some(_) => ANY,
            })
            .collect()
        }
    }
}

fn of_first(byte: u8, is_negative: bool) -> Alphabet {
    match (is_negative, byte >= 0x80) {
        (false, false) => LOW,
        (false, true) => HIGH,
        (true, false) => NEGATIVE_LOW,
        (true, true) => NEGATIVE_HIGH,
    }
}

fn of_text(byte: u8, before: Option<&u8>, after: Option<&u8>) -> Alphabet {
    let is_continued = after.is_some_and(|byte| byte & 0xc0 == 0x80);
    match byte {
        b'a'..=b'z' => LOWER,
        b'A'..=b'Z' => UPPER,
        b'0'..=b'9' => DIGIT,
        // The bytes that may follow a first byte depend on it, so only the last byte of a character changes.
        0x80..=0xbf if before == Some(&0xc2) => AFTER_C2,
        0x80..=0xbf if !is_continued => CONTINUATION,
        _ => only(byte),
    }
}

fn of_uuid(at: usize, byte: u8) -> Alphabet {
    match at {
        6 => alphabet(byte & 0xf0, 16),
        8 => alphabet(0x80, 64),
        _ => ANY,
    }
}
