//! The text forms of dates without a time, `2014-01-01`, and of times of day, `08:12:54.123456789`.

use super::date_text::{date_of, days_of};

/// Formats a number of days since 1970 as a date.
pub(super) fn date_to_text(days: i64) -> String {
    let (year, month, day) = date_of(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Parses a date, or the number that the type stores for a day. `first` is the number of 1970-01-01. Returns `None` if
/// the text is neither or the number does not fit into 32 bits.
pub(super) fn parse_date(text: &str, first: i64) -> Option<u32> {
    if let Ok(number) = text.parse::<i64>() {
        return u32::try_from(number).ok();
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut parts = digits.split('-').map(|part| part.parse::<u32>().ok().map(i64::from));
    let (Some(Some(year)), Some(Some(month)), Some(Some(day)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let days = days_of(sign * year, month, day);
    // A day that the month does not have would become a day of another month.
    let is_date = (1..=12).contains(&month) && date_of(days) == (sign * year, month, day);
    if is_date { u32::try_from(days.checked_add(first)?).ok() } else { None }
}

/// Formats nanoseconds since midnight as a time.
pub(super) fn time_to_text(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hour:02}:{minute:02}:{second:02}.{:09}", ns % 1_000_000_000)
}

/// Parses a time of day, or a number of nanoseconds since midnight. The caller checks that a number is within a day.
pub(super) fn parse_time(text: &str) -> Option<u64> {
    if let Ok(ns) = text.parse::<u64>() {
        return Some(ns);
    }
    let (time, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|digit| digit.is_ascii_digit());
    if !is_fraction {
        return None;
    }
    let mut parts = time.split(':').map(|part| part.parse::<u8>().ok().map(u64::from));
    let (Some(Some(hour)), Some(Some(minute)), Some(Some(second)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then_some(((hour * 60 + minute) * 60 + second) * 1_000_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIRST: i64 = 1 << 31;

    proptest! {
        #[test]
        fn times_and_dates_are_parsed_back(ns in 0u64..86_400_000_000_000, days in -700_000i64..2_000_000) {
            prop_assert_eq!(parse_time(&time_to_text(ns)), Some(ns));
            prop_assert_eq!(parse_date(&date_to_text(days), FIRST).map(i64::from), Some(days + FIRST));
        }

        #[test]
        fn random_text_never_panics(text in "[-:.0-9é]{0,24}") {
            let _ = (parse_time(&text), parse_date(&text, FIRST));
        }
    }

    #[test]
    fn dates_and_times_are_parsed() {
        assert_eq!(parse_date("1970-01-02", FIRST), Some(2_147_483_649));
        assert_eq!(parse_date("2147483648", FIRST), Some(2_147_483_648));
        assert_eq!(parse_date("2014-02-30", FIRST), None);
        assert_eq!(parse_time("08:12:54.1"), Some(29_574_100_000_000));
        assert_eq!(parse_time("24:00:00"), None);
    }
}
