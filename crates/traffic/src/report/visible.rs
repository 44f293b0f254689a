//! Prints texts of clients and servers so that they cannot change how a report looks: neither a terminal nor a browser
//! obeys them.

use std::fmt::{self, Display, Write};

use base::util::is_invisible;

/// A text of a client or server, on one line. Control characters, invisible characters, and those that change the
/// direction of text are printed by their numbers: `\u{202e}`.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'a>(pub &'a str);

impl Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| write_visible(f, character))
    }
}

/// The same in HTML, as text or as the value of an attribute in quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, write_visible)
    }
}

/// Several lines in HTML.
#[derive(Debug, Clone, Copy)]
pub(super) struct EscapedLines<'a>(pub &'a str);

impl Display for EscapedLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, |f, character| match character {
            '\n' => f.write_char('\n'),
            other => write_visible(f, other),
        })
    }
}

fn escape(
    f: &mut fmt::Formatter<'_>,
    text: &str,
    other: impl Fn(&mut fmt::Formatter<'_>, char) -> fmt::Result,
) -> fmt::Result {
    text.chars().try_for_each(|character| match character {
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '&' => f.write_str("&amp;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        character => other(f, character),
    })
}

fn write_visible(f: &mut fmt::Formatter<'_>, character: char) -> fmt::Result {
    match character {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        character if is_invisible(character) => write!(f, "\\u{{{:x}}}", u32::from(character)),
        character => f.write_char(character),
    }
}

/// A number with separated thousands: `1,204,331`.
#[derive(Debug, Clone, Copy)]
pub struct Thousands(pub u64);

impl Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3);
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

/// A latency in the unit in which it is short: `870 µs`, `1.25 ms`, `3.4 s`.
#[derive(Debug, Clone, Copy)]
pub struct Micros(pub f64);

impl Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            us if us < 999.5 => (us, "µs"),
            us if us < 999_500.0 => (us / 1e3, "ms"),
            us => (us / 1e6, "s"),
        };
        let digits = match value {
            value if unit == "µs" || value >= 99.95 => 0,
            value if value >= 9.995 => 1,
            _ => 2,
        };
        f.pad(&format!("{value:.digits$} {unit}"))
    }
}

/// A share in percent. It is only `0 %` or `100 %` if it is exactly that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Percent {
    pub part: u64,
    pub whole: u64,
}

impl Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.part as f64 * 100.0 / self.whole.max(1) as f64;
        f.pad(&match percent {
            _ if self.part == 0 => "0 %".to_owned(),
            _ if self.part == self.whole => "100 %".to_owned(),
            percent if percent < 0.01 => "< 0.01 %".to_owned(),
            percent if percent > 99.99 => "> 99.99 %".to_owned(),
            percent if percent < 10.0 => format!("{percent:.2} %"),
            percent => format!("{percent:.1} %"),
        })
    }
}

/// They escape what they show, or show only numbers.
impl askama::filters::HtmlSafe for Escaped<'_> {}
impl askama::filters::HtmlSafe for EscapedLines<'_> {}
impl askama::filters::HtmlSafe for Thousands {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_have_no_effect() {
        let hostile = "<b>'&\"\u{1b}[31m\u{202e}x\u{0}\n\u{200b}é日";
        assert_eq!(Visible(hostile).to_string(), "<b>'&\"\\u{1b}[31m\\u{202e}x\\u{0}\\n\\u{200b}é日");
        let escaped = "&lt;b&gt;&#39;&amp;&quot;\\u{1b}[31m\\u{202e}x\\u{0}\\n\\u{200b}é日";
        assert_eq!(Escaped(hostile).to_string(), escaped);
        assert_eq!(EscapedLines(hostile).to_string(), escaped.replace("\\n", "\n"));
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [0, 999, 1_000, 1_204_331].map(|n| Thousands(n).to_string()),
            ["0", "999", "1,000", "1,204,331"]
        );
        let latencies = [0.0, 870.0, 999.7, 1250.0, 12_345.0, 123_456.0, 999_600.0, 75_000_000.0];
        assert_eq!(
            latencies.map(|us| Micros(us).to_string()),
            ["0 µs", "870 µs", "1.00 ms", "1.25 ms", "12.3 ms", "123 ms", "1.00 s", "75.0 s"]
        );
        let shares = [(0, 9), (9, 9), (1, 100_000), (99_999, 100_000), (1, 3), (1, 30), (0, 0)];
        assert_eq!(
            shares.map(|(part, whole)| Percent { part, whole }.to_string()),
            ["0 %", "100 %", "< 0.01 %", "> 99.99 %", "33.3 %", "3.33 %", "0 %"]
        );
    }
}
