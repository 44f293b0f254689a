//! Hashes of bytes without structure.
//!
//! A hash of up to 24 bytes is a permutation of all bytes with its alphabets: each step moves one byte within its
//! alphabet by a distance that depends on the key and on all other bytes, so it can be undone, and different bytes become
//! different hashes.
//!
//! ```text
//!   bob7   move b by f(.ob7): xob7   move o by f(x.b7): xqb7   ..   and all of them a second time
//! ```
//!
//! Longer bytes are moved by distances that depend on the whole.

use uuid::Uuid;

use super::alphabets::{Alphabet, Class, alphabets, sign_bytes};
use super::key::RedactionKey;

/// Longer bytes would need a time that grows with the square of their length.
const PERMUTED_BYTES_MAX: usize = 24;

const ROUNDS: u64 = 2;

/// Returns the hash of bytes that are one value.
pub(super) fn hash(bytes: &[u8], key: &RedactionKey) -> Vec<u8> {
    if let Some(uuid) = uuid_of_text(bytes) {
        let hash = hash(uuid.as_bytes(), key);
        return Uuid::from_slice(&hash).map_or(hash, |uuid| uuid.hyphenated().to_string().into_bytes());
    }
    hash_of_class(bytes, Class::of(bytes), key)
}

/// Returns the hash of a text, which is a text also if it has control characters.
pub(super) fn hash_of_text(text: &str, key: &RedactionKey) -> String {
    let hash = match uuid_of_text(text.as_bytes()) {
        Some(_) => hash(text.as_bytes(), key),
        None => hash_of_class(text.as_bytes(), Class::Text, key),
    };
    String::from_utf8_lossy(&hash).into_owned()
}

fn hash_of_class(bytes: &[u8], class: Class, key: &RedactionKey) -> Vec<u8> {
    let alphabets = alphabets(bytes, class);
    let sign = if class == Class::Number { sign_bytes(bytes) } else { 0 };
    let (sign, rest) = bytes.split_at(sign);
    let alphabets = alphabets.get(sign.len()..).unwrap_or_default();
    let mut out = sign.to_vec();
    out.extend(if rest.len() <= PERMUTED_BYTES_MAX {
        permuted(rest, alphabets, key)
    } else {
        moved(rest, alphabets, key)
    });
    out
}

/// Returns a hash of bytes that nobody decodes, such as the state of a page.
pub(super) fn opaque(bytes: &[u8], key: &RedactionKey) -> Vec<u8> {
    let any = Alphabet { first: 0, size: 256 };
    moved(bytes, &vec![any; bytes.len()], key)
}

/// Returns a UUID that is written as text, in lower case.
fn uuid_of_text(bytes: &[u8]) -> Option<Uuid> {
    let text = str::from_utf8(bytes).ok().filter(|text| text.len() == 36)?;
    let uuid = Uuid::try_parse(text).ok()?;
    (uuid.hyphenated().to_string() == text && Class::of(uuid.as_bytes()) == Class::Uuid).then_some(uuid)
}

fn permuted(bytes: &[u8], alphabets: &[Alphabet], key: &RedactionKey) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for step in 0..ROUNDS * bytes.len() as u64 {
        let at = step as usize % bytes.len();
        let (Some(alphabet), Some(byte)) = (alphabets.get(at), out.get_mut(at)) else { continue };
        let before = std::mem::take(byte);
        let bits = key.bits(step, &out);
        if let Some(byte) = out.get_mut(at) {
            *byte = alphabet.moved(before, bits);
        }
    }
    out
}

fn moved(bytes: &[u8], alphabets: &[Alphabet], key: &RedactionKey) -> Vec<u8> {
    let whole = key.bits(u64::MAX, bytes).to_be_bytes();
    let each = bytes.iter().zip(alphabets).enumerate();
    each.map(|(at, (byte, alphabet))| alphabet.moved(*byte, key.bits(at as u64, &whole))).collect()
}

