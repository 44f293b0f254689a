//! Collects rounds of one operation against two servers and computes their ratio.

use std::fmt::Write;

use super::report::{number, object};
use super::run::RunOutcome;
use base::util::output::{print_line, print_text};

/// The rounds of one operation against one server.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    rates: Vec<f64>,
    p50_us: Vec<f64>,
    p99_us: Vec<f64>,
    columns_per_call: f64,
    failed: u64,
    first_failure: Option<String>,
}

impl Rounds {
    pub(crate) fn add(&mut self, outcome: &RunOutcome) {
        self.rates.push(outcome.rate());
        for call in outcome.tally.calls.values() {
            self.p50_us.push(call.percentile_us(50.0));
            self.p99_us.push(call.percentile_us(99.0));
            self.columns_per_call = call.columns_per_call();
        }
        self.failed += outcome.tally.failed();
        if let (None, Some((kind, failure))) = (&self.first_failure, outcome.tally.failures.iter().next()) {
            self.first_failure = Some(format!("{kind}: {}", failure.first));
        }
    }

    fn json(&self) -> String {
        object([
            ("ops_per_second", number(median(&self.rates))),
            ("p50_us", number(median(&self.p50_us))),
            ("p99_us", number(median(&self.p99_us))),
            ("columns_per_call", number(self.columns_per_call)),
            ("failed", self.failed.to_string()),
        ])
    }
}

/// The rounds of one operation against both servers.
pub(crate) struct RoundRow {
    pub name: &'static str,
    /// The rounds that the server is measured against.
    pub limit: Rounds,
    pub server: Rounds,
}

impl RoundRow {
    /// Returns the ratio of the server's rate to the limit's, for each pair of rounds.
    fn ratios(&self) -> Vec<f64> {
        self.server.rates.iter().zip(&self.limit.rates).map(|(server, limit)| server / limit).collect()
    }

    /// Returns the row as JSON.
    fn json(&self, limit: &str) -> String {
        let ratios = self.ratios();
        object([
            (limit, self.limit.json()),
            ("server", self.server.json()),
            ("ratio", number(median(&ratios))),
            ("ratio_lowest", number(lowest(&ratios))),
            ("ratio_highest", number(highest(&ratios))),
        ])
    }
}

/// Prints the rows: a table, or one line of JSON. `limit` is the name of what the server is measured against.
pub(crate) fn print(limit: &str, rows: &[RoundRow], as_json: bool) {
    if as_json {
        let limit = limit.replace('-', "_");
        print_line!("{}", object(rows.iter().map(|row| (row.name, row.json(&limit)))));
    } else {
        print_text!("{}", table(limit, rows));
    }
}

/// Returns a line for each operation, and the failures.
fn table(limit: &str, rows: &[RoundRow]) -> String {
    let mut text = format!(
        "{:<12}{:>14}{:>12}{:>8}{:>14}{:>14}{:>10}{:>10}{:>14}\n",
        "operation",
        format!("{limit}/s"),
        "server/s",
        "ratio",
        "from - to",
        "limit p50 us",
        "p50 us",
        "p99 us",
        "columns/call"
    );
    for row in rows {
        let ratios = row.ratios();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<12}{:>14.0}{:>12.0}{:>8.2}{:>14}{:>14.1}{:>10.1}{:>10.1}{:>14.1}",
            row.name,
            median(&row.limit.rates),
            median(&row.server.rates),
            median(&ratios),
            format!("{:.2} - {:.2}", lowest(&ratios), highest(&ratios)),
            median(&row.limit.p50_us),
            median(&row.server.p50_us),
            median(&row.server.p99_us),
            row.server.columns_per_call
        );
    }
    for row in rows {
        for (server, rounds) in [(limit, &row.limit), ("server", &row.server)] {
            if let Some(first) = &rounds.first_failure {
                let _ =
                    writeln!(text, "error: {} x {} at {server}, the first: {first}", rounds.failed, row.name);
            }
        }
    }
    text
}

/// Returns the median; NaN if there is no value.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => f64::NAN,
        Some(value) if sorted.len() % 2 == 1 => *value,
        Some(upper) => (sorted.get(middle.wrapping_sub(1)).unwrap_or(upper) + upper) / 2.0,
    }
}

/// Returns the lowest value; NaN if there is none.
fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// Returns the highest value; NaN if there is none.
fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_median_minimum_and_maximum() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!((lowest(&[2.0, 1.0]), highest(&[1.0, 2.0])), (1.0, 2.0));
        assert!(lowest(&[]).is_nan());
    }
}
