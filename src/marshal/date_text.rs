//! Dates as text: `2009-08-18 01:15:30+0000`.

const MS_PER_DAY: i64 = 86_400_000;

/// Days since 1970 of a date of the Gregorian calendar.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is a year's last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a day.
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

/// Milliseconds since 1970 as a date and time in UTC. What is no whole second is not shown.
pub(super) fn to_text(ms: i64) -> String {
    let (days, of_day) = (ms.div_euclid(MS_PER_DAY), ms.rem_euclid(MS_PER_DAY));
    let (year, month, day) = date_of(days);
    let seconds = of_day / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}+0000")
}

/// Reads milliseconds, or a date with or without a time and a zone: `yyyy-MM-dd[ HH:mm[:ss[.SSS]]][Z]`, with a `T`
/// for the blank if one likes. `now` is left to who knows the time.
pub(super) fn parse(text: &str) -> Option<i64> {
    if let Ok(ms) = text.parse::<i64>() {
        return Some(ms);
    }
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (Some(Some(year)), Some(Some(month)), Some(Some(day)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (time, zone) = split_zone(rest)?;
    let of_day = if time.is_empty() { 0 } else { parse_time(time.strip_prefix([' ', 'T'])?)? };
    days_of(year, month, day).checked_mul(MS_PER_DAY)?.checked_add(of_day)?.checked_sub(zone)
}

/// A time's text and what its zone is ahead of UTC, in milliseconds.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some((time, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (time, zone) = text.split_at_checked(at)?;
    let digits: String = zone[1..].chars().filter(char::is_ascii_digit).collect();
    if digits.len() != 4 {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    let ahead = (number / 100 * 60 + number % 100) * 60_000;
    Some((time, if zone.starts_with('-') { -ahead } else { ahead }))
}

fn parse_time(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let ms = match parts.next() {
        None => 0,
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
            whole.parse::<i64>().ok()? * 1000 + fraction.parse::<i64>().ok()?
        }
    };
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60_000).contains(&ms);
    (is_time && parts.next().is_none()).then_some((hour * 60 + minute) * 60_000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn seconds_come_back(second in -60_000_000_000i64..200_000_000_000) {
            prop_assert_eq!(parse(&to_text(second * 1000)), Some(second * 1000));
        }

        #[test]
        fn foreign_text_is_none_and_no_panic(text in "\\PC{0,24}") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn forms() {
        for text in [
            "2009-08-18",
            "2009-08-18 00:00",
            "2009-08-18T00:00:00",
            "2009-08-18 02:00+0200",
            "1250553600000",
        ] {
            assert_eq!(parse(text), Some(1_250_553_600_000), "{text}");
        }
        assert_eq!(parse("2009-13-18"), None);
        assert_eq!(to_text(-1000), "1969-12-31 23:59:59+0000");
    }
}
