//! Dates, timestamps and times to live.

use base::marshal::timestamp_text;

/// The years that a number must be in to be shown as a date: since a little before the first Cassandra, in the far past
/// no time stamp was meant as a date.
const FIRST_MS: i64 = 631_152_000_000;
const LAST_MS: i64 = 7_258_118_400_000;

/// A cell's timestamp. Its unit is the client's choice, by convention microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownTime {
    pub raw: i64,
    /// Its date, with the unit if it is not microseconds; empty if no unit makes it a date between 1990 and 2200.
    pub date: String,
}

impl ShownTime {
    pub(crate) fn of(raw: i64) -> ShownTime {
        let date = date_of_micros(raw);
        let date = date.or_else(|| Some(format!("{}, if milliseconds", plausible(raw)?)));
        ShownTime { raw, date: date.unwrap_or_default() }
    }
}

fn plausible(ms: i64) -> Option<String> {
    (FIRST_MS..LAST_MS).contains(&ms).then(|| timestamp_text(ms))
}

/// Returns the date of milliseconds since 1970, if its year has four digits.
pub(super) fn date_of_ms(ms: i64) -> Option<String> {
    (-62_135_596_800_000..253_402_300_800_000).contains(&ms).then(|| timestamp_text(ms))
}

/// Returns the date of microseconds since 1970 with all digits, if it is between 1990 and 2200.
pub(super) fn date_of_micros(micros: i64) -> Option<String> {
    let date = plausible(micros.div_euclid(1000))?;
    Some(match micros.rem_euclid(1000) {
        0 => date,
        rest => format!("{}{rest:03}Z", date.trim_end_matches('Z')),
    })
}

/// Returns the date of seconds since 1970.
pub(crate) fn date_of_seconds(seconds: i32) -> String {
    let date = timestamp_text(i64::from(seconds) * 1000);
    date.strip_suffix(".000Z").map(|date| format!("{date}Z")).unwrap_or(date)
}

/// Returns a number of seconds in its two largest units: `3 days 4 hours`.
pub(crate) fn countdown(seconds: i64) -> String {
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let mut left = seconds.max(0);
    let mut words = Vec::new();
    for (length, unit) in units {
        let count = left / length;
        left %= length;
        if count > 0 {
            words.push(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }));
        } else if !words.is_empty() {
            break;
        }
        if words.len() == 2 {
            break;
        }
    }
    if words.is_empty() { "0 seconds".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_a_date_if_it_can_be_one() {
        let date = |raw| ShownTime::of(raw).date;
        assert_eq!(date(1_250_558_130_000_000), "2009-08-18 01:15:30.000Z");
        assert_eq!(date(1_250_558_130_123_456), "2009-08-18 01:15:30.123456Z");
        assert_eq!(date(1_250_558_130_123), "2009-08-18 01:15:30.123Z, if milliseconds");
        assert_eq!((date(0), date(1), date(i64::MIN), date(i64::MAX)), Default::default());
    }

    #[test]
    fn times_to_live_have_two_units() {
        assert_eq!(countdown(0), "0 seconds");
        assert_eq!(countdown(-5), "0 seconds");
        assert_eq!(countdown(61), "1 minute 1 second");
        assert_eq!(countdown(86_400 + 59), "1 day");
        assert_eq!(countdown(2 * 86_400 + 3600), "2 days 1 hour");
        assert_eq!(date_of_seconds(1_250_558_130), "2009-08-18 01:15:30Z");
    }
}
