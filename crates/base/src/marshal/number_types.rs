//! Types whose values are numbers of a fixed length. Each is a constant of one implementation.

use std::cmp::Ordering;

use super::stored::compare_stored;
use super::unchecked::{compare_signed_first, empty_first};
use super::{AbstractType, BytesType, MarshalError, StoredOrder, date_text, day_text};

/// The ways in which bytes represent a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberForm {
    /// Two's complement, big-endian.
    Signed,
    /// Milliseconds since 1970, compared as unsigned numbers: dates before 1970 sort last (0.8 to 2.1).
    UnsignedDate,
    /// Milliseconds since 1970, compared as signed numbers (2.0 and later).
    SignedDate,
    /// Days, unsigned; 2^31 is 1970-01-01 (2.2).
    UnsignedDay,
    /// Nanoseconds since midnight (2.2).
    TimeOfDay,
    /// IEEE 754 in Java's order: -0.0 sorts before 0.0, and NaN sorts last.
    Float,
}

/// The number of 1970-01-01 in `NumberForm::UnsignedDay`.
const DAY_OF_1970: i64 = 1 << 31;

/// The first number that is not a valid `NumberForm::TimeOfDay`.
const NS_PER_DAY: u64 = 86_400_000_000_000;

/// A comparator of numbers of a fixed length.
#[derive(Debug)]
pub struct NumberType {
    class_name: &'static str,
    form: NumberForm,
    /// Length of a value in bytes. Empty bytes are valid too.
    width: usize,
    /// The name of the type in the old servers' message about a wrong length.
    called: &'static str,
    /// The name of the type in their message about a text that cannot be parsed.
    text_called: &'static str,
}

/// Returns the type with these properties, in the order of the struct.
const fn number(
    class_name: &'static str,
    form: NumberForm,
    width: usize,
    called: &'static str,
    text_called: &'static str,
) -> NumberType {
    NumberType { class_name, form, width, called, text_called }
}

/// The type of signed integers of 4 bytes.
pub(super) static INT32: NumberType =
    number("org.apache.cassandra.db.marshal.Int32Type", NumberForm::Signed, 4, "byte int", "int");
pub(super) static COUNTER_COLUMN: NumberType =
    number(super::COUNTER_COLUMN_TYPE, NumberForm::Signed, 8, "byte long", "long");
pub(super) static DATE: NumberType = number(
    "org.apache.cassandra.db.marshal.DateType",
    NumberForm::UnsignedDate,
    8,
    "byte long for date",
    "date",
);
pub(super) static TIMESTAMP: NumberType = number(
    "org.apache.cassandra.db.marshal.TimestampType",
    NumberForm::SignedDate,
    8,
    "byte long for date",
    "date",
);
pub(super) static FLOAT: NumberType = number(
    "org.apache.cassandra.db.marshal.FloatType",
    NumberForm::Float,
    4,
    "byte value for a float",
    "float",
);
pub(super) static DOUBLE: NumberType = number(
    "org.apache.cassandra.db.marshal.DoubleType",
    NumberForm::Float,
    8,
    "byte value for a double",
    "double",
);
pub(super) static SIMPLE_DATE: NumberType = number(
    "org.apache.cassandra.db.marshal.SimpleDateType",
    NumberForm::UnsignedDay,
    4,
    "byte long for date",
    "date",
);
pub(super) static TIME: NumberType = number(
    "org.apache.cassandra.db.marshal.TimeType",
    NumberForm::TimeOfDay,
    8,
    "byte long for time",
    "time",
);
pub(super) static SHORT: NumberType = number(
    "org.apache.cassandra.db.marshal.ShortType",
    NumberForm::Signed,
    2,
    "bytes for a smallint",
    "short",
);
pub(super) static BYTE: NumberType =
    number("org.apache.cassandra.db.marshal.ByteType", NumberForm::Signed, 1, "bytes for a tinyint", "byte");

