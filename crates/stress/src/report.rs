//! Formats the result of a run for people and for scripts.

use std::fmt::Write;

use super::run::{RunOutcome, StressPlan};
use super::workload::StressOperation;

/// The displayed percentiles.
const PERCENTILES: [(&str, f64); 4] = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99.9", 99.9)];

/// Returns a line about the rows that were written before measuring.
pub(crate) fn populated(outcome: &RunOutcome) -> String {
    let mut text = format!(
        "populated in {:.1} s with {} batches, {:.0}/s\n",
        outcome.elapsed.as_secs_f64(),
        outcome.tally.succeeded(),
        outcome.rate()
    );
    append_failures(&mut text, outcome);
    text
}

/// Returns the result as aligned lines.
pub(crate) fn text(plan: &StressPlan, outcome: &RunOutcome) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} against {}: {} connections, pipeline {}, {:.2} s",
        operation_name(plan.operation),
        plan.address,
        plan.connections,
        plan.pipeline,
        outcome.elapsed.as_secs_f64()
    );
    let _ = write!(text, "{:<14}{:>12}{:>12}", "call", "operations", "ops/s");
    for (name, _) in PERCENTILES {
        let _ = write!(text, "{:>10}", format!("{name} us"));
    }
    let _ = writeln!(text, "{:>10}{:>14}", "max us", "columns/call");
    for (call, tally) in &outcome.tally.calls {
        let count = tally.latency.len();
        let rate = count as f64 / outcome.elapsed.as_secs_f64();
        let _ = write!(text, "{:<14}{count:>12}{rate:>12.0}", call.name());
        for (_, percent) in PERCENTILES {
            let _ = write!(text, "{:>10.1}", tally.percentile_us(percent));
        }
        let _ = writeln!(text, "{:>10.1}{:>14.1}", tally.max_us(), tally.columns_per_call());
    }
    append_failures(&mut text, outcome);
    text
}

fn append_failures(text: &mut String, outcome: &RunOutcome) {
    for (kind, failure) in &outcome.tally.failures {
        let _ = writeln!(text, "error: {} x {kind}, the first: {}", failure.count, failure.first);
    }
    if outcome.tally.connections_lost > 0 {
        let _ = writeln!(text, "error: {} connections were lost", outcome.tally.connections_lost);
    }
}

/// Returns the result as one line of JSON.
pub(crate) fn json(plan: &StressPlan, outcome: &RunOutcome) -> String {
    let calls = outcome.tally.calls.iter().map(|(call, tally)| {
        let mut fields = vec![
            ("operations", tally.latency.len().to_string()),
            ("ops_per_second", number(tally.latency.len() as f64 / outcome.elapsed.as_secs_f64())),
        ];
        let percentiles = [("p50_us", 50.0), ("p95_us", 95.0), ("p99_us", 99.0), ("p99_9_us", 99.9)];
        fields.extend(percentiles.map(|(name, percent)| (name, number(tally.percentile_us(percent)))));
        fields.push(("max_us", number(tally.max_us())));
        fields.push(("columns_per_call", number(tally.columns_per_call())));
        (call.name(), object(fields))
    });
    let failures = outcome.tally.failures.iter().map(|(kind, failure)| {
        (*kind, object([("count", failure.count.to_string()), ("first", string(&failure.first))]))
    });
    object([
        ("operation", string(operation_name(plan.operation))),
        ("address", string(&plan.address.to_string())),
        ("connections", plan.connections.to_string()),
        ("pipeline", plan.pipeline.to_string()),
        ("seconds", number(outcome.elapsed.as_secs_f64())),
        ("operations", outcome.tally.succeeded().to_string()),
        ("ops_per_second", number(outcome.rate())),
        ("failed", outcome.tally.failed().to_string()),
        ("connections_lost", outcome.tally.connections_lost.to_string()),
        ("calls", object(calls)),
        ("failures", object(failures)),
    ])
}

/// Returns the name of an operation in reports.
pub(crate) fn operation_name(operation: StressOperation) -> &'static str {
    match operation {
        StressOperation::Insert => "insert",
        StressOperation::Read => "read",
        StressOperation::Slice => "slice",
        StressOperation::SliceReversed => "slice reversed",
        StressOperation::Batch => "batch",
        StressOperation::CqlInsert => "CQL insert",
        StressOperation::CqlSelect => "CQL select",
        StressOperation::Mixed => "mixed",
        StressOperation::Populate => "populate",
    }
}

/// Returns a JSON object; the values are JSON already.
pub(crate) fn object<'n>(fields: impl IntoIterator<Item = (&'n str, String)>) -> String {
    let fields: Vec<String> =
        fields.into_iter().map(|(name, value)| format!("{}:{value}", string(name))).collect();
    format!("{{{}}}", fields.join(","))
}

/// Returns a JSON number.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "null".to_owned() }
}

/// Returns a JSON string.
pub(crate) fn string(value: &str) -> String {
    let mut text = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", control as u32);
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_strings_are_escaped() {
        let text = object([("why", string("a \"b\"\\\n\u{e9}")), ("rate", number(1.5))]);
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed, serde_json::json!({ "why": "a \"b\"\\\n\u{e9}", "rate": 1.5 }));
        assert_eq!(number(f64::NAN), "null");
    }
}
