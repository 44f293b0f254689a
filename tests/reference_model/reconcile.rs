//! Rules of a single cell: when it expires, which of two writes wins, and how a counter adds up.

use std::cmp::Ordering;

use base::compat::Behaviour;
use base::compat::rules::{TimestampOrder, ValueTie};
use base::model::{Cell, CellKind};
use bytes::Bytes;

pub fn is_tombstone(cell: &Cell) -> bool {
    matches!(cell.kind, CellKind::Deleted { .. })
}

/// Returns the cell as it is at a second of the server's clock. All releases: an expired cell is a tombstone, made at the
/// second at which the cell expires.
pub fn at_second(cell: &Cell, now_s: i32, behaviour: &Behaviour) -> Cell {
    let CellKind::Expiring { expires_at_s, .. } = cell.kind else { return cell.clone() };
    let is_expired = match behaviour.cells.expires_when_second_begins {
        // 1.1 and later: a cell expires when its last second begins.
        true => now_s >= expires_at_s,
        // 0.7 to 1.0: a cell expires when its last second is over.
        false => now_s > expires_at_s,
    };
    if !is_expired {
        return cell.clone();
    }
    let kind = CellKind::Deleted { local_deletion_time: expires_at_s };
    Cell { value: Bytes::new(), kind, ..cell.clone() }
}

/// Whether a new cell replaces the stored cell of the same name.
pub fn replaces(new: &Cell, old: &Cell, behaviour: &Behaviour) -> bool {
    let (is_old_dead, is_new_dead) = (is_tombstone(old), is_tombstone(new));
    let is_counter = old.kind == CellKind::Counter || new.kind == CellKind::Counter;
    // 2.1: between a counter and a tombstone, the tombstone wins whatever the timestamps.
    if behaviour.cells.counter_deletions_are_final && is_counter && is_old_dead != is_new_dead {
        return is_new_dead;
    }
    match timestamps(old, new, behaviour.cells.timestamps) {
        // All releases: the larger timestamp wins.
        Ordering::Less => true,
        Ordering::Greater => false,
        // All releases: of two tombstones with one timestamp the first stays.
        Ordering::Equal if is_old_dead => false,
        // All releases: a tombstone wins against a value with the same timestamp.
        Ordering::Equal if is_new_dead => true,
        Ordering::Equal => wins_tie(new, old, behaviour.cells.value_tie),
    }
}

/// Compares the timestamps of the stored and of the new cell.
fn timestamps(old: &Cell, new: &Cell, order: TimestampOrder) -> Ordering {
    let is_subtracted = match order {
        // 0.3 to 0.5: timestamps are subtracted, which may overflow, unless the stored cell is a tombstone.
        TimestampOrder::WrappingUnlessOldIsDeleted => !is_tombstone(old),
        // 0.6: timestamps are subtracted unless one of the cells is a tombstone.
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
        // 0.6: the larger value wins, compared by unsigned bytes; a longer value is larger than its own prefix.
        ValueTie::LargerUnsigned => new.value.cmp(&old.value),
        // 0.7 and later: the larger value wins, compared by Java's signed bytes.
        ValueTie::LargerSigned => signed(&new.value).cmp(&signed(&old.value)),
    };
    // The project's rule: of two equal values the one that expires later wins. In the old releases it depends on the
    // order of their arrival.
    by_value.then(end_of_life(new).cmp(&end_of_life(old))) == Ordering::Greater
}

fn signed(value: &[u8]) -> Vec<i8> {
    value.iter().map(|byte| byte.cast_signed()).collect()
}

/// Returns the second at which a value expires, and its ttl. A value that does not expire is later than all others.
fn end_of_life(cell: &Cell) -> (i32, i32) {
    match cell.kind {
        CellKind::Expiring { expires_at_s, ttl_s } => (expires_at_s, ttl_s),
        _ => (i32::MAX, i32::MAX),
    }
}

/// Returns the counter's cell after an increment; `None` if the counter stays deleted.
pub fn count(old: Option<&Cell>, increment: &Cell, behaviour: &Behaviour) -> Option<Cell> {
    let Some(old) = old else { return Some(counter(increment, 0, increment.timestamp)) };
    if !is_tombstone(old) {
        // 0.8 and later: increments add up whatever their timestamps; the counter has the largest of these.
        return Some(counter(increment, number(old), old.timestamp.max(increment.timestamp)));
    }
    // 2.1: a deleted counter stays deleted.
    if behaviour.cells.counter_deletions_are_final {
        return None;
    }
    // 0.8 to 2.0: a deleted counter starts again at zero with an increment that is newer than the tombstone.
    (increment.timestamp > old.timestamp).then(|| counter(increment, 0, increment.timestamp))
}

/// Returns a counter that held `before` and to which the increment is added. Totals wrap at 64 bits.
fn counter(increment: &Cell, before: i64, timestamp: i64) -> Cell {
    let total = before.wrapping_add(number(increment));
    Cell { value: bytes_of(total), timestamp, kind: CellKind::Counter, ..increment.clone() }
}

/// Merges two writes of one mutation to the same cell.
pub fn merged_in_mutation(first: Cell, next: Cell, behaviour: &Behaviour) -> Cell {
    if first.kind == CellKind::Increment && next.kind == CellKind::Increment {
        // 0.8 and later: increments of one mutation are added up first.
        let sum = number(&first).wrapping_add(number(&next));
        let timestamp = first.timestamp.max(next.timestamp);
        return Cell { value: bytes_of(sum), timestamp, ..first };
    }
    if replaces(&next, &first, behaviour) { next } else { first }
}

/// Returns the number in a counter or an increment; zero for any other cell.
fn number(cell: &Cell) -> i64 {
    <[u8; 8]>::try_from(&cell.value[..]).map(i64::from_be_bytes).unwrap_or(0)
}

fn bytes_of(number: i64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}
