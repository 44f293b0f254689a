//! Conversions between date and time types.

use bytes::Bytes;

use super::time_uuid;
use base::marshal::Native;

const MS_PER_DAY: i64 = 86_400_000;

/// The encoded value of the date 1970-01-01.
const DAY_OF_1970: i64 = 1 << 31;

/// Returns the milliseconds since 1970 of a value, or `None` if it is invalid.
pub(super) fn ms_of(native: Native, value: &[u8]) -> Option<i64> {
    match native {
        Native::Timeuuid => Some(time_uuid::unix_ms(value.try_into().ok()?)),
        Native::Timestamp | Native::OldTimestamp => Some(i64::from_be_bytes(value.try_into().ok()?)),
        Native::Date => {
            let day = u32::from_be_bytes(value.try_into().ok()?);
            (i64::from(day) - DAY_OF_1970).checked_mul(MS_PER_DAY)
        }
        _ => None,
    }
}

/// Returns the value of a date or time type, or of bigint, or `None` if the time is out of range.
pub(super) fn of_ms(ms: i64, native: Native) -> Option<Bytes> {
    match native {
        Native::Date => {
            let day = u32::try_from(ms.div_euclid(MS_PER_DAY).checked_add(DAY_OF_1970)?).ok()?;
            Some(Bytes::copy_from_slice(&day.to_be_bytes()))
        }
        _ => Some(Bytes::copy_from_slice(&ms.to_be_bytes())),
    }
}

/// Returns the time of day in nanoseconds.
pub(super) fn time_of_ms(ms: i64) -> Bytes {
    Bytes::copy_from_slice(&(ms.rem_euclid(MS_PER_DAY) * 1_000_000).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporal_values_round_trip() {
        for ms in [0i64, 86_400_000, -1, 1_400_000_000_123] {
            let bytes = of_ms(ms, Native::Timestamp).unwrap();
            assert_eq!(ms_of(Native::Timestamp, &bytes), Some(ms));
            let day = of_ms(ms, Native::Date).unwrap();
            assert_eq!(ms_of(Native::Date, &day), Some(ms - ms.rem_euclid(MS_PER_DAY)));
        }
        assert_eq!(of_ms(i64::MAX, Native::Date), None);
        assert_eq!(&time_of_ms(86_400_001)[..], 1_000_000i64.to_be_bytes());
    }
}
