//! Values that servers make themselves, such as the time of a write.

use strum::VariantArray;

use super::RunSpan;

/// A kind of value that each server makes for itself. Two servers make different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub(crate) enum MadeValue {
    /// Microseconds since 1970: the timestamp of a write.
    Micros,
    /// Milliseconds since 1970, of CQL's type timestamp.
    Millis,
    /// A UUID of version 1.
    TimeUuid,
    /// A UUID of version 4.
    RandomUuid,
    /// CQL's type date: days since 1970, from 2^31 on.
    Date,
    /// CQL's type time: nanoseconds since midnight, UTC.
    TimeOfDay,
}

/// Microseconds from 1582, when the times of UUIDs begin, to 1970.
const UUID_EPOCH_US: i64 = 12_219_292_800_000_000;
const DAY_US: i64 = 86_400_000_000;

impl MadeValue {
    /// All kinds.
    pub(crate) const ALL: &[MadeValue] = MadeValue::VARIANTS;

    /// Returns whether a server may have made the value in a run of this span.
    pub(crate) fn is_of(self, span: RunSpan, bytes: &[u8]) -> bool {
        let number = || <[u8; 8]>::try_from(bytes).ok().map(i64::from_be_bytes);
        let is_within = match self {
            MadeValue::Micros => number().map(|us| span.has(us)),
            MadeValue::Millis => number().map(|ms| span.has(ms.saturating_mul(1000))),
            MadeValue::TimeUuid => time_of_uuid(bytes).map(|us| span.has(us)),
            MadeValue::RandomUuid => Some(version_of(bytes) == Some(4)),
            MadeValue::Date => <[u8; 4]>::try_from(bytes).ok().map(|bytes| {
                let day = i64::from(u32::from_be_bytes(bytes)) - (1 << 31);
                let from_us = day.saturating_mul(DAY_US);
                span.overlaps(from_us, from_us.saturating_add(DAY_US - 1))
            }),
            MadeValue::TimeOfDay => number().filter(|ns| (0..DAY_US * 1000).contains(ns)).map(|ns| {
                // The first such time after the beginning of the run.
                let from = span.with_clocks().from_us;
                span.has(from + (ns / 1000 - from).rem_euclid(DAY_US))
            }),
        };
        is_within.unwrap_or(false)
    }
}

/// Returns the version of a UUID; `None` if the bytes are none.
fn version_of(uuid: &[u8]) -> Option<u8> {
    let [_, _, _, _, _, _, version, _, variant, ..] = <[u8; 16]>::try_from(uuid).ok()?;
    (variant & 0xc0 == 0x80).then_some(version >> 4)
}

/// Returns the time of a UUID of version 1, in microseconds since 1970.
fn time_of_uuid(uuid: &[u8]) -> Option<i64> {
    if version_of(uuid)? != 1 {
        return None;
    }
    let uuid = <&[u8; 16]>::try_from(uuid).ok()?;
    let [a, b, c, d, e, f, g, h, ..] = *uuid;
    let ticks = i64::from_be_bytes([g & 0x0f, h, e, f, a, b, c, d]);
    Some(ticks / 10 - UUID_EPOCH_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_uuid_is_that_of_its_fields() {
        // 13814000-1dd2-11b2-8080-808080808080 is the first UUID of 1970.
        let mut uuid =
            [0x13, 0x81, 0x40, 0x00, 0x1d, 0xd2, 0x11, 0xb2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
        assert_eq!(time_of_uuid(&uuid), Some(0));
        uuid[3] = 20;
        assert_eq!(time_of_uuid(&uuid), Some(2));
        uuid[6] = 0x41;
        assert_eq!(time_of_uuid(&uuid), None);
        assert_eq!(time_of_uuid(&uuid[1..]), None);
    }

    #[test]
    fn dates_and_times_of_day_are_of_the_run() {
        let hour_us = 3_600_000_000;
        // From 23:30 on day 10 to 0:30 on day 11.
        let from_us = 10 * DAY_US + 23 * hour_us + hour_us / 2;
        let span = RunSpan { from_us, to_us: from_us + hour_us };
        let date = |day: u32| (day + (1 << 31)).to_be_bytes();
        let dates: Vec<_> = (8..14).filter(|day| MadeValue::Date.is_of(span, &date(*day))).collect();
        assert_eq!(dates, [10, 11]);
        let time = |minutes: i64| (minutes * 60_000_000_000).to_be_bytes();
        for (minutes, is_of) in [(0, true), (29, true), (33, false), (23 * 60, false), (23 * 60 + 40, true)] {
            assert_eq!(MadeValue::TimeOfDay.is_of(span, &time(minutes)), is_of, "{minutes}");
        }
        assert!(!MadeValue::TimeOfDay.is_of(span, &time(24 * 60)) && !MadeValue::Date.is_of(span, b""));
    }
}