impl NumberType {
    /// Returns an integer that sorts as the number does; `None` for bytes that are not a value.
    fn rank(&self, value: &[u8]) -> Option<u64> {
        if value.len() != self.width {
            return None;
        }
        let bits = value.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let sign = 1u64 << (8 * self.width - 1);
        let all = sign | (sign - 1);
        Some(match self.form {
            NumberForm::UnsignedDate | NumberForm::UnsignedDay | NumberForm::TimeOfDay => bits,
            NumberForm::Signed | NumberForm::SignedDate => bits ^ sign,
            // Java treats all NaNs as one value.
            NumberForm::Float if self.is_nan(bits) => all,
            NumberForm::Float if bits & sign != 0 => !bits & all,
            NumberForm::Float => bits | sign,
        })
    }

    fn is_nan(&self, bits: u64) -> bool {
        if self.width == 4 {
            u32::try_from(bits).is_ok_and(|bits| f32::from_bits(bits).is_nan())
        } else {
            f64::from_bits(bits).is_nan()
        }
    }

    fn length_error(&self, length: usize) -> MarshalError {
        MarshalError(format!("Expected {} or 0 {} ({length})", self.width, self.called))
    }

    /// Returns the rank of the number at the beginning of the value; further bytes are ignored.
    fn leading_rank(&self, value: &[u8]) -> Result<u64, MarshalError> {
        let number = value.get(..self.width).and_then(|number| self.rank(number));
        number.ok_or_else(|| self.length_error(value.len()))
    }

    fn unreadable(&self, text: &str) -> MarshalError {
        MarshalError(match self.form {
            NumberForm::UnsignedDate | NumberForm::SignedDate => {
                format!("unable to coerce '{text}' to a  formatted date (long)")
            }
            NumberForm::UnsignedDay | NumberForm::TimeOfDay => {
                format!("Unable to coerce '{text}' to a formatted {} (long)", self.text_called)
            }
            _ => format!("unable to make {} from '{text}'", self.text_called),
        })
    }
}

