//! The index of a block: its connections, methods and column families.
//!
//! ```text
//! index         u8 flags | connections | methods | column families
//! connections   count | first | differences
//! names         count | (length | name) ...
//! ```
//!
//! Flags 1, 2 and 4 mean that the list of connections, methods or column families is complete. A list that would be too
//! long is empty and not complete; then the block may have anything. Replies are listed with the method and column
//! families of their call. Flag 8 means that later blocks depend on this one: it has an `Opened` event or a prepared
//! statement.

use std::collections::BTreeSet;

use super::number::{put_bytes, put_number, take_byte, take_bytes, take_number};
use crate::limits::{RECORDING_INDEX_CONNECTIONS_MAX, RECORDING_INDEX_NAMES_MAX, RECORDING_NAME_BYTES_MAX};

/// The names that occur in a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockNames {
    names: BTreeSet<Vec<u8>>,
    is_incomplete: bool,
}

impl BlockNames {
    /// Adds a name. Too many or too long names make the list incomplete.
    pub fn add(&mut self, name: &[u8]) {
        if self.is_incomplete || self.names.contains(name) {
            return;
        }
        if self.names.len() >= RECORDING_INDEX_NAMES_MAX || name.len() > RECORDING_NAME_BYTES_MAX {
            return self.add_unknown();
        }
        self.names.insert(name.to_vec());
    }

    /// Records that a name is unknown: the block may have any name.
    pub fn add_unknown(&mut self) {
        self.is_incomplete = true;
        self.names = BTreeSet::new();
    }

    /// Returns whether the block may have the name.
    pub fn may_have(&self, name: &[u8]) -> bool {
        self.is_incomplete || self.names.contains(name)
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.names.len() as u64);
        self.names.iter().for_each(|name| put_bytes(out, name));
    }

    fn take(rest: &mut &[u8], is_complete: bool) -> Option<BlockNames> {
        let count = take_number(rest)?;
        let names: Option<BTreeSet<Vec<u8>>> =
            (0..count).map(|_| take_bytes(rest).map(<[u8]>::to_vec)).collect();
        Some(BlockNames { names: names?, is_incomplete: !is_complete })
    }
}

/// The contents of a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockIndex {
    connections: BTreeSet<u64>,
    has_other_connections: bool,
    /// The methods of its calls.
    pub methods: BlockNames,
    /// The column families of its calls.
    pub families: BlockNames,
    /// Whether later blocks depend on the block.
    pub is_needed: bool,
}

/// The flags of an index.
const HAS_ALL_CONNECTIONS: u8 = 1;
const HAS_ALL_METHODS: u8 = 2;
const HAS_ALL_FAMILIES: u8 = 4;
const IS_NEEDED: u8 = 8;

impl BlockIndex {
    /// Adds a connection.
    pub fn add_connection(&mut self, connection: u64) {
        if self.connections.len() < RECORDING_INDEX_CONNECTIONS_MAX {
            self.connections.insert(connection);
        } else if !self.connections.contains(&connection) {
            self.has_other_connections = true;
        }
    }

    /// Returns whether the block may have events of the connection.
    pub fn may_have_connection(&self, connection: u64) -> bool {
        self.has_other_connections || self.connections.contains(&connection)
    }

    /// Returns the bytes of the index.
    pub fn encode(&self) -> Vec<u8> {
        let flags = [
            (HAS_ALL_CONNECTIONS, !self.has_other_connections),
            (HAS_ALL_METHODS, !self.methods.is_incomplete),
            (HAS_ALL_FAMILIES, !self.families.is_incomplete),
            (IS_NEEDED, self.is_needed),
        ];
        let set = flags.iter().filter(|(_, is_set)| *is_set);
        let mut out = vec![set.fold(0, |flags, (flag, _)| flags | flag)];
        let connections = self.connections.iter().filter(|_| !self.has_other_connections);
        put_number(&mut out, connections.clone().count() as u64);
        let mut before = 0;
        for connection in connections {
            put_number(&mut out, connection - before);
            before = *connection;
        }
        self.methods.put(&mut out);
        self.families.put(&mut out);
        out
    }

    /// Returns the index; `None` if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<BlockIndex> {
        let rest = &mut &bytes[..];
        let flags = take_byte(rest)?;
        let mut before = 0u64;
        let count = take_number(rest)?;
        let connections: Option<BTreeSet<u64>> = (0..count)
            .map(|_| {
                before = before.checked_add(take_number(rest)?)?;
                Some(before)
            })
            .collect();
        let index = BlockIndex {
            connections: connections?,
            has_other_connections: flags & HAS_ALL_CONNECTIONS == 0,
            methods: BlockNames::take(rest, flags & HAS_ALL_METHODS != 0)?,
            families: BlockNames::take(rest, flags & HAS_ALL_FAMILIES != 0)?,
            is_needed: flags & IS_NEEDED != 0,
        };
        rest.is_empty().then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_round_trips() {
        let mut index = BlockIndex::default();
        assert_eq!(BlockIndex::decode(&index.encode()), Some(index.clone()));
        for connection in [9, 3, u64::MAX, 3] {
            index.add_connection(connection);
        }
        index.methods.add(b"get_slice");
        index.methods.add(b"insert");
        index.families.add(b"Posts");
        let read = BlockIndex::decode(&index.encode()).unwrap();
        assert_eq!(read, index);
        assert!(read.may_have_connection(3) && !read.may_have_connection(4));
        assert!(read.methods.may_have(b"insert") && !read.methods.may_have(b"remove"));
    }

    #[test]
    fn long_lists_are_incomplete() {
        let mut index = BlockIndex::default();
        for connection in 0..=RECORDING_INDEX_CONNECTIONS_MAX as u64 {
            index.add_connection(connection);
        }
        index.methods.add(&[b'm'; RECORDING_NAME_BYTES_MAX + 1]);
        for family in 0..=RECORDING_INDEX_NAMES_MAX {
            index.families.add(family.to_string().as_bytes());
        }
        let read = BlockIndex::decode(&index.encode()).unwrap();
        assert!(read.may_have_connection(u64::MAX));
        assert!(read.methods.may_have(b"any") && read.families.may_have(b"any"));
        assert!(index.encode().len() < 10);
    }

    #[test]
    fn a_part_of_an_index_is_refused() {
        let mut index = BlockIndex::default();
        index.add_connection(300);
        index.methods.add(b"get");
        let encoded = index.encode();
        for end in 0..encoded.len() {
            assert_eq!(BlockIndex::decode(&encoded[..end]), None);
        }
        assert_eq!(BlockIndex::decode(&[7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), None);
    }
}
