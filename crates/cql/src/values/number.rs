//! Numbers of all native types, for arithmetic.

use std::cmp::Ordering;

use bytes::Bytes;
use num_bigint::{BigInt, Sign};

use base::marshal::{AbstractType, DecimalType, Native, ValueKind};
use base::util::limits::DECIMAL_BYTES_MAX;

/// The number of bits in the largest double.
const FLOAT_BITS_MAX: u64 = 1024;

/// A number of any type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    Integer(BigInt),
    /// An unscaled integer, and the number of digits after the decimal point.
    Decimal(BigInt, i32),
    Float(f64),
}

/// Returns the size of an integer type in bytes, or `None` for other types and for integers of variable size.
fn width(native: Native) -> Option<usize> {
    match native.kind() {
        ValueKind::Integer { bytes } => Some(bytes),
        ValueKind::Counter => Some(8),
        _ => None,
    }
}

/// Rescales a decimal to a number of digits after the point. Returns `None` if the result would take too much memory.
fn rescaled(unscaled: &BigInt, scale: i32, wanted: i32) -> Option<BigInt> {
    let more = u32::try_from(wanted.checked_sub(scale)?).ok()?;
    let is_small = usize::try_from(more).is_ok_and(|more| more <= DECIMAL_BYTES_MAX);
    is_small.then(|| unscaled * BigInt::from(10).pow(more))
}

impl Number {
    /// Returns the number of a value, or `None` if the value is invalid or empty.
    pub(super) fn of(native: Native, value: &[u8]) -> Option<Number> {
        match native.kind() {
            ValueKind::Float => Some(Number::Float(f64::from(f32::from_be_bytes(value.try_into().ok()?)))),
            ValueKind::Double => Some(Number::Float(f64::from_be_bytes(value.try_into().ok()?))),
            ValueKind::Decimal => {
                let (scale, unscaled) = value.split_first_chunk::<4>()?;
                Some(Number::Decimal(BigInt::from_signed_bytes_be(unscaled), i32::from_be_bytes(*scale)))
            }
            ValueKind::Varint if !value.is_empty() => {
                Some(Number::Integer(BigInt::from_signed_bytes_be(value)))
            }
            _ if Some(value.len()) == width(native) => {
                Some(Number::Integer(BigInt::from_signed_bytes_be(value)))
            }
            _ => None,
        }
    }

    /// Returns the number as a value of a type. Integers that are too large lose their high-order bytes, as in Java.
    /// Returns `None` if a decimal would be too long.
    pub(super) fn bytes(&self, native: Native) -> Option<Bytes> {
        let bytes = match native.kind() {
            ValueKind::Float => (self.float() as f32).to_be_bytes().to_vec(),
            ValueKind::Double => self.float().to_be_bytes().to_vec(),
            ValueKind::Decimal => match self {
                Number::Integer(number) => decimal_bytes(number, 0)?,
                Number::Decimal(unscaled, scale) => decimal_bytes(unscaled, *scale)?,
                // Java also converts by the shortest text of the number.
                Number::Float(number) => DecimalType.parse_text(&format!("{number:?}")).ok()?,
            },
            ValueKind::Varint => self.integer()?.to_signed_bytes_be(),
            _ => {
                let width = width(native)?;
                let number = match self {
                    // Java converts to int or long first, which saturates at their limits.
                    Number::Float(number) if width < 8 => BigInt::from(*number as i32),
                    Number::Float(number) => BigInt::from(*number as i64),
                    _ => self.integer()?,
                };
                let bytes = number.to_signed_bytes_be();
                let fill = if number.sign() == num_bigint::Sign::Minus { 0xFF } else { 0 };
                let missing = vec![fill; width.saturating_sub(bytes.len())];
                let whole = [missing, bytes].concat();
                whole.get(whole.len() - width..)?.to_vec()
            }
        };
        Some(Bytes::from(bytes))
    }

    fn float(&self) -> f64 {
        let of_text = |text: String| text.parse().unwrap_or(f64::NAN);
        match self {
            // Java also returns infinity, and the text of a long number takes long to build.
            Number::Integer(number) if number.bits() > FLOAT_BITS_MAX => match number.sign() {
                Sign::Minus => f64::NEG_INFINITY,
                _ => f64::INFINITY,
            },
            Number::Integer(number) => of_text(number.to_string()),
            Number::Decimal(unscaled, scale) => of_text(format!("{unscaled}e{}", -i64::from(*scale))),
            Number::Float(number) => *number,
        }
    }

