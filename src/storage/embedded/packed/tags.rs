//! A byte of each key's hash, in the order of the keys.
//!
//! A search in the order of keys goes to several places of a row, each of which may be far away. The tags of a row are
//! a line of memory or a few and lead to the key at once, if it is there.

use smallvec::SmallVec;

/// Entries up to which a search goes by tags: with more of them too many keys share one.
const COUNT_MAX: usize = 256;
/// Keys with the tag that are looked at before a search goes by order. Who chooses keys can have all share one.
const ALIKE_MAX: usize = 8;

/// Tags that lie beside the row, and not in memory of their own.
const NEAR: usize = 64;

/// The tags of a row's keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(SmallVec<[u8; NEAR]>);

/// The tag of a key, which begins with these bytes.
fn tag_of(head: u128, key: &[u8]) -> u8 {
    let end = key.last_chunk().map_or(0, |end| u128::from_ne_bytes(*end));
    let mixed = head ^ end.rotate_left(1);
    let folded = (mixed as u64) ^ ((mixed >> 64) as u64);
    // The upper bits of the product have something of all others.
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl Tags {
    /// Bytes that they take elsewhere, with the room that is kept.
    pub fn bytes(&self) -> usize {
        if self.0.spilled() { self.0.capacity() } else { 0 }
    }

    pub fn insert(&mut self, at: usize, head: u128, key: &[u8]) {
        self.0.insert(at, tag_of(head, key));
    }

    pub fn push(&mut self, head: u128, key: &[u8]) {
        self.0.push(tag_of(head, key));
    }

    pub fn remove(&mut self, at: usize) {
        self.0.remove(at);
    }

    /// Some places where a key may stand. If it stands at none of them, it may still stand elsewhere.
    pub fn places(&self, head: u128, key: &[u8]) -> impl Iterator<Item = usize> {
        let tags = if self.0.len() <= COUNT_MAX { &self.0[..] } else { &[] };
        memchr::memchr_iter(tag_of(head, key), tags).take(ALIKE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot::head_of;
    use super::*;

    #[test]
    fn keys_of_one_form_have_different_tags() {
        for form in ["column", "\u{1}c0000", "a name of more than sixteen bytes "] {
            let mut seen = std::collections::HashSet::new();
            for number in 0..256 {
                let key = format!("{form}{number:03}");
                seen.insert(tag_of(head_of(key.as_bytes()), key.as_bytes()));
            }
            // As many as a throw of 256 dice of 256 sides shows, at least.
            assert!(seen.len() > 140, "{form}: {}", seen.len());
        }
    }

    #[test]
    fn a_key_is_at_one_of_its_places() {
        let mut tags = Tags::default();
        let keys: Vec<String> = (0..200).map(|number| format!("key {number}")).collect();
        for key in &keys {
            tags.push(head_of(key.as_bytes()), key.as_bytes());
        }
        tags.remove(7);
        tags.insert(7, head_of(b"another"), b"another");
        for (at, key) in keys.iter().enumerate().filter(|(at, _)| *at != 7) {
            assert!(tags.places(head_of(key.as_bytes()), key.as_bytes()).any(|place| place == at), "{key}");
        }
        assert!(tags.places(head_of(b"another"), b"another").any(|place| place == 7));
    }
}