impl AbstractType for &'static NumberType {
    fn class_name(&self) -> &str {
        self.class_name
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        if value.is_empty() || value.len() == self.width {
            return match self.rank(value) {
                Some(rank) if self.form == NumberForm::TimeOfDay && rank >= NS_PER_DAY => {
                    Err(MarshalError(format!("Input long out of bounds: {}", rank.cast_signed())))
                }
                _ => Ok(()),
            };
        }
        Err(self.length_error(value.len()))
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match (self.rank(left), self.rank(right)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => compare_stored(self, left, right),
        }
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        match self.form {
            NumberForm::Signed | NumberForm::SignedDate => Ok(compare_signed_first(left, right)),
            NumberForm::UnsignedDate | NumberForm::UnsignedDay | NumberForm::TimeOfDay => Ok(left.cmp(right)),
            NumberForm::Float => match empty_first(left, right) {
                Some(order) => Ok(order),
                None => Ok(self.leading_rank(left)?.cmp(&self.leading_rank(right)?)),
            },
        }
    }

    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        match self.rank(name) {
            Some(rank) => out.extend_from_slice(rank.to_be_bytes().split_at(8 - self.width).1),
            None => out.extend_from_slice(name),
        }
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        if ordered.len() != self.width {
            return Some(ordered.to_vec());
        }
        let rank = ordered.iter().fold(0u64, |rank, byte| rank << 8 | u64::from(*byte));
        let sign = 1u64 << (8 * self.width - 1);
        let bits = match self.form {
            NumberForm::UnsignedDate | NumberForm::UnsignedDay | NumberForm::TimeOfDay => rank,
            NumberForm::Signed | NumberForm::SignedDate => rank ^ sign,
            NumberForm::Float if rank & sign != 0 => rank ^ sign,
            NumberForm::Float => !rank & (sign | (sign - 1)),
        };
        Some(bits.to_be_bytes().split_at(8 - self.width).1.to_vec())
    }

    fn ordered_is_name(&self) -> bool {
        matches!(self.form, NumberForm::UnsignedDate | NumberForm::UnsignedDay | NumberForm::TimeOfDay)
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        if value.len() != self.width {
            return BytesType.to_text(value);
        }
        let bits = value.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        match (self.form, self.width) {
            (NumberForm::UnsignedDate | NumberForm::SignedDate, _) => date_text::to_text(bits.cast_signed()),
            (NumberForm::Float, 4) => {
                format!("{:?}", f32::from_bits(u32::try_from(bits).unwrap_or_default()))
            }
            (NumberForm::Float, _) => format!("{:?}", f64::from_bits(bits)),
            (NumberForm::UnsignedDay, _) => day_text::date_to_text(bits.cast_signed() - DAY_OF_1970),
            (NumberForm::TimeOfDay, _) => day_text::time_to_text(bits),
            (NumberForm::Signed, width) => {
                let unused = 64 - 8 * width;
                ((bits << unused).cast_signed() >> unused).to_string()
            }
        }
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let unreadable = || self.unreadable(text);
        let bytes = match (self.form, self.width) {
            (NumberForm::UnsignedDate | NumberForm::SignedDate, _) => {
                date_text::parse(text).ok_or_else(unreadable)?.to_be_bytes().to_vec()
            }
            // Java writes the same bits for every NaN, also for one with a sign.
            (NumberForm::Float, 4) => {
                let number: f32 = text.parse().map_err(|_| unreadable())?;
                (if number.is_nan() { f32::NAN } else { number }).to_be_bytes().to_vec()
            }
            (NumberForm::Float, _) => {
                let number: f64 = text.parse().map_err(|_| unreadable())?;
                (if number.is_nan() { f64::NAN } else { number }).to_be_bytes().to_vec()
            }
            (NumberForm::UnsignedDay, _) => {
                let day = day_text::parse_date(text, DAY_OF_1970).ok_or_else(unreadable)?;
                day.to_be_bytes().to_vec()
            }
            (NumberForm::TimeOfDay, _) => day_text::parse_time(text)
                .filter(|time| *time < NS_PER_DAY)
                .ok_or_else(unreadable)?
                .to_be_bytes()
                .to_vec(),
            (NumberForm::Signed, 1) => text.parse::<i8>().map_err(|_| unreadable())?.to_be_bytes().to_vec(),
            (NumberForm::Signed, 2) => text.parse::<i16>().map_err(|_| unreadable())?.to_be_bytes().to_vec(),
            (NumberForm::Signed, 4) => text.parse::<i32>().map_err(|_| unreadable())?.to_be_bytes().to_vec(),
            (NumberForm::Signed, _) => text.parse::<i64>().map_err(|_| unreadable())?.to_be_bytes().to_vec(),
        };
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_as_in_java() {
        let doubles = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        let names: Vec<Vec<u8>> = doubles.iter().map(|number| number.to_be_bytes().to_vec()).collect();
        assert!(names.is_sorted_by(|a, b| (&&DOUBLE).compare(a, b).is_lt()));
        let ints: Vec<Vec<u8>> =
            [i32::MIN, -1, 0, 1, i32::MAX].iter().map(|number| number.to_be_bytes().to_vec()).collect();
        assert!(ints.is_sorted_by(|a, b| (&&INT32).compare(a, b).is_lt()));
        let (before_1970, after) = ((-1i64).to_be_bytes(), 1i64.to_be_bytes());
        assert!((&&DATE).compare(&before_1970, &after).is_gt());
        assert!((&&TIMESTAMP).compare(&before_1970, &after).is_lt());
    }

    #[test]
    fn wrong_lengths_are_refused_in_cassandras_words() {
        let text = |comparator: &'static NumberType| comparator.validate(b"x").unwrap_err().0;
        assert_eq!(text(&INT32), "Expected 4 or 0 byte int (1)");
        assert_eq!(text(&DATE), "Expected 8 or 0 byte long for date (1)");
        assert_eq!(text(&DOUBLE), "Expected 8 or 0 byte value for a double (1)");
        assert_eq!(text(&FLOAT), "Expected 4 or 0 byte value for a float (1)");
        assert_eq!(text(&COUNTER_COLUMN), "Expected 8 or 0 byte long (1)");
    }

    #[test]
    fn numbers_and_dates_are_parsed_and_formatted() {
        assert_eq!((&DOUBLE).to_text(&1.5f64.to_be_bytes()), "1.5");
        assert_eq!((&INT32).parse_text("x").unwrap_err().0, "unable to make int from 'x'");
        let timestamp = (&DATE).parse_text("2009-08-18 01:15:30+0000").unwrap();
        assert_eq!((&DATE).to_text(&timestamp), "2009-08-18 01:15:30+0000");
        assert_eq!(timestamp, 1_250_558_130_000i64.to_be_bytes());
    }
}
