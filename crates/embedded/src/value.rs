//! The format of values, in memory and on the disk.
//!
//! ```text
//!   byte 0     format, 1
//!   byte 1     kind: 0 live cell, 1 tombstone, 2 deletion of a row or super column, 3 long-key pointer,
//!              4 expiring cell, 5 counter, 6 range tombstone
//!              + 80 if the value has the name, since it cannot be restored from the key
//!              + 40 on a row's deletion if the row has range tombstones
//!   cell       i64 timestamp | [u32 length, name] | value
//!   tombstone  i64 timestamp | i32 local deletion time | [u32 length, name]
//!   deletion   i64 marked for delete at | i32 local deletion time | [u32 length, name]
//!   pointer    empty
//!   expiring   i64 timestamp | i32 second of expiry | i32 seconds to live | [u32 length, name] | value
//!   range      i64 marked for delete at | i32 local deletion time | [u32 length, super column] |
//!              u32 length, start | u32 length, finish
//!   counter    i64 timestamp | [u32 length, name] | i64 total
//! ```
//! All numbers are big-endian.

use byteorder::{BigEndian, ByteOrder};
use bytes::{Buf, Bytes};

use base::model::{CellKind, CellView, DeletionTime, RangeTombstone};
use store::{Result, StoreError};

/// The format in byte 0.
const FORMAT: u8 = 1;

const LIVE: u8 = 0;
const TOMBSTONE: u8 = 1;
const DELETION: u8 = 2;
const POINTER: u8 = 3;
const EXPIRING: u8 = 4;
const COUNTER: u8 = 5;
const RANGE: u8 = 6;
const WITH_NAME: u8 = 0x80;
const WITH_RANGES: u8 = 0x40;
/// The bits of byte 1 that are the kind.
const KIND: u8 = 0x3F;

/// Length of format, kind and timestamp.
pub(crate) const HEAD: usize = 10;

/// A decoded value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Cell {
        timestamp: i64,
        kind: CellKind,
        name: Option<Bytes>,
        data: Bytes,
    },
    Deletion {
        deletion: DeletionTime,
        name: Option<Bytes>,
        /// Whether the row has range tombstones. Only set on a row's deletion.
        has_ranges: bool,
    },
    Range(RangeTombstone),
    /// The entry is in the tree of long keys: see `long_keys`.
    Pointer,
}

fn put_head(kind: u8, timestamp: i64, name: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(FORMAT);
    out.push(if name.is_some() { kind | WITH_NAME } else { kind });
    out.extend_from_slice(&timestamp.to_be_bytes());
}

fn head(kind: u8, timestamp: i64, name: Option<&[u8]>, more: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + 8 + name.map_or(0, <[u8]>::len) + more);
    put_head(kind, timestamp, name, &mut out);
    out
}

