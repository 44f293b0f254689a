//! Numbers of variable length: seven bits in each byte, the lowest first; the highest bit marks that more follow.

use bytes::BufMut;

/// Bytes of the longest number.
pub(super) const NUMBER_BYTES_MAX: usize = 10;

pub(super) fn put_number(out: &mut impl BufMut, mut number: u64) {
    while number >= 0x80 {
        out.put_u8((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.put_u8(number as u8);
}

/// Writes a number that may be negative: 0, -1, 1, -2 and so on are written as 0, 1, 2, 3.
pub(super) fn put_signed(out: &mut impl BufMut, number: i64) {
    put_number(out, (number << 1 ^ number >> 63).cast_unsigned());
}

pub(super) fn put_bytes(out: &mut impl BufMut, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.put_slice(bytes);
}

/// Takes a number off the front; `None` if the bytes end within it, or if it has more than 64 bits.
pub(super) fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for at in 0..NUMBER_BYTES_MAX {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        let part = u64::from(byte & 0x7f);
        let shift = 7 * at;
        if part << shift >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

pub(super) fn take_signed(rest: &mut &[u8]) -> Option<i64> {
    let number = take_number(rest)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

pub(super) fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

pub(super) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_round_trip(number: u64, signed: i64) {
            let mut out = Vec::new();
            put_number(&mut out, number);
            put_signed(&mut out, signed);
            let mut rest = &out[..];
            prop_assert_eq!(take_number(&mut rest), Some(number));
            prop_assert_eq!(take_signed(&mut rest), Some(signed));
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn small_numbers_are_short_and_long_ones_are_refused() {
        let mut out = Vec::new();
        put_signed(&mut out, -1);
        put_number(&mut out, 300);
        assert_eq!(out, [1, 0xac, 2]);
        let too_long = [0xff; 11];
        assert_eq!(take_number(&mut &too_long[..]), None);
        assert_eq!(take_number(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2][..]), None);
        assert_eq!(take_number(&mut &[0x80][..]), None);
    }
}
