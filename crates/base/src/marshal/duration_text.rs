//! The text forms of durations: `1y2mo3d4h5m6s7ms8us9ns`, and the forms of ISO 8601, `P1Y2M3DT4H5M6S`, `P3W` and
//! `P0001-02-03T04:05:06`.

use super::duration_type::Duration;

const SECOND: i64 = 1_000_000_000;

/// The part of a duration that a unit belongs to, and how much of it the unit is.
#[derive(Debug, Clone, Copy)]
enum DurationUnit {
    Months(i32),
    Days(i32),
    Nanos(i64),
}

/// The units from the longest to the shortest: the symbol, and the name in messages.
const UNITS: [(&str, &str, DurationUnit); 10] = [
    ("y", "years", DurationUnit::Months(12)),
    ("mo", "months", DurationUnit::Months(1)),
    ("w", "weeks", DurationUnit::Days(7)),
    ("d", "days", DurationUnit::Days(1)),
    ("h", "hours", DurationUnit::Nanos(3600 * SECOND)),
    ("m", "minutes", DurationUnit::Nanos(60 * SECOND)),
    ("s", "seconds", DurationUnit::Nanos(SECOND)),
    ("ms", "milliseconds", DurationUnit::Nanos(1_000_000)),
    ("us", "microseconds", DurationUnit::Nanos(1000)),
    ("ns", "nanoseconds", DurationUnit::Nanos(1)),
];

/// Formats a duration in units, `1y2mo3d`. Weeks are written as days.
pub(super) fn to_text(duration: Duration) -> String {
    let Duration { months, days, nanos } = duration;
    let is_negative = months < 0 || days < 0 || nanos < 0;
    let mut text = if is_negative { "-".to_owned() } else { String::new() };
    let (mut months, days, mut nanos) = (months.unsigned_abs(), days.unsigned_abs(), nanos.unsigned_abs());
    for (unit, _, of) in UNITS {
        let count = match of {
            DurationUnit::Months(each) => {
                let each = each.unsigned_abs();
                let count = months / each;
                months %= each;
                u64::from(count)
            }
            DurationUnit::Days(1) => u64::from(days),
            DurationUnit::Days(_) => 0,
            DurationUnit::Nanos(each) => {
                let count = nanos / each.unsigned_abs();
                nanos %= each.unsigned_abs();
                count
            }
        };
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    if text.is_empty() { "0ns".to_owned() } else { text }
}

/// Parses a duration. The error is Cassandra's message.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let unreadable = || format!("Unable to convert '{text}' to a duration");
    let (is_negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let parts = match rest.strip_prefix('P') {
        Some(rest) => iso_parts(rest).ok_or_else(unreadable)?,
        None => unit_parts(rest).ok_or_else(unreadable)?,
    };
    let mut sum = Duration { months: 0, days: 0, nanos: 0 };
    let mut last: Option<(usize, &str)> = None;
    for (count, at) in parts {
        let (_, name, of) = *UNITS.get(at).ok_or_else(unreadable)?;
        match last {
            Some((before, _)) if before == at => {
                return Err(format!("Invalid duration. The {name} are specified multiple times"));
            }
            Some((before, earlier)) if before > at => {
                return Err(format!("Invalid duration. The {earlier} should be after {name}"));
            }
            _ => last = Some((at, name)),
        }
        // The sign is applied before the range check: i32::MIN has no positive counterpart.
        let count = if is_negative { i64::try_from(count).map(|count| -count) } else { i64::try_from(count) };
        let too_large =
            || format!("Invalid duration. The total number of {name} must be less or equal to its maximum");
        let count = count.map_err(|_| too_large())?;
        let small = i32::try_from(count).map_err(|_| too_large());
        let added = match of {
            DurationUnit::Months(each) => {
                let more = small?.checked_mul(each);
                more.and_then(|more| sum.months.checked_add(more)).map(|months| sum.months = months)
            }
            DurationUnit::Days(each) => {
                let more = small?.checked_mul(each);
                more.and_then(|more| sum.days.checked_add(more)).map(|days| sum.days = days)
            }
            DurationUnit::Nanos(each) => {
                let more = count.checked_mul(each);
                more.and_then(|more| sum.nanos.checked_add(more)).map(|nanos| sum.nanos = nanos)
            }
        };
        added.ok_or_else(too_large)?;
    }
    Ok(sum)
}

/// Removes a number from the beginning of the text and returns it.
fn take_number(rest: &mut &str) -> Option<u64> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at_checked(end)?;
    *rest = after;
    digits.parse().ok()
}

