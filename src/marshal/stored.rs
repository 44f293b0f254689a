//! Helpers of the types whose stored form is not the name itself.

use std::cmp::Ordering;

use super::AbstractType;

/// The bytes by which the store sorts a name.
pub(super) fn stored_form(comparator: &dyn AbstractType, name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparator.ordered(name, &mut bytes);
    bytes
}

/// Compares two names by their stored forms. Names of a wrong length get their place in the order so: validation
/// refuses them, but the order must be total all the same.
pub(super) fn compare_stored(comparator: &dyn AbstractType, left: &[u8], right: &[u8]) -> Ordering {
    stored_form(comparator, left).cmp(&stored_form(comparator, right))
}

/// Appends big-endian signed numbers of 8 bytes so that memcmp gives their numeric order: with the sign bit
/// turned over. Doing it twice gives the numbers back.
pub(super) fn push_sign_flipped(numbers: &[u8], out: &mut Vec<u8>) {
    out.extend(numbers.iter().enumerate().map(|(at, byte)| if at % 8 == 0 { byte ^ 0x80 } else { *byte }));
}
