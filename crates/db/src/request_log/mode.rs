//! The mode of the request log.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The requests that are logged.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RequestLogMode {
    /// None.
    #[default]
    Off,
    /// All.
    All,
    /// Requests that take at least this time.
    Slow(Duration),
    /// Requests that fail.
    Errors,
    /// A part of all requests, chosen at random: a number above 0 and at most 1.
    Sample(f64),
}

const FORMS: &str = "use off, all, errors, slow=50ms (or us, s), or sample=0.01";

impl FromStr for RequestLogMode {
    type Err = String;

    fn from_str(text: &str) -> Result<RequestLogMode, String> {
        let wrong = || format!("unknown mode {text:?} of the log of requests: {FORMS}");
        match text.split_once('=') {
            None if text == "off" => Ok(RequestLogMode::Off),
            None if text == "all" => Ok(RequestLogMode::All),
            None if text == "errors" => Ok(RequestLogMode::Errors),
            Some(("slow", time)) => time_of(time).map(RequestLogMode::Slow).ok_or_else(wrong),
            Some(("sample", part)) => {
                let part = part.parse().ok().filter(|part| *part > 0.0 && *part <= 1.0);
                part.map(RequestLogMode::Sample).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

/// Reads a time with its unit.
fn time_of(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number = number.parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

impl fmt::Display for RequestLogMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestLogMode::Off => out.write_str("off"),
            RequestLogMode::All => out.write_str("all"),
            RequestLogMode::Errors => out.write_str("errors"),
            RequestLogMode::Slow(time) if time.subsec_nanos() == 0 => write!(out, "slow={}s", time.as_secs()),
            RequestLogMode::Slow(time) if time.subsec_micros() % 1000 == 0 => {
                write!(out, "slow={}ms", time.as_millis())
            }
            RequestLogMode::Slow(time) => write!(out, "slow={}us", time.as_micros()),
            RequestLogMode::Sample(part) => write!(out, "sample={part}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_and_printed() {
        for text in ["off", "all", "errors", "slow=50ms", "slow=1500us", "slow=2s", "sample=0.01", "sample=1"]
        {
            assert_eq!(text.parse::<RequestLogMode>().unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "on",
            "slow",
            "slow=",
            "slow=5",
            "slow=ms",
            "slow=-1ms",
            "sample=0",
            "sample=1.1",
            "sample=NaN",
        ] {
            let error = wrong.parse::<RequestLogMode>().unwrap_err();
            assert!(error.contains(FORMS), "{wrong}: {error}");
        }
    }
}
