//! Hashes of names that keep their order.
//!
//! All names are needed before the first hash. They form a tree, and the branches of each node get other bytes of the same
//! alphabets, in the same order:
//!
//! ```text
//!   ant, art, bee        a -> f    n -> c   t -> w      fcw
//!                                  r -> o   t -> d      fod
//!                        b -> q    e -> e   e -> z      qez
//! ```
//!
//! Where names use all bytes of an alphabet, they stay as they are: dense names reveal themselves by their order. The
//! order is the order of bytes, which is also the order of texts, and of numbers with equal signs; UUIDs of version 1
//! keep the order of their times.

use std::collections::{BTreeSet, HashMap};

use super::alphabets::{Alphabet, Class, alphabets};
use super::key::RedactionKey;

/// The most memory of the names, in bytes.
const NAMES_BYTES_MAX: usize = 256 << 20;

/// The memory of a name in addition to its bytes.
const NAME_BYTES: usize = 64;

/// The places of a UUID's bytes in the order of its time.
const TIME_FIRST: [usize; 16] = [6, 7, 4, 5, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15];

/// Collects names.
#[derive(Debug, Default)]
pub(super) struct NameOrder {
    names: BTreeSet<(Class, Vec<u8>)>,
    bytes: usize,
}

/// The hashes of all names.
#[derive(Debug)]
pub(super) struct OrderedNames {
    hashes: HashMap<Vec<u8>, Vec<u8>>,
}

impl OrderedNames {
    pub(super) fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.hashes.get(name).map(|hash| &hash[..])
    }
}

impl NameOrder {
    pub(super) fn add(&mut self, name: &[u8]) {
        let class = Class::of(name);
        let entry = (class, sortable(name, class));
        if self.bytes <= NAMES_BYTES_MAX && !self.names.contains(&entry) {
            self.bytes += name.len() + NAME_BYTES;
            self.names.insert(entry);
        }
    }

    pub(super) fn finish(self, key: &RedactionKey) -> Result<OrderedNames, String> {
        if self.bytes > NAMES_BYTES_MAX {
            let limit = NAMES_BYTES_MAX >> 20;
            return Err(format!(
                "the order cannot be kept: the recording's names exceed {limit} MB of memory"
            ));
        }
        let mut hashes = HashMap::new();
        for class in [Class::Text, Class::Uuid, Class::Number] {
            let of_class = self.names.iter().filter(|(of, _)| *of == class);
            let names: Vec<Name<'_>> = of_class.map(|(_, bytes)| Name::new(bytes, class)).collect();
            let tree = NameTree { key, class };
            tree.assign_all(&names, &mut hashes);
        }
        Ok(OrderedNames { hashes })
    }
}

fn sortable(name: &[u8], class: Class) -> Vec<u8> {
    match class {
        Class::Uuid => TIME_FIRST.iter().filter_map(|at| name.get(*at)).copied().collect(),
        _ => name.to_vec(),
    }
}

/// Undoes `sortable`.
fn restored(sortable: &[u8], class: Class) -> Vec<u8> {
    let mut name = sortable.to_vec();
    if class == Class::Uuid {
        for (byte, at) in sortable.iter().zip(TIME_FIRST) {
            if let Some(place) = name.get_mut(at) {
                *place = *byte;
            }
        }
    }
    name
}

/// A name with the alphabets of its bytes.
struct Name<'a> {
    bytes: &'a [u8],
    alphabets: Vec<Alphabet>,
}

impl<'a> Name<'a> {
    fn new(bytes: &'a [u8], class: Class) -> Name<'a> {
        let original = restored(bytes, class);
        let alphabets = alphabets(&original, class);
        let alphabets = match class {
            Class::Uuid => TIME_FIRST.iter().filter_map(|at| alphabets.get(*at)).copied().collect(),
            _ => alphabets,
        };
        Name { bytes, alphabets }
    }
}

struct NameTree<'k> {
    key: &'k RedactionKey,
    class: Class,
}

/// The way from the root to a node.
struct NamePath {
    /// The new bytes.
    hash: Vec<u8>,
    /// Depends on all bytes of `hash`: to hash these again at each node would take a time that grows with the square of
    /// a name's length.
    state: u64,
}

