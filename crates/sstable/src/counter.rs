//! Counters as files store them, and how two of them are merged.
//!
//! Each node counts its own increments in a shard. The value of a counter, its context, has the shards of all nodes:
//!
//! ```text
//!   context   number of header entries | header entries | shards
//!   entry     the position of a shard that is not remote, two bytes; 2.1 adds -32768 if it is global
//!   shard     node id (16 bytes) | clock (8) | count (8)
//! ```
//!
//! A remote shard is the total that the node had at a clock: the higher clock wins. Up to 2.0 the shards of the node
//! that wrote the file are local: each is an increment, and two of them add up. 2.1 writes global shards, which are
//! totals like remote ones and win over both other kinds. A local shard wins over a remote one.
//!
//! ```text
//!   table 1 of node A   A local  clock 2  count 5       table 1 of node B   A remote clock 3  count 9
//!   table 2 of node A   A local  clock 1  count 4
//!   merged              A local  clock 3  count 9       merged with node B  A clock 3  count 9
//! ```
//!
//! Local shards become remote ones once all tables of a node are merged (`CounterCell::settled`), before they are
//! merged with tables of other nodes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use bytes::Bytes;

use base::model::{Cell, CellKind};

/// The meaning of a shard's count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShardKind {
    /// The total of another node.
    Remote,
    /// An increment of the node that wrote the file (0.8 to 2.0).
    Local,
    /// The total of any node (2.1 and later).
    Global,
}

/// The count of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The meaning of the count.
    pub kind: ShardKind,
    /// The logical clock of the node.
    pub clock: i64,
    /// The count.
    pub count: i64,
}

impl Shard {
    /// Merges two shards of one node.
    #[must_use]
    fn merged(self, other: Shard) -> Shard {
        match (self.kind, other.kind) {
            (ShardKind::Local, ShardKind::Local) => Shard {
                kind: ShardKind::Local,
                clock: self.clock.wrapping_add(other.clock),
                count: self.count.wrapping_add(other.count),
            },
            (one, two) if one == two => {
                // Equal clocks with different counts should not exist. Cassandra takes the greater count.
                if (self.clock, self.count) >= (other.clock, other.count) { self } else { other }
            }
            (one, two) => {
                if one > two {
                    self
                } else {
                    other
                }
            }
        }
    }
}

/// A counter with its shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterCell {
    /// The name of the column.
    pub name: Bytes,
    /// The timestamp of the last increment.
    pub timestamp: i64,
    /// The timestamp of the last deletion that the counter has seen; `i64::MIN` if there was none.
    pub last_delete: i64,
    /// The shards, by the ids of nodes.
    pub shards: BTreeMap<[u8; 16], Shard>,
}

/// The state of one counter column in tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterState {
    /// The counter has a value.
    Live(CounterCell),
    /// The counter was deleted at this timestamp.
    Deleted {
        /// The timestamp of the deletion.
        timestamp: i64,
    },
}

impl CounterState {
    /// Merges two states of one counter. `deletions_are_final` in 2.1 and later: a deletion wins whatever its timestamp.
    #[must_use]
    pub fn merged(self, other: CounterState, deletions_are_final: bool) -> CounterState {
        match (self, other) {
            (CounterState::Live(one), CounterState::Live(other)) => CounterState::Live(one.merged(other)),
            (CounterState::Deleted { timestamp: one }, CounterState::Deleted { timestamp: other }) => {
                CounterState::Deleted { timestamp: one.max(other) }
            }
            (CounterState::Live(mut counter), CounterState::Deleted { timestamp })
            | (CounterState::Deleted { timestamp }, CounterState::Live(mut counter)) => {
                if deletions_are_final || counter.timestamp < timestamp {
                    return CounterState::Deleted { timestamp };
                }
                // Increments from before the deletion are in other tables: they do not count.
                counter.last_delete = counter.last_delete.max(timestamp);
                CounterState::Live(counter)
            }
        }
    }
}

/// Bytes of a shard.
const SHARD_BYTES: usize = 32;

