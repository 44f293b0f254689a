//! Durations, which 3.10 introduced: months, days and nanoseconds. They are three numbers because a month has no fixed
//! number of days and a day no fixed number of nanoseconds.
//!
//! ```text
//!   value    vint months | vint days | vint nanoseconds
//!   vint     the leading ones of the first byte are the number of bytes that follow; the last bit is the sign
//! ```

use std::cmp::Ordering;

use super::{AbstractType, BytesType, MarshalError, StoredOrder, duration_text};
use crate::util::{push_signed_vint, take_signed_vint};

/// A duration. Its parts never have different signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Duration {
    pub months: i32,
    pub days: i32,
    pub nanos: i64,
}

impl Duration {
    fn bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        for part in [i64::from(self.months), i64::from(self.days), self.nanos] {
            push_signed_vint(part, &mut out);
        }
        out
    }

    fn of(value: &[u8]) -> Result<Duration, String> {
        let mut rest = value;
        let mut part =
            || take_signed_vint(&mut rest).ok_or_else(|| "Not enough bytes to read a duration".to_owned());
        let (months, days, nanos) = (part()?, part()?, part()?);
        if !rest.is_empty() {
            return Err(format!("Expected a duration, but {} bytes are left over", rest.len()));
        }
        let limited = |number: i64, what: &str| {
            i32::try_from(number)
                .map_err(|_| format!("The duration {what} must be a 32 bits integer but was: {number}"))
        };
        let (months, days) = (limited(months, "months")?, limited(days, "days")?);
        let signs = [months.signum(), days.signum(), nanos.signum() as i32];
        if signs.contains(&1) && signs.contains(&-1) {
            return Err(format!(
                "The duration months, days and nanoseconds must be all of the same sign ({months}, {days}, {nanos})"
            ));
        }
        Ok(Duration { months, days, nanos })
    }
}

/// Durations have no meaningful order and cannot be keys; this is the order of their bytes.
#[derive(Debug)]
pub struct DurationType;

impl AbstractType for DurationType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.DurationType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        if value.is_empty() {
            return Ok(());
        }
        Duration::of(value).map(|_| ()).map_err(MarshalError)
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    fn ordered_is_name(&self) -> bool {
        true
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        match Duration::of(value) {
            Ok(duration) => duration_text::to_text(duration),
            Err(_) => BytesType.to_text(value),
        }
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        duration_text::parse(text).map(Duration::bytes).map_err(MarshalError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn durations_are_decoded_and_parsed_back(months in 0..=i32::MAX, days in 0..=i32::MAX, nanos in 0..=i64::MAX, is_negative: bool) {
            let sign = if is_negative { -1 } else { 1 };
            let duration = Duration { months: sign * months, days: sign * days, nanos: i64::from(sign) * nanos };
            prop_assert_eq!(Duration::of(&duration.bytes()), Ok(duration));
            let text = DurationType.to_text(&duration.bytes());
            prop_assert_eq!(DurationType.parse_text(&text).unwrap(), duration.bytes());
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
            let _ = (DurationType.validate(&bytes), DurationType.to_text(&bytes));
        }
    }

    #[test]
    fn durations_are_encoded_as_cassandra_does() {
        assert_eq!(DurationType.parse_text("1mo2d3ns").unwrap(), [2, 4, 6]);
        assert_eq!(DurationType.parse_text("-1d").unwrap(), [0, 1, 0]);
        assert_eq!(DurationType.parse_text("64mo").unwrap(), [0x80, 0x80, 0, 0]);
        assert!(DurationType.validate(&[2, 1, 0]).is_err());
        assert!(DurationType.validate(&[2, 2]).is_err());
    }
}
