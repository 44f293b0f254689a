//! Comparisons of bytes that have not been validated, as Cassandra 2.1 does them.

use std::cmp::Ordering;

/// Compares two values if at least one is empty: the empty value sorts first. Returns `None` if neither is.
pub(super) fn empty_first(left: &[u8], right: &[u8]) -> Option<Ordering> {
    let is_empty = left.is_empty() || right.is_empty();
    is_empty.then(|| left.is_empty().cmp(&right.is_empty()).reverse())
}

/// Compares big-endian signed numbers as `LongType.compareLongs` does: the first byte as a signed number, the rest as
/// unsigned bytes. Lengths are not checked.
pub(super) fn compare_signed_first(left: &[u8], right: &[u8]) -> Ordering {
    let first = |value: &[u8]| value.first().map(|byte| byte.cast_signed());
    first(left).cmp(&first(right)).then_with(|| left.cmp(right))
}

/// Compares the timestamps of two UUIDs byte by byte, as `TimeUUIDType.compareTimestampBytes` does. The version is not
/// compared. Returns `None` if a UUID is too short for a byte that must be compared.
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
