//! Decimal numbers of any size.

use std::cmp::Ordering;

use super::big_number::{digits_of, of_digits};
use super::stored::compare_stored;
use super::{AbstractType, BytesType, MarshalError, StoredOrder};
use crate::util::limits::DECIMAL_BYTES_MAX;

/// Names that are a scale of 4 bytes and an unscaled integer in two's complement. 1.0 and 1.00 are the same name.
#[derive(Debug)]
pub struct DecimalType;

/// The parts of the number `0.DIGITS * 10^exponent`. The digits neither begin nor end with 0.
struct Parts {
    is_negative: bool,
    /// Empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Parts {
    fn of(value: &[u8]) -> Option<Parts> {
        let (scale, unscaled) = value.split_first_chunk::<4>()?;
        let (is_negative, mut digits) = digits_of(unscaled);
        let exponent = digits.len() as i64 - i64::from(i32::from_be_bytes(*scale));
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let exponent = if digits.is_empty() { 0 } else { exponent };
        Some(Parts { is_negative, digits, exponent })
    }
}

impl AbstractType for DecimalType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.DecimalType"
    }

    /// Refuses bytes shorter than the scale, which the old servers accepted and failed on later, and numbers that would
    /// take too long to convert.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.len() {
            1..=3 => Err(MarshalError(format!("Expected 0 or at least 4 bytes ({})", value.len()))),
            length if length > DECIMAL_BYTES_MAX => {
                Err(MarshalError(format!("Expected at most {DECIMAL_BYTES_MAX} bytes ({length})")))
            }
            _ => Ok(()),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        compare_stored(self, left, right)
    }

    /// Appends sign, exponent, digits (each increased by 1) and a 0. For negative numbers all bytes after the sign are
    /// inverted.
    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if name.is_empty() {
            return;
        }
        let Some(parts) = Parts::of(name).filter(|_| name.len() <= DECIMAL_BYTES_MAX) else {
            // This is not a valid value, but the order must be total.
            out.push(0);
            out.extend_from_slice(name);
            return;
        };
        if parts.digits.is_empty() {
            out.push(2);
            return;
        }
        out.push(if parts.is_negative { 1 } else { 3 });
        let from = out.len();
        out.extend_from_slice(&(parts.exponent.cast_unsigned() ^ 1 << 63).to_be_bytes());
        out.extend(parts.digits.iter().map(|digit| digit + 1));
        out.push(0);
        if parts.is_negative {
            out.iter_mut().skip(from).for_each(|byte| *byte = !*byte);
        }
    }

    fn restore(&self, _ordered: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        let Some((scale, unscaled)) = value.split_first_chunk::<4>() else { return BytesType.to_text(value) };
        if value.len() > DECIMAL_BYTES_MAX {
            return BytesType.to_text(value);
        }
        let (is_negative, digits) = digits_of(unscaled);
        let digits: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let digits = if digits.is_empty() { "0".to_owned() } else { digits };
        let sign = if is_negative { "-" } else { "" };
        match i32::from_be_bytes(*scale) {
            0 => format!("{sign}{digits}"),
            scale @ 1..=1000 => {
                let scale = scale.unsigned_abs() as usize;
                let padded = format!("{digits:0>width$}", width = scale + 1);
                let (whole, fraction) = padded.split_at(padded.len() - scale);
                format!("{sign}{whole}.{fraction}")
            }
            scale => format!("{sign}{digits}E{}", -i64::from(scale)),
        }
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        parse(text).ok_or_else(|| MarshalError(format!("unable to make BigDecimal from '{text}'")))
    }
}

fn parse(text: &str) -> Option<Vec<u8>> {
    let (number, exponent) = text.split_once(['E', 'e']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if digits.is_empty() || digits.len() > DECIMAL_BYTES_MAX || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let scale = i32::try_from((fraction.len() as i64).checked_sub(exponent)?).ok()?;
    let unscaled = of_digits(is_negative, &digits);
    Some([&scale.to_be_bytes()[..], &unscaled[..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Vec<u8> {
        DecimalType.parse_text(text).unwrap()
    }

    #[test]
    fn order_is_numeric() {
        let texts =
            ["-10", "-9.99", "-1", "-0.5", "0", "0.001", "0.01", "0.1", "1", "1.5", "2", "10", "1E400"];
        let names: Vec<Vec<u8>> = texts.iter().map(|text| decimal(text)).collect();
        assert!(names.is_sorted_by(|a, b| DecimalType.compare(a, b).is_lt()));
        assert!(DecimalType.compare(&decimal("1.0"), &decimal("1.00")).is_eq());
        assert!(DecimalType.compare(&decimal("0"), &decimal("0.00")).is_eq());
    }

    #[test]
    fn text_is_parsed_back() {
        for text in ["0", "-1", "1.50", "0.007", "-123456789012345678901234567890.5", "1E9"] {
            assert_eq!(DecimalType.to_text(&decimal(text)), text);
        }
        assert!(DecimalType.parse_text("1.x").is_err());
        assert!(DecimalType.parse_text("1E-9223372036854775808").is_err());
    }

    #[test]
    fn a_number_longer_than_the_limit_is_refused() {
        assert!(DecimalType.validate(&[1; DECIMAL_BYTES_MAX]).is_ok());
        let why = DecimalType.validate(&[1; DECIMAL_BYTES_MAX + 1]).unwrap_err().0;
        assert_eq!(why, "Expected at most 4096 bytes (4097)");
        assert!(DecimalType.parse_text(&"1".repeat(DECIMAL_BYTES_MAX + 1)).is_err());
    }
}
