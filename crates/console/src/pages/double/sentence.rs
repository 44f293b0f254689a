//! A rule of faults as a sentence.

use serde::Serialize;

use super::form::{ERRORS, OPERATIONS, REPLIES};
use base::util::counted;
use db::faults::{Condition, Delay, FaultRule};

/// Returns the sentence about a rule: "requests with method insert and key ada get the error timed out after they were
/// carried out, 1 time at most".
pub(super) fn sentence(rule: &FaultRule) -> String {
    let limits: String = limits(rule).iter().map(|limit| format!(", {limit}")).collect();
    format!("{} {}{limits}", condition(&rule.when), effects(rule).join(" and "))
}

fn condition(when: &Condition) -> String {
    let mut parts = Vec::new();
    let mut add =
        |name: &str, value: Option<String>| parts.extend(value.map(|value| format!("{name} {value}")));
    add("protocol", when.protocol.clone());
    add("method", when.method.clone());
    add("generation", when.generation.map(|generation| text_of(&generation)));
    add("connection", when.connection.map(|number| number.to_string()));
    add("statement", when.statement.clone());
    add("keyspace", when.keyspace.clone());
    add("column family", when.column_family.clone());
    add("key", when.key.clone());
    add("consistency", when.consistency.clone());
    let operation = when.operation.map(|operation| words(&OPERATIONS, &operation));
    let which = operation.map_or_else(String::new, |operation| format!(" whose operation {operation}"));
    match parts.join(", ") {
        with if with.is_empty() && which.is_empty() => "all requests".to_owned(),
        with if with.is_empty() => format!("requests{which}"),
        with => format!("requests{which} with {with}"),
    }
}

fn effects(rule: &FaultRule) -> Vec<String> {
    let mut effects = Vec::new();
    match rule.delay_ms {
        Some(Delay::Fixed(ms)) => effects.push(format!("wait {ms} ms")),
        Some(Delay::Between([least, most])) => effects.push(format!("wait {least} to {most} ms")),
        None => {}
    }
    if let Some(error) = rule.error {
        let text = rule.text.as_ref().map(|text| format!(" with the text {text:?}")).unwrap_or_default();
        let applied = if rule.applied { " after they were carried out" } else { "" };
        effects.push(format!("get the error \u{201c}{}\u{201d}{text}{applied}", words(&ERRORS, &error)));
    }
    if let Some(reply) = rule.reply {
        effects.push(format!("get as reply: {}", words(&REPLIES, &reply)));
    }
    effects
}

fn limits(rule: &FaultRule) -> Vec<String> {
    let mut limits = Vec::new();
    if rule.skip > 0 {
        limits.push(format!("after the first {}", counted(rule.skip, "request")));
    }
    if let Some(times) = rule.times {
        limits.push(format!("{} at most", counted(times, "time")));
    }
    if rule.probability < 1.0 {
        limits.push(format!("with probability {}", rule.probability));
    }
    limits
}

/// Returns the words of a table for a value, as the form has them.
fn words(table: &[(&'static str, &'static str)], value: &impl Serialize) -> String {
    let name = text_of(value);
    let found = table.iter().find(|(known, _)| *known == name).map(|(_, words)| (*words).to_owned());
    found.unwrap_or(name)
}

/// Returns the text of a value in JSON.
fn text_of(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sentences() {
        let shown = |json: &str| sentence(&serde_json::from_str(json).unwrap());
        assert_eq!(shown(r#"{"delay_ms": 5}"#), "all requests wait 5 ms");
        assert_eq!(
            shown(
                r#"{"when": {"method": "insert", "key": "ada"}, "error": "timed_out", "applied": true, "times": 1}"#
            ),
            "requests with method insert, key ada get the error “timed out” after they were carried out, 1 time at most"
        );
        assert_eq!(
            shown(
                r#"{"when": {"operation": "read", "generation": "with_keyspace"}, "delay_ms": [1, 9], "reply": "half",
                    "skip": 2, "probability": 0.5}"#
            ),
            "requests whose operation reads a row with generation with_keyspace wait 1 to 9 ms and get as reply: half of \
             it, then closed, after the first 2 requests, with probability 0.5"
        );
    }
}
