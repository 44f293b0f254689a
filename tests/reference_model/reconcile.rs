//! One cell: when it expires, which of two writes to it stays, and how a counter adds up.

use std::cmp::Ordering;

use bytes::Bytes;
use thriftstore::model::{Behaviour, Cell, CellKind, TimestampOrder, ValueTie};

pub fn is_tombstone(cell: &Cell) -> bool {
    matches!(cell.kind, CellKind::Deleted { .. })
}

/// Returns the cell as it is at a second of the server's clock: an expired one is a tombstone made at its last second.
pub fn at_second(cell: &Cell, now_s: i32, behaviour: &Behaviour) -> Cell {
    let CellKind::Expiring { expires_at_s, .. } = cell.kind else { return cell.clone() };
    let is_expired = match behaviour.expires_when_second_begins {
        // 1.1 and later: a cell is gone as soon as its second begins.
        true => now_s >= expires_at_s,
        // 0.7 to 1.0: a cell is still there during its second.
        false => now_s > expires_at_s,
    };
    if !is_expired {
        return cell.clone();
    }
    let kind = CellKind::Deleted { local_deletion_time: expires_at_s };
    Cell { value: Bytes::new(), kind, ..cell.clone() }
}

/// Whether a write replaces the cell that is stored under the same name.
pub fn replaces(new: &Cell, old: &Cell, behaviour: &Behaviour) -> bool {
    let (is_old_dead, is_new_dead) = (is_tombstone(old), is_tombstone(new));
    let is_counter = old.kind == CellKind::Counter || new.kind == CellKind::Counter;
    // 2.1: between a counter and a tombstone, the tombstone wins whatever the timestamps.
    if behaviour.counter_deletions_are_final && is_counter && is_old_dead != is_new_dead {
        return is_new_dead;
    }
    match timestamps(old, new, behaviour.timestamps) {
        // All releases: the larger timestamp wins.
        Ordering::Less => true,
        Ordering::Greater => false,
        // All releases: of two tombstones with one timestamp the first stays.
        Ordering::Equal if is_old_dead => false,
        // All releases: a tombstone wins against a value with the same timestamp.
        Ordering::Equal if is_new_dead => true,
        Ordering::Equal => wins_tie(new, old, behaviour.value_tie),
    }
}

/// Compares the timestamps of the stored and of the new cell.
fn timestamps(old: &Cell, new: &Cell, order: TimestampOrder) -> Ordering {
    let is_subtracted = match order {
        // 0.3 to 0.5: a stored tombstone compares timestamps; a stored value subtracts them, and the difference overflows.
        TimestampOrder::WrappingUnlessOldIsDeleted => !is_tombstone(old),
        // 0.6: only two values subtract their timestamps.
        TimestampOrder::WrappingBetweenValues => !is_tombstone(old) && !is_tombstone(new),
        // 0.7 and later: timestamps are compared.
        TimestampOrder::Plain => false,
    };
    if !is_subtracted {
        return old.timestamp.cmp(&new.timestamp);
    }
    let difference = old.timestamp.wrapping_sub(new.timestamp);
    difference.cmp(&0)
}

/// Whether a value replaces another one with the same timestamp.
fn wins_tie(new: &Cell, old: &Cell, tie: ValueTie) -> bool {
    let by_value = match tie {
        // 0.3 to 0.5: the value that arrives last wins.
        ValueTie::LastWritten => return true,
        // 0.6: the larger value wins, by unsigned bytes; a value is larger than its own beginning.
        ValueTie::LargerUnsigned => new.value.cmp(&old.value),
        // 0.7 and later: the larger value wins, by Java's signed bytes.
        ValueTie::LargerSigned => signed(&new.value).cmp(&signed(&old.value)),
    };
    // Of two equal values the one that lives longer stays. This rule is ours: in the old releases it depends on which
    // of the two arrives first.
    by_value.then(end_of_life(new).cmp(&end_of_life(old))) == Ordering::Greater
}

fn signed(value: &[u8]) -> Vec<i8> {
    value.iter().map(|byte| byte.cast_signed()).collect()
}

/// The last second of a value, then its ttl. A value that does not expire outlives all others.
fn end_of_life(cell: &Cell) -> (i32, i32) {
    match cell.kind {
        CellKind::Expiring { expires_at_s, ttl_s } => (expires_at_s, ttl_s),
        _ => (i32::MAX, i32::MAX),
    }
}

/// Adds an increment to the counter that is stored under its name. Returns the counter's new cell, or `None` if a
/// tombstone keeps the increment away.
pub fn count(old: Option<&Cell>, increment: &Cell, behaviour: &Behaviour) -> Option<Cell> {
    let Some(old) = old else { return Some(counter(increment, 0, increment.timestamp)) };
    if !is_tombstone(old) {
        // 0.8 and later: all increments add up whatever their timestamps; the largest timestamp is the counter's.
        return Some(counter(increment, number(old), old.timestamp.max(increment.timestamp)));
    }
    // 2.1: a deleted counter stays deleted.
    if behaviour.counter_deletions_are_final {
        return None;
    }
    // 0.8 to 2.0: a deleted counter begins anew at zero with an increment that is newer than the tombstone.
    (increment.timestamp > old.timestamp).then(|| counter(increment, 0, increment.timestamp))
}

/// The counter of an increment's name that holds so much more than the increment adds.
fn counter(increment: &Cell, before: i64, timestamp: i64) -> Cell {
    let total = before.wrapping_add(number(increment));
    Cell { value: bytes_of(total), timestamp, kind: CellKind::Counter, ..increment.clone() }
}

/// Joins two writes of one mutation to one cell: the first, and the next one in the order of the mutation.
pub fn joined(first: Cell, next: Cell, behaviour: &Behaviour) -> Cell {
    if first.kind == CellKind::Increment && next.kind == CellKind::Increment {
        // 0.8 and later: increments in one mutation are added before they reach the counter.
        let sum = number(&first).wrapping_add(number(&next));
        let timestamp = first.timestamp.max(next.timestamp);
        return Cell { value: bytes_of(sum), timestamp, ..first };
    }
    if replaces(&next, &first, behaviour) { next } else { first }
}

/// What a counter or an increment holds. A cell that is no counter counts as zero.
fn number(cell: &Cell) -> i64 {
    <[u8; 8]>::try_from(&cell.value[..]).map(i64::from_be_bytes).unwrap_or(0)
}

fn bytes_of(number: i64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}
