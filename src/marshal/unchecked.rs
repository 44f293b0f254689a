//! Helpers for bytes that are compared without having been checked, as Cassandra 2.1 compares them.

use std::cmp::Ordering;

/// The order where one side is empty: it comes first.
pub(super) fn empty_first(left: &[u8], right: &[u8]) -> Option<Ordering> {
    let is_empty = left.is_empty() || right.is_empty();
    is_empty.then(|| left.is_empty().cmp(&right.is_empty()).reverse())
}

/// Signed numbers (`LongType.compareLongs`): the first byte is signed, and nobody asks how many follow.
pub(super) fn compare_signed_first(left: &[u8], right: &[u8]) -> Ordering {
    let first = |value: &[u8]| value.first().map(|byte| byte.cast_signed());
    first(left).cmp(&first(right)).then_with(|| left.cmp(right))
}

/// The times of UUIDs (`TimeUUIDType.compareTimestampBytes`), by one byte after the other; `None` where the next is not
/// there. The version takes no part.
pub(super) fn compare_times(left: &[u8], right: &[u8]) -> Option<Ordering> {
    for at in [6, 7, 4, 5, 0, 1, 2, 3] {
        let mask = if at == 6 { 0x0F } else { 0xFF };
        let order = (left.get(at)? & mask).cmp(&(right.get(at)? & mask));
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}