/// Parses numbers with units. Returns each number with the index of its unit in `UNITS`.
fn unit_parts(text: &str) -> Option<Vec<(u64, usize)>> {
    let mut rest = text;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let count = take_number(&mut rest)?;
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (unit, after) = rest.split_at_checked(end)?;
        rest = after;
        let unit = unit.to_lowercase().replace('µ', "u");
        parts.push((count, UNITS.iter().position(|(known, ..)| *known == unit)?));
    }
    (!parts.is_empty()).then_some(parts)
}

/// Parses a duration of ISO 8601 without its `P`. Returns each number with the index of its unit in `UNITS`.
fn iso_parts(text: &str) -> Option<Vec<(u64, usize)>> {
    if let Some(parts) = iso_alternative(text) {
        return Some(parts);
    }
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let mut parts = Vec::new();
    let mut take = |mut rest: &str, units: &[(char, usize)]| {
        while !rest.is_empty() {
            let count = take_number(&mut rest)?;
            let unit = rest.chars().next()?;
            rest = &rest[unit.len_utf8()..];
            let (_, place) = units.iter().find(|(known, _)| *known == unit)?;
            parts.push((count, *place));
        }
        Some(())
    };
    take(date, &[('Y', 0), ('M', 1), ('W', 2), ('D', 3)])?;
    match time {
        Some("") => return None,
        Some(time) => take(time, &[('H', 4), ('M', 5), ('S', 6)])?,
        None => {}
    }
    (!parts.is_empty()).then_some(parts)
}

/// Parses the alternative form of ISO 8601, `0001-02-03T04:05:06`.
fn iso_alternative(text: &str) -> Option<Vec<(u64, usize)>> {
    let (date, time) = text.split_once('T')?;
    let widths = |text: &str, separator: char, widths: [usize; 3]| {
        let fields: Vec<&str> = text.split(separator).collect();
        let are_good = fields.len() == 3
            && fields.iter().zip(&widths).all(|(field, width): (&&str, &usize)| {
                field.len() == *width && field.bytes().all(|byte| byte.is_ascii_digit())
            });
        are_good.then(|| fields.iter().filter_map(|field| field.parse::<u64>().ok()).collect::<Vec<_>>())
    };
    let counts = [widths(date, '-', [4, 2, 2])?, widths(time, ':', [2, 2, 2])?].concat();
    Some(counts.into_iter().zip([0, 1, 3, 4, 5, 6]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_forms_are_parsed_and_one_is_written() {
        let all = Duration { months: 14, days: 3, nanos: ((4 * 60 + 5) * 60 + 6) * SECOND };
        assert_eq!(parse("1y2mo3d4h5m6s"), Ok(all));
        assert_eq!(parse("P1Y2M3DT4H5M6S"), Ok(all));
        assert_eq!(parse("P0001-02-03T04:05:06"), Ok(all));
        assert_eq!(parse("P2W"), parse("14d"));
        assert_eq!(parse("7MS8µs9nS"), parse("7ms8us9ns"));
        assert_eq!(to_text(all), "1y2mo3d4h5m6s");
        assert_eq!(to_text(Duration { months: -1, days: -2, nanos: -3 }), "-1mo2d3ns");
        assert_eq!(to_text(Duration { months: 0, days: 0, nanos: 0 }), "0ns");
    }

    #[test]
    fn text_that_is_not_a_duration_is_refused() {
        assert_eq!(parse("1d1y").unwrap_err(), "Invalid duration. The days should be after years");
        assert_eq!(parse("1d2d").unwrap_err(), "Invalid duration. The days are specified multiple times");
        for text in ["1", "d", "1x", "P", "PT", "P1H", "1d ", "", "-", "P1-2-3T4:5:6"] {
            assert_eq!(parse(text).unwrap_err(), format!("Unable to convert '{text}' to a duration"));
        }
        assert!(
            parse("2147483648mo").unwrap_err().starts_with("Invalid duration. The total number of months")
        );
        assert!(parse("9999999999999h").is_err());
    }

    proptest! {
        #[test]
        fn random_text_never_panics(text in "[-PT0-9ymodwhsnuµ:é]{0,20}") {
            let _ = parse(&text);
        }
    }
}