    /// Returns the number without its fraction.
    fn integer(&self) -> Option<BigInt> {
        match self {
            Number::Integer(number) => Some(number.clone()),
            Number::Decimal(unscaled, scale) if *scale <= 0 => rescaled(unscaled, *scale, 0),
            Number::Decimal(unscaled, scale) => {
                let scale = u32::try_from(*scale).ok()?;
                let digits = u32::try_from(unscaled.bits()).unwrap_or(u32::MAX) / 3 + 1;
                Some(if scale > digits { BigInt::ZERO } else { unscaled / BigInt::from(10).pow(scale) })
            }
            Number::Float(number) => Some(BigInt::from(*number as i128)),
        }
    }

    /// Returns the sum, or `None` if a decimal would be too long.
    pub(super) fn plus(&self, other: &Number) -> Option<Number> {
        Some(match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Number::Integer(a + b),
            (Number::Decimal(a, a_scale), Number::Decimal(b, b_scale)) => {
                let scale = *a_scale.max(b_scale);
                Number::Decimal(rescaled(a, *a_scale, scale)? + rescaled(b, *b_scale, scale)?, scale)
            }
            (a, b) => Number::Float(a.float() + b.float()),
        })
    }

    /// Divides by a count. Integers are truncated. Decimals keep their number of digits after the point, and are
    /// rounded half to even.
    pub(super) fn divided(&self, count: u64) -> Number {
        let by = BigInt::from(count.max(1));
        match self {
            Number::Integer(number) => Number::Integer(number / by),
            Number::Decimal(unscaled, scale) => {
                let (whole, rest) = (unscaled / &by, unscaled % &by);
                let is_negative = rest.sign() == num_bigint::Sign::Minus;
                let up = match (rest.magnitude() * 2u32).cmp(by.magnitude()) {
                    Ordering::Less => false,
                    Ordering::Equal => whole.bit(0),
                    Ordering::Greater => true,
                };
                let step = if is_negative { -1 } else { 1 };
                Number::Decimal(if up { whole + step } else { whole }, *scale)
            }
            Number::Float(number) => Number::Float(number / count.max(1) as f64),
        }
    }
}

fn decimal_bytes(unscaled: &BigInt, scale: i32) -> Option<Vec<u8>> {
    let bytes = [&scale.to_be_bytes()[..], &unscaled.to_signed_bytes_be()].concat();
    (bytes.len() <= DECIMAL_BYTES_MAX).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Number {
        Number::of(Native::Decimal, &DecimalType.parse_text(text).unwrap()).unwrap()
    }

    fn text(number: &Number) -> String {
        DecimalType.to_text(&number.bytes(Native::Decimal).unwrap())
    }

    #[test]
    fn decimals_are_added_and_divided() {
        let sum = decimal("1.5").plus(&decimal("2.25")).unwrap();
        assert_eq!(text(&sum), "3.75");
        assert_eq!(text(&sum.divided(2)), "1.88");
        assert_eq!(text(&decimal("0.25").divided(2)), "0.12");
        assert_eq!(text(&decimal("-0.35").divided(2)), "-0.18");
        assert_eq!(decimal("1E1000000000").plus(&decimal("1")), None);
        assert_eq!(decimal("1E-1000000000").bytes(Native::Int).unwrap(), Bytes::from_static(&[0; 4]));
    }

    #[test]
    fn integers_overflow_as_in_java() {
        let one = Number::of(Native::Int, &[0, 0, 0, 1]).unwrap();
        let sum = Number::of(Native::Int, &i32::MAX.to_be_bytes()).unwrap().plus(&one).unwrap();
        assert_eq!(&sum.bytes(Native::Int).unwrap()[..], i32::MIN.to_be_bytes());
        assert_eq!(&Number::Float(1e300).bytes(Native::Int).unwrap()[..], i32::MAX.to_be_bytes());
        assert_eq!(Number::of(Native::Int, b""), None);
    }

    proptest! {
        #[test]
        fn numbers_round_trip(number: i64) {
            let bytes = number.to_be_bytes();
            let read = Number::of(Native::Bigint, &bytes).unwrap();
            prop_assert_eq!(&read.bytes(Native::Bigint).unwrap()[..], &bytes[..]);
            let longer = read.bytes(Native::Varint).unwrap();
            prop_assert_eq!(Number::of(Native::Varint, &longer), Some(read));
        }
    }
}