/// Returns the shards of a counter context, or the reason why the bytes are not one.
pub(super) fn shards_of(context: &[u8]) -> Result<BTreeMap<[u8; 16], Shard>, String> {
    let length = || format!("a counter context of {} bytes", context.len());
    let (count, rest) = context.split_first_chunk::<2>().ok_or_else(length)?;
    let count = i16::from_be_bytes(*count);
    let header_bytes = 2 * usize::from(count.unsigned_abs());
    let (header, body) = rest.split_at_checked(header_bytes).ok_or_else(length)?;
    if !body.len().is_multiple_of(SHARD_BYTES) {
        return Err(length());
    }
    let mut kinds = vec![ShardKind::Remote; body.len() / SHARD_BYTES];
    for entry in header.chunks_exact(2) {
        let entry =
            i16::from_be_bytes([entry.first().copied().unwrap_or(0), entry.get(1).copied().unwrap_or(0)]);
        // A negative number of entries marks a context from another node, whose local shards are remote here.
        let (place, kind) = match entry {
            0.. if count < 0 => (entry, ShardKind::Remote),
            0.. => (entry, ShardKind::Local),
            _ => (entry.wrapping_sub(i16::MIN), ShardKind::Global),
        };
        let place = usize::try_from(place).ok().and_then(|place| kinds.get_mut(place));
        *place.ok_or_else(|| format!("the header entry {entry} of a counter context has no shard"))? = kind;
    }
    let mut shards = BTreeMap::new();
    for (shard, kind) in body.chunks_exact(SHARD_BYTES).zip(kinds) {
        let Some((id, numbers)) = shard.split_first_chunk::<16>() else { return Err(length()) };
        let Some((clock, numbers)) = numbers.split_first_chunk::<8>() else { return Err(length()) };
        let Some((count, _)) = numbers.split_first_chunk::<8>() else { return Err(length()) };
        let shard = Shard { kind, clock: i64::from_be_bytes(*clock), count: i64::from_be_bytes(*count) };
        add(&mut shards, *id, shard);
    }
    Ok(shards)
}

/// The node id under which this server writes the totals of counters.
const OWN_NODE: [u8; 16] = *b"\x5f\x1c\xa2\x80\x00\x00\x11\xf1thrifts\x00";

/// Returns the context of a counter whose total is known: one global shard, of a node that no cluster has. The clock is
/// the counter's timestamp, so the newer one of two such contexts counts.
pub(super) fn global_context(timestamp: i64, total: i64) -> Vec<u8> {
    let mut context = 1_i16.to_be_bytes().to_vec();
    context.extend(i16::MIN.to_be_bytes());
    context.extend(OWN_NODE);
    context.extend(timestamp.to_be_bytes());
    context.extend(total.to_be_bytes());
    context
}

fn add(shards: &mut BTreeMap<[u8; 16], Shard>, id: [u8; 16], shard: Shard) {
    match shards.entry(id) {
        Entry::Vacant(place) => {
            place.insert(shard);
        }
        Entry::Occupied(mut place) => {
            let merged = place.get().merged(shard);
            place.insert(merged);
        }
    }
}

impl CounterCell {
    /// Returns the value that clients see.
    pub fn total(&self) -> i64 {
        self.shards.values().fold(0, |total, shard| total.wrapping_add(shard.count))
    }

    /// Merges two states of one counter. A state that a deletion had ended before the other one began is dropped.
    #[must_use]
    pub fn merged(self, other: CounterCell) -> CounterCell {
        if self.timestamp < other.last_delete {
            return other;
        }
        if other.timestamp < self.last_delete {
            return self;
        }
        let mut shards = self.shards;
        for (id, shard) in other.shards {
            add(&mut shards, id, shard);
        }
        CounterCell {
            name: self.name,
            timestamp: self.timestamp.max(other.timestamp),
            last_delete: self.last_delete.max(other.last_delete),
            shards,
        }
    }

    /// Returns the counter after all tables of its node are merged: local shards are totals now.
    #[must_use]
    pub fn settled(mut self) -> CounterCell {
        for shard in self.shards.values_mut().filter(|shard| shard.kind == ShardKind::Local) {
            shard.kind = ShardKind::Remote;
        }
        self
    }