impl NameTree<'_> {
    fn assign_all(&self, names: &[Name<'_>], hashes: &mut HashMap<Vec<u8>, Vec<u8>>) {
        self.assign(names, &mut NamePath { hash: Vec::new(), state: 0 }, hashes);
    }

    /// Assigns hashes to sorted names that all begin with the bytes of a path. A name may be longer than a stack is deep,
    /// so names without branches are followed in a loop.
    fn assign(&self, mut names: &[Name<'_>], path: &mut NamePath, hashes: &mut HashMap<Vec<u8>, Vec<u8>>) {
        let (start, state) = (path.hash.len(), path.state);
        loop {
            let depth = path.hash.len();
            if let Some((name, rest)) = names.split_first()
                && name.bytes.len() == depth
            {
                hashes.insert(restored(name.bytes, self.class), restored(&path.hash, self.class));
                names = rest;
            }
            let branches: Vec<&[Name<'_>]> =
                names.chunk_by(|one, other| one.bytes.get(depth) == other.bytes.get(depth)).collect();
            let bytes = self.bytes_of(&branches, path);
            match (branches.as_slice(), bytes.as_slice()) {
                ([_], [byte]) => self.push(path, *byte),
                (branches, bytes) => {
                    for (branch, byte) in branches.iter().zip(bytes) {
                        let state = path.state;
                        self.push(path, *byte);
                        self.assign(branch, path, hashes);
                        path.hash.pop();
                        path.state = state;
                    }
                    break;
                }
            }
        }
        path.hash.truncate(start);
        path.state = state;
    }

    fn push(&self, path: &mut NamePath, byte: u8) {
        path.hash.push(byte);
        path.state = self.key.bits(path.state, &[byte]);
    }

    /// Returns the new bytes of the branches of a node.
    fn bytes_of(&self, branches: &[&[Name<'_>]], path: &NamePath) -> Vec<u8> {
        let depth = path.hash.len();
        let alphabet =
            |branch: &&[Name<'_>]| branch.first().and_then(|name| name.alphabets.get(depth)).copied();
        let alphabets: Vec<Alphabet> = branches.iter().filter_map(alphabet).collect();
        let of_one = alphabets.chunk_by(|one, other| one == other);
        of_one.flat_map(|same| self.chosen(same.len() as u64, same.first().copied(), path.state)).collect()
    }

    /// Chooses `count` bytes of an alphabet, in their order; each choice is as likely.
    fn chosen(&self, count: u64, alphabet: Option<Alphabet>, state: u64) -> Vec<u8> {
        let Some(alphabet) = alphabet else { return Vec::new() };
        let size = u64::from(alphabet.size);
        let mut left = count;
        let is_chosen = |place: &u64| {
            let bits = self.key.bits(state, &[alphabet.nth(*place), alphabet.first]);
            let is_chosen = bits % (size - place) < left;
            left -= u64::from(is_chosen);
            is_chosen
        };
        (0..size).filter(is_chosen).map(|place| alphabet.nth(place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ordered(names: &[Vec<u8>]) -> OrderedNames {
        let mut order = NameOrder::default();
        names.iter().for_each(|name| order.add(name));
        order.finish(&RedactionKey::of_secret(b"order")).unwrap()
    }

    #[test]
    fn names_of_a_tree_keep_their_order_and_prefixes() {
        let names: Vec<Vec<u8>> = ["a", "ab", "abc", "ant", "art", "bee", "z9"]
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let ordered = ordered(&names);
        let hashes: Vec<&[u8]> = names.iter().map(|name| ordered.get(name).unwrap()).collect();
        assert!(hashes.is_sorted(), "{hashes:?}");
        assert!(hashes[1].starts_with(hashes[0]));
        assert_ne!(hashes[5], b"bee");
        assert_eq!(ordered.get(b"unknown"), None);
    }

    #[test]
    fn uuids_keep_the_order_of_their_times() {
        let uuid = |time: u32, high: u16| {
            let mut bytes = [7; 16];
            bytes[..4].copy_from_slice(&time.to_be_bytes());
            bytes[4..6].copy_from_slice(&high.to_be_bytes());
            (bytes[6], bytes[7], bytes[8]) = (0x11, 0xe3, 0x80);
            bytes.to_vec()
        };
        let times = [uuid(9, 1), uuid(2, 2), uuid(3, 2), uuid(1, 5)];
        let ordered = ordered(&times);
        let hashes: Vec<Vec<u8>> =
            times.iter().map(|time| sortable(ordered.get(time).unwrap(), Class::Uuid)).collect();
        assert!(hashes.is_sorted());
        assert!(hashes.iter().all(|hash| hash[0] >> 4 == 1));
    }

    #[test]
    fn a_long_name_needs_no_stack() {
        let names = vec![vec![b'a'; 60_000], vec![b'a'; 60_001]];
        assert_eq!(ordered(&names).get(&names[1]).map(<[u8]>::len), Some(60_001));
    }

    proptest! {
        #[test]
        fn names_of_a_class_keep_their_order(names in prop::collection::vec("[a-zA-Z0-9 é]{0,5}", 1..40)) {
            let mut names: Vec<Vec<u8>> = names.into_iter().map(String::into_bytes).collect();
            let ordered = ordered(&names);
            names.sort();
            names.dedup();
            let hashes: Vec<&[u8]> = names.iter().map(|name| ordered.get(name).unwrap()).collect();
            prop_assert!(hashes.is_sorted());
            prop_assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
            prop_assert!(names.iter().zip(&hashes).all(|(name, hash)| name.len() == hash.len()));
        }
    }
}
