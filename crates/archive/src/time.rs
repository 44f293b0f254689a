//! Times of an archive: microseconds since 1970, and their texts.

use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat};

/// Returns the current time in microseconds since 1970.
pub(crate) fn now_us() -> i64 {
    DateTime::<chrono::Utc>::from(SystemTime::now()).timestamp_micros()
}

/// Formats microseconds since 1970 as `2026-11-26T10:15:00.000Z`.
pub fn format_time(micros: i64) -> String {
    let time = DateTime::from_timestamp_micros(micros).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Formats microseconds since 1970 for names: `20261126T101500Z`.
pub(crate) fn name_of_time(micros: i64) -> String {
    DateTime::from_timestamp_micros(micros).unwrap_or_default().format("%Y%m%dT%H%M%SZ").to_string()
}

/// Reads a time with an offset or Z, or one in UTC without, such as `2026-11-26 10:15` or `2026-11-26`. Returns
/// microseconds since 1970.
///
/// # Errors
/// The forms that can be read.
pub fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.timestamp_micros());
    }
    let text = text.trim_end_matches('Z').replace('T', " ");
    for form in ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(&text, form) {
            return Ok(time.and_utc().timestamp_micros());
        }
    }
    let day = NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok().and_then(|day| day.and_hms_opt(0, 0, 0));
    day.map(|day| day.and_utc().timestamp_micros())
        .ok_or_else(|| "use a time such as 2026-11-26T10:15:00Z, or 2026-11-26 10:15 in UTC".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_several_forms() {
        let expected = 1_764_152_100_000_000;
        for text in [
            "2025-11-26T10:15:00Z",
            "2025-11-26T11:15:00+01:00",
            "2025-11-26 10:15:00.000",
            "2025-11-26 10:15",
            "2025-11-26T10:15Z",
        ] {
            assert_eq!(parse_time(text), Ok(expected), "{text}");
        }
        assert_eq!(format_time(expected), "2025-11-26T10:15:00.000Z");
        assert_eq!(parse_time(&format_time(expected + 1000)), Ok(expected + 1000));
        assert_eq!(parse_time("2025-11-26"), Ok(expected - 36_900_000_000));
        for wrong in ["", "yesterday", "10:15", "2025-13-01"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
