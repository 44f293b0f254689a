//! Values with parts: composites, and the collections and tuples of CQL.
//!
//! The type of a value is not known, so bytes count as a structure if they can be divided into its parts to the last
//! byte. Each part is hashed by itself: a clustering value becomes the same in CQL and in the name of a cell. Where bytes
//! look like a structure by chance, their lengths stay; that reveals no more than a part of a number.
//!
//! ```text
//!   0003 bob 00  0004 00000005 00     a composite: length, part, end of component
//!   00000001 00000003 bob             a list or set of version 3: count, lengths, elements (16 bits each up to version 2)
//!   00000003 bob 00000004 00000005    a tuple
//! ```

use std::ops::Range;

use super::alphabets::Class;

/// The name of a static cell begins with this length.
const STATIC: u16 = 0xffff;

/// The sizes of numbers, which are not collections.
const NUMBER_BYTES: [usize; 5] = [0, 1, 2, 4, 8];

/// Returns the places of the parts; of bytes without structure the whole.
pub(crate) fn parts(bytes: &[u8]) -> Vec<Range<usize>> {
    let found = match Class::of(bytes) {
        Class::Text | Class::Uuid => None,
        Class::Number => composite(bytes).or_else(|| collection(bytes)),
    };
    let whole = 0..bytes.len();
    found.unwrap_or_else(|| Vec::from([whole]))
}

fn composite(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut cut = Cut { bytes, at: 0 };
    if cut.length(2) != Some(STATIC.into()) {
        cut.at = 0;
    }
    let mut parts = Vec::new();
    while !cut.is_at_end() {
        let length = cut.length(2)?;
        parts.push(cut.part(length)?);
        let end = cut.part(1)?;
        matches!(bytes.get(end)?, [0 | 1 | 0xff]).then_some(())?;
    }
    // Of the size of a number, only a composite of text is one.
    let mut texts =
        parts.iter().map(|part| !part.is_empty() && Class::of(&bytes[part.clone()]) == Class::Text);
    let is_composite = !parts.is_empty() && (!NUMBER_BYTES.contains(&bytes.len()) || texts.all(|is| is));
    is_composite.then_some(parts)
}

fn collection(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    if NUMBER_BYTES.contains(&bytes.len()) {
        return None;
    }
    let with_count = [(4, 1), (4, 2), (2, 1), (2, 2)].into_iter();
    with_count.clone().find_map(|(size, each)| counted(bytes, size, each)).or_else(|| tuple(bytes))
}

/// Divides a count and `each` parts per element, with lengths of `size` bytes.
fn counted(bytes: &[u8], size: usize, each: usize) -> Option<Vec<Range<usize>>> {
    let mut cut = Cut { bytes, at: 0 };
    let count = cut.length(size)?.checked_mul(each)?;
    if count == 0 || count > bytes.len() {
        return None;
    }
    let mut parts = Vec::new();
    for _ in 0..count {
        let length = cut.length(size)?;
        parts.push(cut.part(length)?);
    }
    cut.is_at_end().then_some(parts)
}

fn tuple(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut cut = Cut { bytes, at: 0 };
    let mut parts = Vec::new();
    while !cut.is_at_end() {
        if bytes.get(cut.at..cut.at + 4) == Some(&[0xff; 4]) {
            cut.at += 4;
            continue;
        }
        let length = cut.length(4)?;
        parts.push(cut.part(length)?);
    }
    (parts.len() > 1).then_some(parts)
}

/// Takes lengths and parts.
struct Cut<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cut<'_> {
    fn length(&mut self, size: usize) -> Option<usize> {
        let place = self.part(size)?;
        let number =
            self.bytes.get(place)?.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        Some(number)
    }

    fn part(&mut self, length: usize) -> Option<Range<usize>> {
        let part = self.at..self.at.checked_add(length)?;
        self.bytes.get(part.clone())?;
        self.at = part.end;
        Some(part)
    }

    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(bytes: &[u8]) -> Vec<&[u8]> {
        parts(bytes).into_iter().map(|part| &bytes[part]).collect()
    }

    #[test]
    fn structures_are_divided() {
        assert_eq!(texts(b"\0\x03bob\0\0\x04\0\0\0\x05\0"), [&b"bob"[..], b"\0\0\0\x05"]);
        assert_eq!(texts(b"\xff\xff\0\x03bob\0"), [b"bob"]);
        assert_eq!(texts(b"\0\x05hello\0"), [b"hello"], "8 bytes");
        assert_eq!(texts(b"\0\x05hello\x01\0\0\x01"), [&b"hello"[..], b""]);
        assert_eq!(texts(b"\0\0\0\x02\0\0\0\x01a\0\0\0\x02bc"), [&b"a"[..], b"bc"]);
        assert_eq!(texts(b"\0\x01\0\x01k\0\x02vw"), [&b"k"[..], b"vw"]);
        assert_eq!(texts(b"\0\0\0\x03bob\0\0\0\x04\0\0\0\x05\xff\xff\xff\xff"), [&b"bob"[..], b"\0\0\0\x05"]);
    }

    #[test]
    fn numbers_and_texts_are_wholes() {
        for bytes in
            [&b"text"[..], b"", b"\0\0\0\x01", b"\0\x01\x05\0", b"\0\0\0\0\0\0\0\x01", b"\0\0\0\0\0\x01\x02"]
        {
            assert_eq!(texts(bytes), [bytes]);
        }
    }

    proptest! {
        #[test]
        fn parts_follow_each_other(bytes in prop::collection::vec(0_u8..6, 0..40)) {
            let mut end = 0;
            for part in parts(&bytes) {
                prop_assert!(part.start >= end && part.end <= bytes.len());
                end = part.end;
            }
        }
    }
}
