//! The text forms of timestamps: `2009-08-18 01:15:30+0000`.

use crate::util::Release;

const MS_PER_DAY: i64 = 86_400_000;

/// Returns the days since 1970 of a date of the Gregorian calendar.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years are counted from March here, so that the leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns year, month and day of a number of days since 1970.
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Formats milliseconds since 1970 as a date and time in UTC, without fractions of a second.
pub(super) fn to_text(ms: i64) -> String {
    let (days, of_day) = (ms.div_euclid(MS_PER_DAY), ms.rem_euclid(MS_PER_DAY));
    let (year, month, day) = date_of(days);
    let seconds = of_day / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}+0000")
}

/// Formats milliseconds since 1970 as Cassandra does in JSON: `2009-08-18 01:15:30.000Z`.
pub fn timestamp_text(ms: i64) -> String {
    let whole = to_text(ms);
    let seconds = whole.strip_suffix("+0000").unwrap_or(&whole);
    format!("{seconds}.{:03}Z", ms.rem_euclid(1000))
}

/// Parses a number of milliseconds, or a date with or without a time and a zone: `yyyy-MM-dd[ HH:mm[:ss[.SSS]]][zone]`.
/// A `T` may replace the blank. `now` is not known here; callers that have a clock handle it.
///
/// As in Java, numbers may have fewer digits, and the digits after the point are a number of milliseconds: `.5` is 5
/// ms.
pub fn parse(text: &str) -> Option<i64> {
    if let Ok(ms) = text.parse::<i64>() {
        return Some(ms);
    }
    let mut rest = text;
    let year = take_number(&mut rest, 9)?;
    let month = take_number(take_sign(&mut rest, '-')?, 2)?;
    let day = take_number(take_sign(&mut rest, '-')?, 2)?;
    let days = days_of(year, month, day);
    // A day that the month does not have would become a day of another month.
    if !(1..=12).contains(&month) || date_of(days) != (year, month, day) {
        return None;
    }
    let has_time = rest.strip_prefix([' ', 'T']).is_some_and(|time| {
        let time = time.trim_start_matches([' ', '\t']);
        time.starts_with(is_digit)
    });
    let of_day = if has_time { take_time(&mut rest)? } else { 0 };
    days.checked_mul(MS_PER_DAY)?.checked_add(of_day)?.checked_sub(zone(rest)?)
}

/// Returns whether a release's CQL accepted a date of this form. 2.1 had no zone names. 1.2 had no fractions of a
/// second, no milliseconds before 1970, and only zones of the form `+hhmm` and names.
pub fn is_date_of(text: &str, release: Release) -> bool {
    if release >= Release::V2_0 {
        return ![" ", "UTC", "GMT"].iter().any(|end| text.ends_with(end));
    }
    let time = text.get(10..).unwrap_or_default();
    let (clock, zone) = time.split_at(time.find(['+', '-']).unwrap_or(time.len()));
    let is_zone = zone.is_empty() || zone.len() == 5 && !zone.contains(':');
    !text.starts_with('-') && !text.ends_with(' ') && !clock.contains(['.', 'Z']) && is_zone
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// Removes a number of at most `digits_max` digits from the beginning of the text and returns it. Blanks before it are
/// ignored, as in Java.
fn take_number(rest: &mut &str, digits_max: usize) -> Option<i64> {
    *rest = rest.trim_start_matches([' ', '\t']);
    let end = rest.find(|character| !is_digit(character)).unwrap_or(rest.len());
    let (digits, after) = rest.split_at_checked(end)?;
    if digits.len() > digits_max {
        return None;
    }
    *rest = after;
    digits.parse().ok()
}

/// Removes a character from the beginning of the text; `None` if the text begins otherwise.
fn take_sign<'a, 'b>(rest: &'a mut &'b str, sign: char) -> Option<&'a mut &'b str> {
    *rest = rest.strip_prefix(sign)?;
    Some(rest)
}

/// Removes a time, and the blank or `T` before it, from the beginning of the text. Returns its milliseconds since
/// midnight.
fn take_time(rest: &mut &str) -> Option<i64> {
    *rest = rest.strip_prefix([' ', 'T'])?;
    let hour = take_number(rest, 2)?;
    let minute = take_number(take_sign(rest, ':')?, 2)?;
    let mut ms = 0;
    if rest.starts_with(':') {
        let second = take_number(take_sign(rest, ':')?, 2)?;
        if second >= 60 {
            return None;
        }
        ms = second * 1000;
        if rest.starts_with('.') {
            ms += take_number(take_sign(rest, '.')?, 3)?;
        }
    }
    (hour < 24 && minute < 60).then_some((hour * 60 + minute) * 60_000 + ms)
}

/// Returns the offset of a zone from UTC in milliseconds. A zone is empty, `Z`, `UTC`, `GMT` or `+hh[[:]mm]`.
fn zone(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(' ');
    if ["", "Z", "UTC", "GMT"].contains(&text) {
        return Some(0);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some(both), _) => both,
        (None, 4) => digits.split_at_checked(2)?,
        (None, _) => (digits, "00"),
    };
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.chars().all(is_digit);
        if is_number { digits.parse::<i64>().ok() } else { None }
    };
    Some(sign * (number(hours)? * 60 + number(minutes)?) * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn seconds_are_parsed_back(second in -60_000_000_000i64..200_000_000_000) {
            prop_assert_eq!(parse(&to_text(second * 1000)), Some(second * 1000));
        }

        #[test]
        fn random_text_never_panics(text in "\\PC{0,24}") {
            let _ = (parse(&text), is_date_of(&text, Release::V1_2));
        }
    }

    #[test]
    fn dates_are_parsed_in_the_forms_of_each_release() {
        for text in [
            "2009-08-18",
            "2009-08-18 00:00",
            "2009-08-18T00:00:00",
            "2009-08-18 02:00+0200",
            "2009-08-18 02:00+02:00",
            "2009-08-17 19:00:00.0-05",
            "2009-8-18 0:00Z",
            "2009-08-18 UTC",
            "1250553600000",
        ] {
            assert_eq!(parse(text), Some(1_250_553_600_000), "{text}");
        }
        for text in [
            "2009-13-18",
            "2009-02-30",
            "2009-08-18 24:00",
            "2009-08-18 00:00x",
            "2009-08-18+020",
            "2009-08-",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("1970-01-01 00:00:01.5"), Some(1005));
        for text in ["2009-08-18", "2009-08-18T00:00:00+0200", "2009-08-18 00:00 UTC", "1250553600000"] {
            assert!(is_date_of(text, Release::V1_2), "{text}");
        }
        for text in ["2009-08-18 00:00:00.0", "2009-08-18T00:00Z", "2009-08-18 00:00+02", "-5"] {
            assert!(!is_date_of(text, Release::V1_2), "{text}");
            assert!(is_date_of(text, Release::V2_1), "{text}");
        }
        assert!(!is_date_of("2009-08-18 00:00 UTC", Release::V2_1));
        assert_eq!(to_text(-1000), "1969-12-31 23:59:59+0000");
    }
}