fn put_name(name: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(name) = name {
        debug_assert!(u32::try_from(name.len()).is_ok(), "the name would not be read back");
        // Names have at most 65,535 bytes, by a limit of the API.
        out.extend_from_slice(&u32::try_from(name.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(name);
    }
}

/// Appends an encoded cell. `name` is given if it cannot be restored from the key.
pub(crate) fn encode_cell(cell: CellView<'_>, name: Option<&[u8]>, out: &mut Vec<u8>) {
    let timestamp = cell.timestamp;
    match cell.kind {
        CellKind::Live => put_head(LIVE, timestamp, name, out),
        CellKind::Expiring { ttl_s, expires_at_s } => {
            put_head(EXPIRING, timestamp, name, out);
            out.extend_from_slice(&expires_at_s.to_be_bytes());
            out.extend_from_slice(&ttl_s.to_be_bytes());
        }
        CellKind::Counter | CellKind::Increment => put_head(COUNTER, timestamp, name, out),
        CellKind::Deleted { local_deletion_time } => {
            put_head(TOMBSTONE, timestamp, name, out);
            out.extend_from_slice(&local_deletion_time.to_be_bytes());
            return put_name(name, out);
        }
    }
    put_name(name, out);
    out.extend_from_slice(cell.value);
}

/// Encodes the deletion of a row or of a super column.
pub(crate) fn encode_deletion(deletion: DeletionTime, name: Option<&[u8]>) -> Vec<u8> {
    let mut out = head(DELETION, deletion.marked_for_delete_at, name, 0);
    out.extend_from_slice(&deletion.local_deletion_time.to_be_bytes());
    put_name(name, &mut out);
    out
}

/// Encodes the deletion of a row that has range tombstones.
pub(crate) fn encode_deletion_with_ranges(deletion: DeletionTime) -> Vec<u8> {
    let mut out = encode_deletion(deletion, None);
    out[1] |= WITH_RANGES;
    out
}

/// Encodes a range tombstone.
pub(crate) fn encode_range(range: &RangeTombstone) -> Vec<u8> {
    let more = range.start.len() + range.finish.len() + 16;
    let holder = range.super_column.as_deref();
    let mut out = head(RANGE, range.deletion.marked_for_delete_at, holder, more);
    out.extend_from_slice(&range.deletion.local_deletion_time.to_be_bytes());
    put_name(holder, &mut out);
    put_name(Some(&range.start), &mut out);
    put_name(Some(&range.finish), &mut out);
    out
}

/// Encodes a long-key pointer.
pub(crate) fn encode_pointer() -> Vec<u8> {
    vec![FORMAT, POINTER]
}

/// Returns whether a value is a long-key pointer, without decoding it.
pub(crate) fn is_pointer(value: &[u8]) -> bool {
    value == [FORMAT, POINTER]
}

/// Returns the second from which on a cell is a tombstone in every release. `None` for values that never become one.
/// The compaction filter uses this.
pub(crate) fn tombstone_since(value: &[u8]) -> Option<i32> {
    if value.first() != Some(&FORMAT) {
        return None;
    }
    let second = value.get(HEAD..HEAD + 4).map(BigEndian::read_i32);
    match *value.get(1)? & KIND {
        TOMBSTONE => second,
        // Up to 1.0 an expiring cell is live during the whole of its last second.
        EXPIRING => second.map(|second| second.saturating_add(1)),
        _ => None,
    }
}

/// Returns the timestamp of a live cell that does not expire and whose name is restored from its key, without decoding
/// it. The rest of its value, from `HEAD` on, is the data. `None` for all other values.
pub(crate) fn plain_timestamp(value: &[u8]) -> Option<i64> {
    let [FORMAT, LIVE, rest @ ..] = value else { return None };
    rest.first_chunk().copied().map(i64::from_be_bytes)
}

/// Returns a timestamp such that a cell with a later one wins over this value in every release.
///
/// It is `i64::MAX` if timestamps alone do not decide: for counters, and for negative timestamps, whose differences
/// overflow in some releases.
pub(crate) fn loses_to_later_than(value: &[u8]) -> i64 {
    let timestamp = value.get(2..HEAD).map_or(-1, BigEndian::read_i64);
    match value.get(1).map(|flags| flags & KIND) {
        Some(DELETION | RANGE) => i64::MIN,
        Some(LIVE | TOMBSTONE | EXPIRING) if timestamp >= 0 => timestamp,
        _ => i64::MAX,
    }
}

/// Decodes a value. The parts of the result share its memory.
pub(crate) fn decode(mut value: Bytes) -> Result<Value> {
    match read(&value) {
        Some((Value::Cell { timestamp, kind, name, .. }, Some(data_at))) => {
            value.advance(data_at.min(value.len()));
            Ok(Value::Cell { timestamp, kind, name, data: value })
        }
        Some((value, _)) => Ok(value),
        None => {
            let shown = &value[..value.len().min(32)];
            let length = value.len();
            Err(StoreError::Corrupt(format!("a stored value of {length} bytes begins {shown:02x?}")))
        }
    }
}

/// Decodes a value from a slice of a larger buffer, which is copied.
pub(crate) fn decode_slice(value: &[u8]) -> Result<Value> {
    decode(Bytes::copy_from_slice(value))
}

/// Reads a length and a name at an offset. Returns the name and where it ends.
fn name_at_place(value: &Bytes, at: usize) -> Option<(Bytes, usize)> {
    let length = usize::try_from(BigEndian::read_u32(value.get(at..at + 4)?)).ok()?;
    let end = (at + 4).checked_add(length)?;
    value.get(at + 4..end)?;
    Some((value.slice(at + 4..end), end))
}

/// Decodes a value without its data. Returns also where the data begins.
fn read(value: &Bytes) -> Option<(Value, Option<usize>)> {
    if *value.first()? != FORMAT {
        return None;
    }
    let flags = *value.get(1)?;
    let (kind, has_name) = (flags & KIND, flags & WITH_NAME != 0);
    if kind == POINTER {
        return Some((Value::Pointer, None));
    }
    let timestamp = BigEndian::read_i64(value.get(2..HEAD)?);
    let seconds_at = HEAD;
    let name_at = match kind {
        LIVE | COUNTER => HEAD,
        EXPIRING => HEAD + 8,
        _ => HEAD + 4,
    };
    let (name, data_at) = if has_name {
        let (name, end) = name_at_place(value, name_at)?;
        (Some(name), end)
    } else {
        (None, name_at)
    };
    let seconds = || value.get(seconds_at..seconds_at + 4).map(BigEndian::read_i32);
    let cell = |kind| Value::Cell { timestamp, kind, name: name.clone(), data: Bytes::new() };
    let deletion = |seconds| DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: seconds };
    Some(match kind {
        LIVE => (cell(CellKind::Live), Some(data_at)),
        COUNTER => (cell(CellKind::Counter), Some(data_at)),
        EXPIRING => {
            let ttl_s = value.get(HEAD + 4..HEAD + 8).map(BigEndian::read_i32)?;
            (cell(CellKind::Expiring { ttl_s, expires_at_s: seconds()? }), Some(data_at))
        }
        TOMBSTONE => (cell(CellKind::Deleted { local_deletion_time: seconds()? }), None),
        DELETION => {
            let has_ranges = flags & WITH_RANGES != 0;
            (Value::Deletion { deletion: deletion(seconds()?), name, has_ranges }, None)
        }
        RANGE => {
            let (start, start_end) = name_at_place(value, data_at)?;
            let (finish, _) = name_at_place(value, start_end)?;
            let deletion = deletion(seconds()?);
            (Value::Range(RangeTombstone { super_column: name, start, finish, deletion }), None)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::compat::Behaviour;
    use base::model::{Cell, Winner, reconcile};
    use base::util::Release;
    use proptest::prelude::*;

    fn any_kind() -> impl Strategy<Value = CellKind> {
        prop_oneof![
            Just(CellKind::Live),
            Just(CellKind::Counter),
            (any::<i32>(), any::<i32>())
                .prop_map(|(ttl_s, expires_at_s)| CellKind::Expiring { ttl_s, expires_at_s }),
            any::<i32>().prop_map(|local_deletion_time| CellKind::Deleted { local_deletion_time }),
        ]
    }

    fn any_bytes() -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..9).prop_map(Bytes::from)
    }

    fn any_deletion() -> impl Strategy<Value = DeletionTime> {
        (any::<i64>(), any::<i32>()).prop_map(|(marked_for_delete_at, local_deletion_time)| DeletionTime {
            marked_for_delete_at,
            local_deletion_time,
        })
    }

    proptest! {
        #[test]
        fn cells_round_trip(
            name in prop::option::of(any_bytes()),
            data in any_bytes(),
            timestamp in any::<i64>(),
            kind in any_kind(),
        ) {
            let (since, data) = match kind {
                CellKind::Deleted { local_deletion_time } => (Some(local_deletion_time), Bytes::new()),
                CellKind::Expiring { expires_at_s, .. } => (Some(expires_at_s.saturating_add(1)), data),
                _ => (None, data),
            };
            let cell = Cell { name: Bytes::new(), value: data.clone(), timestamp, kind };
            let mut encoded = Vec::new();
            encode_cell((&cell).into(), name.as_deref(), &mut encoded);
            let encoded = Bytes::from(encoded);
            prop_assert_eq!(tombstone_since(&encoded), since);
            prop_assert_eq!(plain_timestamp(&encoded), (kind == CellKind::Live && name.is_none()).then_some(timestamp));
            prop_assert_eq!(decode(encoded.clone()).unwrap(), Value::Cell { timestamp, kind, name, data });
        }

        #[test]
        fn a_later_cell_wins(
            (old_timestamp, timestamp) in prop_oneof![
                any::<(i64, i64)>(),
                (0..i64::MAX).prop_map(|timestamp| (timestamp, timestamp + 1)),
            ],
            (old_kind, kind) in (any_kind(), any_kind()),
            (old_data, data) in (any_bytes(), any_bytes()),
        ) {
            let old = Cell { name: Bytes::new(), value: old_data, timestamp: old_timestamp, kind: old_kind };
            let new = Cell { name: Bytes::new(), value: data, timestamp, kind };
            let mut encoded = Vec::new();
            encode_cell((&old).into(), None, &mut encoded);
            let is_later = timestamp > loses_to_later_than(&encoded) && kind != CellKind::Counter;
            prop_assert!(is_later || old_timestamp < 0 || timestamp <= old_timestamp
                || [kind, old_kind].contains(&CellKind::Counter));
            for release in Release::ALL {
                prop_assert!(!is_later || reconcile(&old, &new, Behaviour::of(release)) == Winner::New);
            }
        }

        #[test]
        fn deletions_and_ranges_round_trip(
            deletion in any_deletion(),
            super_column in prop::option::of(any_bytes()),
            (start, finish) in (any_bytes(), any_bytes()),
        ) {
            let range = RangeTombstone { super_column: super_column.clone(), start, finish, deletion };
            let encoded = Bytes::from(encode_range(&range));
            prop_assert_eq!(tombstone_since(&encoded), None);
            prop_assert_eq!(decode(encoded.clone()).unwrap(), Value::Range(range));
            let with_ranges = Bytes::from(encode_deletion_with_ranges(deletion));
            let expected = Value::Deletion { deletion, name: None, has_ranges: true };
            prop_assert_eq!(decode(with_ranges).unwrap(), expected);
            let plain = Bytes::from(encode_deletion(deletion, super_column.as_deref()));
            let expected = Value::Deletion { deletion, name: super_column, has_ranges: false };
            prop_assert_eq!(decode(plain).unwrap(), expected);
        }

        #[test]
        fn decoding_any_bytes_is_an_error_or_a_value(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            kind in prop::option::of(any::<u8>()),
        ) {
            let mut bytes = bytes;
            if let (Some(kind), true) = (kind, bytes.len() > 1) {
                bytes[..2].copy_from_slice(&[FORMAT, kind]);
            }
            let _ = decode(Bytes::from(bytes.clone()));
            let _ = (tombstone_since(&bytes), plain_timestamp(&bytes), loses_to_later_than(&bytes));
        }
    }
}