    /// Returns the counter as this server stores it: its total.
    pub fn to_cell(&self) -> Cell {
        let value = Bytes::copy_from_slice(&self.total().to_be_bytes());
        Cell { name: self.name.clone(), value, timestamp: self.timestamp, kind: CellKind::Counter }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn context(count: i16, header: &[i16], shards: &[(u8, i64, i64)]) -> Vec<u8> {
        let mut bytes = count.to_be_bytes().to_vec();
        header.iter().for_each(|entry| bytes.extend(entry.to_be_bytes()));
        for (id, clock, count) in shards {
            bytes.extend([*id; 16]);
            bytes.extend(clock.to_be_bytes());
            bytes.extend(count.to_be_bytes());
        }
        bytes
    }

    fn cell(context: &[u8], timestamp: i64, last_delete: i64) -> CounterCell {
        CounterCell { name: Bytes::new(), timestamp, last_delete, shards: shards_of(context).unwrap() }
    }

    #[test]
    fn shards_of_all_kinds_are_read() {
        let read = |bytes: &[u8], id: u8| *shards_of(bytes).unwrap().get(&[id; 16]).unwrap();
        let shard = |kind, clock, count| Shard { kind, clock, count };
        let bytes = context(2, &[1, i16::MIN + 2], &[(1, 1, 10), (2, 2, 20), (3, 3, 30)]);
        assert_eq!(read(&bytes, 1), shard(ShardKind::Remote, 1, 10));
        assert_eq!(read(&bytes, 2), shard(ShardKind::Local, 2, 20));
        assert_eq!(read(&bytes, 3), shard(ShardKind::Global, 3, 30));
        assert_eq!(read(&context(-1, &[0], &[(1, 1, 10)]), 1), shard(ShardKind::Remote, 1, 10));
        shards_of(&context(1, &[1], &[(1, 1, 10)])).expect_err("no such shard");
        for cut in 1..bytes.len() {
            let whole = (bytes.len() - cut).is_multiple_of(SHARD_BYTES);
            assert!(shards_of(&bytes[..cut]).is_err() || whole, "cut at {cut}");
        }
    }

    #[test]
    fn local_shards_add_up_and_totals_do_not() {
        let local = |clock, count| cell(&context(1, &[0], &[(1, clock, count)]), 1, i64::MIN);
        let remote = |clock, count| cell(&context(0, &[], &[(1, clock, count)]), 1, i64::MIN);
        let global = |clock, count| cell(&context(1, &[i16::MIN], &[(1, clock, count)]), 1, i64::MIN);
        assert_eq!(local(2, 5).merged(local(1, 4)).total(), 9);
        assert_eq!(remote(2, 5).merged(remote(1, 9)).total(), 5);
        assert_eq!(local(1, 4).merged(remote(9, 100)).total(), 4);
        assert_eq!(global(1, 7).merged(local(9, 100)).total(), 7);
        assert_eq!(global(1, 7).merged(global(2, 8)).total(), 8);
        assert_eq!(local(2, 5).merged(local(1, 4)).settled().merged(remote(2, 8)).total(), 9);
    }

    #[test]
    fn a_counter_that_was_deleted_before_is_dropped() {
        let old = cell(&context(1, &[0], &[(1, 1, 10)]), 5, i64::MIN);
        let new = cell(&context(1, &[0], &[(1, 1, 3)]), 9, 7);
        assert_eq!(old.clone().merged(new.clone()).total(), 3);
        assert_eq!(new.merged(old).total(), 3);
    }

    #[test]
    fn a_deletion_is_final_from_2_1_on() {
        let live =
            |timestamp| CounterState::Live(cell(&context(1, &[0], &[(1, 1, 10)]), timestamp, i64::MIN));
        let deleted = CounterState::Deleted { timestamp: 5 };
        let CounterState::Live(after) = live(9).merged(deleted.clone(), false) else { panic!() };
        assert_eq!(after.last_delete, 5);
        assert_eq!(live(4).merged(deleted.clone(), false), deleted);
        assert_eq!(deleted.clone().merged(live(9), true), deleted);
        let before = CounterState::Live(after).merged(live(4), false);
        assert!(matches!(before, CounterState::Live(counter) if counter.total() == 10));
    }

    proptest! {
        #[test]
        fn merging_is_commutative_and_associative(
            all in prop::collection::vec((0i64..3, 0i64..4, 0..3), 3)
        ) {
            let cells: Vec<CounterCell> = all.iter().map(|(clock, count, kind)| {
                let header = [0, i16::MIN];
                let header = match kind { 0 => &[][..], 1 => &header[..1], _ => &header[1..] };
                cell(&context(header.len() as i16, header, &[(1, *clock, *count)]), 1, i64::MIN)
            }).collect();
            let [a, b, c] = &cells[..] else { unreachable!() };
            let m = |x: &CounterCell, y: &CounterCell| x.clone().merged(y.clone());
            prop_assert_eq!(m(a, b), m(b, a));
            prop_assert_eq!(m(&m(a, b), c), m(a, &m(b, c)));
        }

        #[test]
        fn any_bytes_are_a_context_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = shards_of(&bytes);
        }
    }
}
