//! The forms of the page, and their changes.

use serde::Deserialize;
use serde_json::{Map, Value};

use base::marshal::parse_date;
use base::util::ClockChange;
use db::faults::FaultRule;
use double::control::{Control, ControlError, ResetScope};

/// The row operations that a rule can require: value and words.
pub(super) const OPERATIONS: [(&str, &str); 4] = [
    ("read", "reads a row"),
    ("scan", "reads a range of rows"),
    ("write", "writes or deletes"),
    ("truncate", "truncates"),
];
/// The errors of rules.
pub(super) const ERRORS: [(&str, &str); 9] = [
    ("timed_out", "timed out"),
    ("unavailable", "unavailable"),
    ("invalid_request", "invalid request"),
    ("not_found", "not found"),
    ("overloaded", "overloaded"),
    ("schema_disagreement", "schema disagreement"),
    ("authentication", "failed login"),
    ("authorization", "no permission"),
    ("internal", "failure of the server"),
];
/// The effects of a rule on replies: value and words.
pub(super) const REPLIES: [(&str, &str); 7] = [
    ("none", "no reply"),
    ("closed", "connection closed without it"),
    ("half", "half of it, then closed"),
    ("closed_after", "connection closed after it"),
    ("rubbish", "random bytes of its length"),
    ("twice", "sent twice"),
    ("trickle", "byte by byte"),
];

/// The fields of all forms. Each form has the field `action` and some of the others.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DoubleForm {
    pub action: String,
    /// The name of a snapshot or rule.
    pub name: String,
    /// The scope of a reset.
    pub what: String,
    /// The time that the clock is set to, or the seconds by which it moves.
    pub value: String,
    pub method: String,
    pub keyspace: String,
    pub column_family: String,
    pub key: String,
    pub operation: String,
    pub consistency: String,
    pub delay_ms: String,
    pub error: String,
    pub text: String,
    pub applied: String,
    pub reply: String,
    pub skip: String,
    pub times: String,
    pub probability: String,
}

/// Returns the sentence about a completed action; empty for another text.
pub(super) fn done(action: &str) -> &'static str {
    match action {
        "take" => "The snapshot was taken.",
        "restore" => "The server has the state of the snapshot.",
        "delete" => "The snapshot was deleted.",
        "reset" => "The server was reset.",
        "fault" => "The rule is set.",
        "remove-fault" => "The rule was removed.",
        "stop" => "The clock is stopped.",
        "run" => "The clock runs.",
        "follow" => "The clock follows the system's.",
        "set" => "The clock is set.",
        "move" => "The clock was moved.",
        "refuse" => "New connections are closed at once.",
        "accept" => "New connections are accepted.",
        "restart" => "All connections were closed, and prepared statements forgotten.",
        _ => "",
    }
}

/// Carries out the request of a form.
///
/// # Errors
/// Errors of the control API, and fields of another form.
pub(super) async fn run(control: &Control, form: &DoubleForm) -> Result<(), ControlError> {
    let name = form.name.trim();
    let clock = |change| control.change_clock(change).map(drop);
    match form.action.as_str() {
        "take" => control.take_snapshot(name).await.map(drop),
        "restore" => control.restore(name).await.map(drop),
        "delete" => control.delete_snapshot(name).await,
        "reset" => control.reset(scope(&form.what)?).await,
        "fault" => control.set_fault(name, rule(form)?).map(drop),
        "remove-fault" => control.remove_fault(name),
        "stop" => clock(ClockChange::Freeze),
        "run" => clock(ClockChange::Unfreeze),
        "follow" => clock(ClockChange::Follow),
        "set" => clock(ClockChange::Set(time(&form.value)?)),
        "move" => clock(ClockChange::Advance(millis(&form.value)?)),
        "refuse" | "accept" => {
            control.faults()?.connections.refuse(form.action == "refuse");
            Ok(())
        }
        "restart" => {
            control.faults()?.connections.restart();
            Ok(())
        }
        other => {
            Err(ControlError::invalid(format!("there is no action {other:?}: use the forms of the page")))
        }
    }
}

