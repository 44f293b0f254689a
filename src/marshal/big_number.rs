//! Integers of any length: between two's complement and decimal digits. Both ways take the square of the length.

use super::integer_type::shortest;

/// Two's complement of a number in its place.
fn negate(number: &mut [u8]) {
    let mut carry = true;
    for byte in number.iter_mut().rev() {
        let (sum, overflows) = (!*byte).overflowing_add(u8::from(carry));
        (*byte, carry) = (sum, overflows);
    }
}

/// The decimal digits of a big-endian number, without leading zeros.
fn decimal_digits(mut number: Vec<u8>) -> Vec<u8> {
    let mut digits = Vec::new();
    let mut from = 0;
    while from < number.len() {
        if number[from] == 0 {
            from += 1;
            continue;
        }
        let mut rest = 0u64;
        for byte in &mut number[from..] {
            let current = rest << 8 | u64::from(*byte);
            *byte = (current / 100 % 256) as u8;
            rest = current % 100;
        }
        digits.extend([(rest % 10) as u8, (rest / 10) as u8]);
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits.reverse();
    digits
}

/// Whether a big-endian number is negative, and its decimal digits without leading zeros.
pub(super) fn digits_of(number: &[u8]) -> (bool, Vec<u8>) {
    let is_negative = number.first().is_some_and(|first| *first >= 0x80);
    let mut magnitude = number.to_vec();
    if is_negative {
        negate(&mut magnitude);
    }
    (is_negative, decimal_digits(magnitude))
}

/// The shortest form of a number with these digits' characters, of which all must be digits.
pub(super) fn of_digits(is_negative: bool, digits: &[u8]) -> Vec<u8> {
    let mut number = vec![0u8];
    for digit in digits {
        let mut carry = u32::from(digit.wrapping_sub(b'0'));
        for byte in number.iter_mut().rev() {
            let product = u32::from(*byte) * 10 + carry;
            (*byte, carry) = ((product % 256) as u8, product / 256);
        }
        if carry > 0 {
            number.insert(0, carry as u8);
        }
    }
    number.insert(0, 0);
    if is_negative {
        negate(&mut number);
    }
    shortest(&number).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_come_back(number: i128) {
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
