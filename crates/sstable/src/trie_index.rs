//! The Partitions component of 5.0 (BTI), which takes the place of the Index component: a trie of the beginnings of row keys,
//! with their tokens in front, in the order of the rows.
//!
//! ```text
//!   file     nodes | .. | first key | last key | position of the first key (8) | number of rows (8) | position of the root (8)
//!   node     type (4 bits) | size of its payload (4 bits) | transitions | distances to the children | payload
//!   payload  a byte of the key's hash | position in the Rows component, or the complement of a position in the Data file
//!   Rows     key | position in the Data file | ..                        for rows that have an index of their own
//! ```
//!
//! Children are in front of their parents. Keys are not stored as a whole, and so only the positions of rows are compared. The
//! file has no checksum; damage never leads in a circle, because distances are not zero.

use std::path::Path;

use bytes::Bytes;

use super::error::SstableError;
use super::input::Input;

/// Bytes of the three numbers at the end.
const FOOTER_BYTES: u64 = 24;

/// Bits of the distance to a child, by the type of the node.
const DISTANCE_BITS: [u32; 16] = [0, 4, 8, 12, 16, 8, 12, 16, 24, 40, 12, 16, 24, 32, 40, 64];

/// Types of nodes: with one child (and no payload, if the type is odd), with some, and with a range of transitions.
const ONE_CHILD: std::ops::RangeInclusive<u8> = 1..=4;
const SOME_CHILDREN: std::ops::RangeInclusive<u8> = 5..=9;

/// The size of a payload from which on a byte of the hash is in front of it.
const WITH_HASH: u8 = 8;

/// Deepest path: a token and the longest key, whose zeros take two bytes.
const DEPTH_MAX: usize = 140_000;

/// Reads the positions of rows in their order.
#[derive(Debug)]
pub(super) struct TrieIndex {
    partitions: Input,
    rows: Option<Input>,
    root: u64,
    /// The number of rows.
    count: u64,
    next: TriePlace,
    /// The place before the last one.
    before: TriePlace,
}

/// A place between two rows.
#[derive(Debug, Clone)]
struct TriePlace {
    /// The number of rows before it.
    number: u64,
    /// The position of the row before it, if there is one.
    last: Option<u64>,
    /// The nodes that follow, by their depth: the next one last.
    nodes: Vec<Vec<u64>>,
}

impl TriePlace {
    fn first(root: u64) -> TriePlace {
        TriePlace { number: 0, last: None, nodes: vec![vec![root]] }
    }
}

/// A node.
struct TrieNode {
    /// The positions of the children, in their order.
    children: Vec<u64>,
    /// The number in its payload.
    payload: Option<i64>,
}

impl TrieIndex {
    /// Opens the Partitions component, and the Rows component if there is one.
    pub(crate) fn open(partitions: &Path, rows: &Path) -> Result<TrieIndex, SstableError> {
        let mut partitions = Input::of_file(partitions)?;
        let footer = partitions.length().checked_sub(FOOTER_BYTES);
        partitions.seek(footer.ok_or_else(|| partitions.damaged("it is too short"))?)?;
        partitions.u64()?;
        let (count, root) = (partitions.u64()?, partitions.u64()?);
        let next = TriePlace::first(root);
        let rows = if rows.is_file() { Some(Input::of_file(rows)?) } else { None };
        Ok(TrieIndex { partitions, rows, root, count, before: next.clone(), next })
    }

    /// Returns the number of rows before the next one.
    pub(crate) fn place(&self) -> u64 {
        self.next.number
    }

    /// Goes back to a place. The last one that was left is remembered.
    pub(crate) fn go_to(&mut self, place: u64) -> Result<(), SstableError> {
        if place == self.next.number {
            return Ok(());
        }
        if place == self.before.number {
            self.next = self.before.clone();
            return Ok(());
        }
        self.next = TriePlace::first(self.root);
        while self.next.number < place && self.next_position()?.is_some() {}
        Ok(())
    }

    /// Returns the position of the next row in the Data file, and its key if the Rows component has it. `None` at the end.
    pub(crate) fn next_position(&mut self) -> Result<Option<(Option<Bytes>, u64)>, SstableError> {
        self.before = self.next.clone();
        while let Some(level) = self.next.nodes.last_mut() {
            let Some(at) = level.pop() else {
                self.next.nodes.pop();
                continue;
            };
            let TrieNode { mut children, payload } = self.read_node(at)?;
            if children.is_empty() && payload.is_none() || self.next.nodes.len() > DEPTH_MAX {
                return Err(self.partitions.damaged("a node that leads to no row"));
            }
            children.reverse();
            self.next.nodes.push(children);
            if let Some(position) = payload {
                self.next.number += 1;
                if self.next.number > self.count {
                    return Err(self
                        .partitions
                        .damaged(format!("it has more rows than the {} at its end", self.count)));
                }
                let (key, position) = self.position_of(position)?;
                // Rows follow each other. So the same nodes are never read again and again.
                if self.next.last.is_some_and(|last| last >= position) {
                    return Err(self
                        .partitions
                        .damaged(format!("the row at byte {position} is not behind the others")));
                }
                self.next.last = Some(position);
                return Ok(Some((key, position)));
            }
        }
        if self.next.number != self.count {
            let why = format!("it has {} rows, and {} by its end", self.next.number, self.count);
            return Err(self.partitions.damaged(why));
        }
        Ok(None)
    }