fn scope(what: &str) -> Result<ResetScope, ControlError> {
    serde_json::from_value(Value::from(what))
        .map_err(|_| ControlError::invalid("a reset removes data, everything or faults"))
}

fn time(text: &str) -> Result<i64, ControlError> {
    parse_date(text.trim()).ok_or_else(|| {
        ControlError::invalid(format!("{text:?} is no time: use the form 2012-01-01T00:00:00Z"))
    })
}

/// Returns the milliseconds of a number of seconds.
fn millis(seconds: &str) -> Result<i64, ControlError> {
    let parsed = seconds.trim().parse::<f64>().ok().map(|seconds| seconds * 1000.0);
    // Larger numbers are out of the range of clocks.
    let parsed = parsed.filter(|millis| millis.abs() < 1e14);
    parsed.map(|millis| millis as i64).ok_or_else(|| {
        ControlError::invalid(format!("{seconds:?} is no number of seconds, such as 3600 or -10"))
    })
}

/// Returns the rule of the form: fields that are not empty, as the control API reads them.
fn rule(form: &DoubleForm) -> Result<FaultRule, ControlError> {
    let text = |name: &str, value: &str| {
        let value = value.trim();
        (!value.is_empty()).then(|| (name.to_owned(), Value::from(value)))
    };
    let number = |name: &str, value: &str| match serde_json::from_str::<Value>(value.trim()) {
        _ if value.trim().is_empty() => Ok(None),
        Ok(number) if number.is_number() => Ok(Some((name.to_owned(), number))),
        _ => Err(ControlError::invalid(format!("{name} is a number, not {value:?}"))),
    };
    let when = [
        text("method", &form.method),
        text("keyspace", &form.keyspace),
        text("column_family", &form.column_family),
        text("key", &form.key),
        text("operation", &form.operation),
        text("consistency", &form.consistency),
    ];
    let mut rule: Map<String, Value> =
        [text("error", &form.error), text("text", &form.text), text("reply", &form.reply)]
            .into_iter()
            .flatten()
            .collect();
    rule.insert("when".to_owned(), Value::Object(when.into_iter().flatten().collect()));
    rule.insert("applied".to_owned(), Value::from(!form.applied.is_empty()));
    rule.extend(number("delay_ms", &form.delay_ms)?);
    rule.extend(number("skip", &form.skip)?);
    rule.extend(number("times", &form.times)?);
    rule.extend(number("probability", &form.probability)?);
    serde_json::from_value(Value::Object(rule))
        .map_err(|error| ControlError::invalid(format!("this is no rule: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> DoubleForm {
        let fields: Map<String, Value> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        serde_json::from_value(Value::Object(fields)).unwrap()
    }

    #[test]
    fn empty_fields_ask_for_nothing() {
        let rule = rule(&form(&[("method", " insert "), ("error", "timed_out"), ("times", "2")])).unwrap();
        assert_eq!(rule.when.method.as_deref(), Some("insert"));
        assert_eq!((rule.when.key, rule.delay_ms.is_none(), rule.times), (None, true, Some(2)));
        assert!(rule.error.is_some() && !rule.applied && (rule.probability - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn each_choice_is_one_of_the_control_api() {
        for (value, _) in OPERATIONS {
            assert!(rule(&form(&[("operation", value), ("delay_ms", "1")])).is_ok(), "{value}");
        }
        for (value, _) in ERRORS {
            assert!(rule(&form(&[("error", value)])).is_ok(), "{value}");
        }
        for (value, _) in REPLIES {
            assert!(rule(&form(&[("reply", value)])).is_ok(), "{value}");
        }
    }

    #[test]
    fn other_fields_are_refused() {
        for (name, value) in [("delay_ms", "x"), ("times", "1.5"), ("error", "bad"), ("skip", "-1")] {
            assert!(rule(&form(&[(name, value)])).is_err(), "{name}={value}");
        }
        assert!(millis("1e300").is_err() && millis("NaN").is_err() && millis("").is_err());
        assert_eq!(millis("-1.5").unwrap(), -1500);
        assert_eq!(time("2012-01-01T00:00:00Z").unwrap(), 1_325_376_000_000);
        assert!(time("tomorrow").is_err() && scope("all").is_err());
    }
}
