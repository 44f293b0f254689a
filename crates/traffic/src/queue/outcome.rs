//! The outcome of a write, by the answer of a server.

use super::super::call::{Answer, ReplyContent};
use super::super::value::{Fields, Value};
use wire::thrift::MessageKind;
use wire::thrift::interface::exception_name;

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QueuedOutcome {
    /// It is applied.
    Applied,
    /// It is certainly not applied, and will not be: the request is invalid, or its condition does not hold.
    Refused(String),
    /// The server has failed. The write may be applied on some replicas.
    Failed(String),
    /// Replicas did not answer in time. The write may be applied.
    TimedOut(String),
    /// Too few replicas are up, or the server has too much to do. The write may succeed later.
    Unavailable(String),
}

/// Returns the outcome of a call.
pub(super) fn outcome_of(method: &str, answer: &Answer) -> QueuedOutcome {
    match answer {
        Answer::Thrift(reply) if reply.kind == MessageKind::Exception => QueuedOutcome::Failed(
            text_in(&reply.fields).unwrap_or_else(|| "TApplicationException".to_owned()),
        ),
        Answer::Thrift(reply) => of_result(method, &reply.fields),
        Answer::Native(reply) => match &reply.content {
            ReplyContent::Error { code, text, .. } => of_code(*code, text),
            ReplyContent::Rows(rows) => {
                let applied = rows.columns.first().filter(|column| column.name == "[applied]");
                let value = rows.rows.first().and_then(|row| row.first()).and_then(Option::as_ref);
                match (applied, value) {
                    (Some(_), Some(value)) if value[..] == [0] => not_applied(),
                    _ => QueuedOutcome::Applied,
                }
            }
            _ => QueuedOutcome::Applied,
        },
    }
}

fn not_applied() -> QueuedOutcome {
    QueuedOutcome::Refused("the condition does not hold".to_owned())
}

fn of_result(method: &str, fields: &Fields) -> QueuedOutcome {
    let Some((id, exception)) = fields.iter().find(|(id, _)| **id != 0) else {
        let is_refused =
            method == "cas" && fields.get(&0).and_then(|result| result.get(1)) == Some(&Value::Bool(false));
        return if is_refused { not_applied() } else { QueuedOutcome::Applied };
    };
    let name = exception_name(method.as_bytes(), *id).unwrap_or_else(|| "an exception".to_owned());
    let why = match exception {
        Value::Struct(fields) => text_in(fields),
        _ => None,
    };
    let text = why.map_or_else(|| name.clone(), |why| format!("{name}: {why}"));
    match &name[..] {
        "UnavailableException" => QueuedOutcome::Unavailable(text),
        "TimedOutException" => QueuedOutcome::TimedOut(text),
        _ => QueuedOutcome::Refused(text),
    }
}

fn text_in(fields: &Fields) -> Option<String> {
    fields.get(&1).and_then(Value::as_binary).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// Returns the outcome of an error of the native protocol, by its code.
fn of_code(code: u32, text: &str) -> QueuedOutcome {
    let text = text.to_owned();
    match code {
        // UNAVAILABLE, OVERLOADED, IS_BOOTSTRAPPING.
        0x1000..=0x1002 => QueuedOutcome::Unavailable(text),
        // WRITE_TIMEOUT.
        0x1100 => QueuedOutcome::TimedOut(text),
        // SERVER_ERROR, and failures of replicas.
        0x0000 | 0x1003..=0x1fff => QueuedOutcome::Failed(text),
        _ => QueuedOutcome::Refused(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThriftMessage;
    use crate::value::fields_from_json;

    fn outcome(method: &'static str, kind: MessageKind, fields: &str) -> QueuedOutcome {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        outcome_of(method, &Answer::Thrift(ThriftMessage { name: method.into(), kind, seqid: 1, fields }))
    }

    #[test]
    fn exceptions_have_outcomes() {
        let of = |method, fields| outcome(method, MessageKind::Reply, fields);
        assert_eq!(of("insert", "{}"), QueuedOutcome::Applied);
        let refused = of("insert", r#"{"1": {"s": {"1": {"t": "no"}}}}"#);
        assert_eq!(refused, QueuedOutcome::Refused("InvalidRequestException: no".to_owned()));
        assert_eq!(
            of("insert", r#"{"2": {"s": {}}}"#),
            QueuedOutcome::Unavailable("UnavailableException".to_owned())
        );
        assert_eq!(
            of("insert", r#"{"3": {"s": {}}}"#),
            QueuedOutcome::TimedOut("TimedOutException".to_owned())
        );
        let failed =
            outcome("insert", MessageKind::Exception, r#"{"1": {"t": "Internal error"}, "2": {"i": 6}}"#);
        assert_eq!(failed, QueuedOutcome::Failed("Internal error".to_owned()));
        assert_eq!(of("cas", r#"{"0": {"s": {"1": {"b": true}}}}"#), QueuedOutcome::Applied);
        assert!(matches!(of("cas", r#"{"0": {"s": {"1": {"b": false}}}}"#), QueuedOutcome::Refused(_)));
        assert_eq!(of_code(0x1100, "t"), QueuedOutcome::TimedOut("t".to_owned()));
        assert_eq!(of_code(0x1001, "t"), QueuedOutcome::Unavailable("t".to_owned()));
        assert_eq!(of_code(0x2200, "t"), QueuedOutcome::Refused("t".to_owned()));
        assert_eq!(of_code(0, "t"), QueuedOutcome::Failed("t".to_owned()));
    }
}
