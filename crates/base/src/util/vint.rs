//! Variable-length numbers, as durations and SSTables of 3.x have them.
//!
//! ```text
//!   0xxxxxxx                      7 bits
//!   10xxxxxx xxxxxxxx             14 bits: the leading ones of the first byte are the number of bytes that follow
//!   ...
//!   11111111 and eight bytes      64 bits
//! ```
//!
//! The last bit of a signed number is its sign.

/// Appends a number.
pub fn push_vint(number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    // Each byte that follows takes a bit of the first, so all have seven bits of the number. At most eight follow.
    let used = 64 - (number | 1).leading_zeros();
    let extra = ((used - 1) / 7).min(8) as usize;
    if extra == 8 {
        out.push(0xFF);
        out.extend_from_slice(&bytes);
        return;
    }
    let from = out.len();
    out.extend_from_slice(&bytes[7 - extra..]);
    out[from] |= !(0xFFu16 >> extra) as u8;
}

/// Appends a signed number.
pub fn push_signed_vint(number: i64, out: &mut Vec<u8>) {
    let from = out.len();
    push_vint((number << 1 ^ number >> 63).cast_unsigned(), out);
    debug_assert!(take_signed_vint(&mut &out[from..]) == Some(number), "{number} would not be read back");
}

/// Takes a signed number from the beginning of some bytes; `None` if they end before.
pub fn take_signed_vint(rest: &mut &[u8]) -> Option<i64> {
    let (first, after) = rest.split_first()?;
    let extra = first.leading_ones() as usize;
    let (following, after) = after.split_at_checked(extra)?;
    *rest = after;
    let own = u64::from(first & (0xFFu16 >> extra) as u8);
    let bits = following.iter().fold(own, |bits, byte| bits << 8 | u64::from(*byte));
    Some((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_decoded_back(number: i64) {
            let mut bytes = Vec::new();
            push_signed_vint(number, &mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_signed_vint(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }
    }
}
