//! Conversion of integers of any length between two's complement and decimal digits.

use num_bigint::{BigInt, Sign};

/// Returns whether a big-endian number is negative, and its decimal digits (0 to 9, not characters) without leading
/// zeros. Zero has no digits.
pub(super) fn digits_of(number: &[u8]) -> (bool, Vec<u8>) {
    let number = BigInt::from_signed_bytes_be(number);
    let digits = match number.sign() {
        Sign::NoSign => Vec::new(),
        _ => number.magnitude().to_radix_be(10),
    };
    (number.sign() == Sign::Minus, digits)
}

/// Returns the shortest two's complement form of a number whose decimal digits are these characters. The caller checks
/// that they are digits.
pub(super) fn of_digits(is_negative: bool, digits: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = digits.iter().map(|digit| digit.wrapping_sub(b'0')).collect();
    let sign = if is_negative { Sign::Minus } else { Sign::Plus };
    BigInt::from_radix_be(sign, &digits, 10).unwrap_or_default().to_signed_bytes_be()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::integer_type::shortest;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_converted_back(number: i128) {
            let text = number.unsigned_abs().to_string();
            let bytes = of_digits(number < 0, text.as_bytes());
            prop_assert_eq!(bytes.clone(), shortest(&number.to_be_bytes()).to_vec());
            let (is_negative, digits) = digits_of(&bytes);
            let digits: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
            let shown = if digits.is_empty() { "0".to_owned() } else { digits };
            prop_assert_eq!((is_negative, shown), (number < 0, text));
        }
    }
}