impl Alphabet {
    /// Returns the byte that is a number of places behind `byte`; behind the last comes the first.
    fn moved(self, byte: u8, places: u64) -> u8 {
        let size = u64::from(self.size);
        match u64::from(byte).checked_sub(self.first.into()).filter(|place| *place < size) {
            Some(place) => self.nth((place + places % size) % size),
            None => byte,
        }
    }

    /// Returns a byte of the alphabet by its place.
    pub(super) fn nth(self, place: u64) -> u8 {
        u8::try_from(u64::from(self.first) + place).unwrap_or(self.first)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn key() -> RedactionKey {
        RedactionKey::of_secret(b"of these tests")
    }

    #[test]
    fn the_class_stays() {
        for text in ["Hello, World 42", "größe", "日本語", "😀 x", "a\nb"] {
            let hash = String::from_utf8(hash(text.as_bytes(), &key())).unwrap();
            assert_ne!(hash, text);
            let classes = |text: &str| -> Vec<(bool, bool, bool)> {
                text.chars().map(|c| (c.is_ascii_lowercase(), c.is_ascii_digit(), c.is_ascii())).collect()
            };
            assert_eq!(classes(&hash), classes(text), "{text} {hash}");
        }
        let uuid = Uuid::try_parse("02a5b7c0-49bc-11e3-8b3d-0800200c9a66").unwrap();
        let hash_of_uuid = Uuid::from_slice(&hash(uuid.as_bytes(), &key())).unwrap();
        assert_eq!(hash_of_uuid.get_version_num(), 1);
        assert_ne!(hash_of_uuid, uuid);
        assert_eq!(hash(uuid.to_string().as_bytes(), &key()), hash_of_uuid.to_string().as_bytes());
    }

    #[test]
    fn a_number_has_one_hash_in_all_lengths() {
        for number in [1, 5, 300, 70_000, 1 << 30, -1, -2, -300, i32::MIN, i32::MAX] {
            let short = i32::from_be_bytes(hash(&number.to_be_bytes(), &key()).try_into().unwrap());
            let long = hash(&i64::from(number).to_be_bytes(), &key());
            let long = i64::from_be_bytes(long.try_into().unwrap());
            assert_eq!(i64::from(short), long, "{number}");
            assert_eq!(short.signum(), number.signum(), "{number}");
        }
        for kept in [&[0][..], &[1], &[0; 8], b""] {
            assert_eq!(hash(kept, &key()), kept);
        }
    }

    #[test]
    fn no_two_short_values_have_the_same_hash() {
        let hashes: HashSet<Vec<u8>> =
            (0..70_000_u32).map(|number| hash(&number.to_be_bytes(), &key())).collect();
        assert_eq!(hashes.len(), 70_000);
        let names: HashSet<Vec<u8>> =
            (0..10_000).map(|number| hash(format!("{number:04}").as_bytes(), &key())).collect();
        assert_eq!(names.len(), 10_000);
    }

    #[test]
    fn another_key_has_other_hashes() {
        let other = RedactionKey::of_secret(b"another");
        assert_ne!(hash(b"user", &key()), hash(b"user", &other));
        assert_ne!(key().fingerprint(), other.fingerprint());
        assert_ne!(RedactionKey::random().fingerprint(), RedactionKey::random().fingerprint());
    }

    proptest! {
        #[test]
        fn a_hash_has_the_length_of_its_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert_eq!(hash(&bytes, &key()).len(), bytes.len());
            prop_assert_eq!(hash(&bytes, &key()), hash(&bytes, &key()));
            prop_assert_eq!(opaque(&bytes, &key()).len(), bytes.len());
        }

        #[test]
        fn the_hash_of_text_is_text(text in "\\PC{0,40}") {
            let hash = hash(text.as_bytes(), &key());
            prop_assert_eq!(Class::of(&hash), Class::of(text.as_bytes()));
        }
    }
}
