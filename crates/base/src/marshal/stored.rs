//! Helpers for types whose stored form differs from the name.

use std::cmp::Ordering;

use super::AbstractType;

/// Returns the bytes by which the store sorts a name.
pub(super) fn stored_form(comparator: &dyn AbstractType, name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparator.ordered(name, &mut bytes);
    bytes
}

/// Compares two names by their stored forms. Comparators use it for names of an invalid length: validation refuses such
/// names, but the order must still be total.
pub(super) fn compare_stored(comparator: &dyn AbstractType, left: &[u8], right: &[u8]) -> Ordering {
    stored_form(comparator, left).cmp(&stored_form(comparator, right))
}

/// Appends big-endian signed numbers of 8 bytes with their sign bits flipped, so that memcmp gives the numeric order. A
/// second call restores the numbers.
pub(super) fn push_sign_flipped(numbers: &[u8], out: &mut Vec<u8>) {
    out.extend(numbers.iter().enumerate().map(|(at, byte)| if at % 8 == 0 { byte ^ 0x80 } else { *byte }));
}