    fn position_of(&mut self, payload: i64) -> Result<(Option<Bytes>, u64), SstableError> {
        if payload < 0 {
            return Ok((None, (!payload).unsigned_abs()));
        }
        let rows = self.rows.as_mut();
        let rows = rows.ok_or_else(|| self.partitions.damaged("a row in a Rows file, which is missing"))?;
        rows.seek(payload.unsigned_abs())?;
        Ok((Some(rows.short_bytes()?), rows.vint()?))
    }

    fn read_node(&mut self, at: u64) -> Result<TrieNode, SstableError> {
        let input = &mut self.partitions;
        input.seek(at)?;
        let head = input.u8()?;
        let (kind, low) = (head >> 4, head & 0x0F);
        let bits = DISTANCE_BITS.get(usize::from(kind)).copied().unwrap_or_default();
        let mut payload_size = low;
        let distances = if kind == 0 {
            Vec::new()
        } else if ONE_CHILD.contains(&kind) && kind % 2 == 1 {
            payload_size = 0;
            // Four bits are in the first byte, and eight may follow.
            vec![if bits == 4 { u64::from(low) } else { u64::from(low) << 8 | u64::from(input.u8()?) }]
        } else if ONE_CHILD.contains(&kind) {
            input.u8()?;
            read_numbers(input, 1, bits)?
        } else {
            let first = u64::from(input.u8()?);
            let count = if SOME_CHILDREN.contains(&kind) {
                input.skip(first)?;
                first
            } else {
                u64::from(input.u8()?) + 1
            };
            read_numbers(input, count, bits)?
        };
        // A range has zeros for transitions that are not there.
        let mut children = Vec::with_capacity(distances.len());
        for distance in distances.into_iter().filter(|distance| *distance > 0) {
            let child = at.checked_sub(distance);
            children.push(child.ok_or_else(|| input.damaged("a node before the beginning of the file"))?);
        }
        if payload_size == 0 {
            return Ok(TrieNode { children, payload: None });
        }
        let mut size = payload_size;
        if payload_size >= WITH_HASH {
            input.u8()?;
            size = payload_size - WITH_HASH + 1;
        }
        let number = input.bytes(u64::from(size))?;
        let sign = if number.first().is_some_and(|first| first & 0x80 != 0) { -1 } else { 0 };
        let payload = number.iter().fold(sign, |number: i64, byte| number << 8 | i64::from(*byte));
        Ok(TrieNode { children, payload: Some(payload) })
    }
}

/// Reads numbers of so many bits each, which end with a whole byte.
fn read_numbers(input: &mut Input, count: u64, bits: u32) -> Result<Vec<u64>, SstableError> {
    let bytes = input.bytes((count * u64::from(bits)).div_ceil(8))?;
    let mut numbers = Vec::new();
    for from in (0..count).map(|at| at * u64::from(bits)) {
        let mut number = 0;
        for at in from..from + u64::from(bits) {
            let byte = usize::try_from(at / 8).ok().and_then(|at| bytes.get(at)).copied().unwrap_or_default();
            number = number << 1 | u64::from(byte >> (7 - at % 8) & 1);
        }
        numbers.push(number);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions of a file with these nodes.
    fn positions(nodes: &[u8], count: u64, root: u64) -> Result<Vec<u64>, SstableError> {
        let folder = tempfile::tempdir().unwrap();
        let (path, rows) = (folder.path().join("Partitions.db"), folder.path().join("Rows.db"));
        let footer = [0, count, root].map(u64::to_be_bytes).concat();
        std::fs::write(&path, [nodes, &footer].concat()).unwrap();
        let mut index = TrieIndex::open(&path, &rows)?;
        let mut found = Vec::new();
        while let Some((_, position)) = index.next_position()? {
            let (place, before) = (index.place(), index.place() - 1);
            index.go_to(before)?;
            assert_eq!(index.next_position()?, Some((None, position)));
            assert_eq!(index.place(), place);
            found.push(position);
        }
        index.go_to(0)?;
        assert_eq!(index.next_position()?.map(|(_, position)| position), found.first().copied());
        Ok(found)
    }

    #[test]
    fn nodes_of_all_types_are_read_and_cuts_refused() {
        // Two leaves at 0 and 3, with a byte of the hash and positions of one and two bytes.
        let leaves = [&[0x08, 0x99, !5][..], &[0x09, 0x99, !1, !44]].concat();
        let parents: [(&[u8], &[u64]); 9] = [
            (&[0x17, b'a'], &[5]),
            (&[0x20, b'a', 4], &[300]),
            (&[0x30, 7, b'a'], &[5]),
            (&[0x40, b'a', 0, 4], &[300]),
            (&[0x50, 2, b'a', b'b', 7, 4], &[5, 300]),
            (&[0x60, 2, b'a', b'b', 0, 0x70, 0x04], &[5, 300]),
            (&[0xA0, b'a', 2, 0, 0x70, 0, 0, 0x40], &[5, 300]),
            (&[0xB0, b'a', 1, 0, 7, 0, 4], &[5, 300]),
            (&[0xF0, b'a', 0, 0, 0, 0, 0, 0, 0, 0, 4], &[300]),
        ];
        for (parent, expected) in parents {
            let nodes = [&leaves[..], parent].concat();
            let count = expected.len() as u64;
            assert_eq!(positions(&nodes, count, 7).unwrap(), expected, "{parent:?}");
            positions(&nodes, count + 1, 7).expect_err("fewer rows");
            positions(&nodes, count - 1, 7).expect_err("more rows");
            positions(&nodes, count, nodes.len() as u64 + 24).expect_err("no root");
        }
        for wrong in [&[0x00][..], &[0x1F, b'a'], &[0x10, b'a'], &[0x03, 0, 0, 9]] {
            positions(wrong, 1, 0).expect_err("no row, or a Rows file that is missing");
        }
    }
}
