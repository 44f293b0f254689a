//! Decides whether a write may be sent again.

use super::super::call::{Call, Request, StatementWords};
use super::again::AgainReason;
use crate::Value;
use base::model::BoundValue;
use cql_syntax::{Token, TokenKind, tokens_of_any};
use wire::native::ProtocolVersion;

/// The rule by which a write is sent to the other server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResendRule {
    /// All its changes carry timestamps: it is sent until it is acknowledged, together with others.
    Timestamped,
    /// It is sent until it is acknowledged, alone: the server sets its timestamp, so its order counts.
    InOrder,
    /// It changes more if it is applied twice, such as the increment of a counter, or fails then, such as a change of the
    /// schema. It is sent alone and once. If the outcome is unknown, its table must be compared or copied again.
    Once,
    /// It is not sent, and its table must be compared or copied again.
    Never,
}

impl ResendRule {
    /// Returns the rule of a write.
    pub fn of(call: &Call) -> ResendRule {
        if is_of_users(call) {
            return ResendRule::Never;
        }
        let is_of_schema = call.method.starts_with("system_") || call.method == "truncate";
        let is_counter = matches!(&call.method[..], "add" | "remove_counter");
        let is_definition = matches!(&call.method[..], "CREATE" | "ALTER" | "DROP" | "TRUNCATE")
            || call
                .texts()
                .any(|text| matches!(&verb_of(text)[..], "CREATE" | "ALTER" | "DROP" | "TRUNCATE"));
        if is_of_schema || is_counter || is_definition || has_counters(call) {
            return ResendRule::Once;
        }
        if call.is_conditional() || call.texts().any(computes_values) {
            return ResendRule::Never;
        }
        for text in call.texts() {
            match &verb_of(text)[..] {
                "INSERT" | "DELETE" if !has_lists(text) => {}
                "UPDATE" | "BEGIN" if !has_sums(text) && !has_lists(text) => {}
                _ => return ResendRule::Once,
            }
        }
        if binds_lists(call) {
            return ResendRule::Once;
        }
        if call.lets_server_set_timestamps() && !has_own_timestamp(call) {
            return ResendRule::InOrder;
        }
        ResendRule::Timestamped
    }

    /// Returns why a call of the rule `Never` is not sent: the effect of a conditional write depends on what the server has
    /// stored, and each server would compute another value. Changes of users and rights have passwords.
    pub(super) fn why_never(call: &Call) -> AgainReason {
        match call {
            _ if call.is_conditional() => AgainReason::Conditional,
            _ if call.texts().any(computes_values) => AgainReason::Computed,
            _ => AgainReason::NotSendable,
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            ResendRule::Timestamped => 0,
            ResendRule::InOrder => 1,
            ResendRule::Once => 2,
            ResendRule::Never => 3,
        }
    }

    pub(super) fn of_number(number: u8) -> Option<ResendRule> {
        let all = [ResendRule::Timestamped, ResendRule::InOrder, ResendRule::Once, ResendRule::Never];
        all.get(usize::from(number)).copied()
    }
}

fn verb_of(text: &str) -> String {
    StatementWords::of(text).verb
}

/// Returns whether a statement changes users or rights. Passwords are not in the queue.
fn is_of_users(call: &Call) -> bool {
    call.texts().any(|text| {
        let mut words = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden);
        let mut word = || words.next().map(|token| token.raw(text).to_ascii_uppercase()).unwrap_or_default();
        let (verb, object) = (word(), word());
        let is_of_role = matches!(&object[..], "USER" | "ROLE");
        matches!(&verb[..], "GRANT" | "REVOKE" | "LIST")
            || is_of_role && matches!(&verb[..], "CREATE" | "ALTER" | "DROP")
    })
}

/// Returns whether each statement names its timestamp.
fn has_own_timestamp(call: &Call) -> bool {
    let is_word = |text: &str, word: &str| {
        tokens_of_any(text)
            .any(|token| token.kind == TokenKind::Word && token.raw(text).eq_ignore_ascii_case(word))
    };
    let mut texts = call.texts().peekable();
    texts.peek().is_some() && texts.all(|text| is_word(text, "TIMESTAMP"))
}

/// Returns whether a statement adds something, to a counter or a collection: it has a `+` or `-` outside of its constants.
/// A negative number or a UUID counts, too; such a statement is only sent more carefully.
fn has_sums(text: &str) -> bool {
    tokens_of_any(text)
        .any(|token| token.kind != TokenKind::Hidden && matches!(token.raw(text), "+" | "-" | "+=" | "-="))
}

/// Returns whether a statement has a list literal or an index. Writing the same list again doubles its elements, and by then an
/// index may name another element. A map key counts too: its statement is only sent more carefully.
fn has_lists(text: &str) -> bool {
    tokens_of_any(text).any(|token| token.kind != TokenKind::Hidden && token.raw(text) == "[")
}

/// The functions whose value each server computes for itself.
const COMPUTED: [&str; 10] = [
    "now",
    "uuid",
    "currenttimestamp",
    "currentdate",
    "currenttime",
    "currenttimeuuid",
    "current_timestamp",
    "current_date",
    "current_time",
    "current_timeuuid",
];

/// Returns whether each server would compute another value for a statement, also if it is sent again. The constant `'now'` is
/// such a value, too, if the column is of times.
fn computes_values(text: &str) -> bool {
    let visible: Vec<Token> = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden).collect();
    let is_now = |token: &Token| {
        token.kind == TokenKind::String && token.value(text).trim().eq_ignore_ascii_case("now")
    };
    let is_call = |pair: &[Token]| match pair {
        [name, bracket] if bracket.raw(text) == "(" => {
            COMPUTED.iter().any(|function| name.raw(text).eq_ignore_ascii_case(function))
        }
        _ => false,
    };
    visible.iter().any(is_now) || visible.windows(2).any(is_call)
}

/// Returns whether a value that is bound to a statement may be a list: its elements are doubled if it is written again. A value of
/// another type seldom has the bytes of a list; its statement is only sent more carefully.
fn binds_lists(call: &Call) -> bool {
    match &call.request {
        Request::Native(request) => {
            let length_bytes = if request.frame.version < ProtocolVersion::V3 { 2 } else { 4 };
            let mut values = request.statements.iter().flat_map(|statement| &statement.values);
            values.any(|value| matches!(value, BoundValue::Value(bytes) if may_be_list(bytes, length_bytes)))
        }
        // Thrift has the form of version 2 up to 2.1, and of version 3 later.
        Request::Thrift { message, .. } if call.statement.is_some() => match message.fields.get(&2) {
            Some(Value::List(_, values)) => {
                let mut values = values.iter().filter_map(Value::as_binary);
                values.any(|bytes| [2, 4].into_iter().any(|length_bytes| may_be_list(bytes, length_bytes)))
            }
            _ => false,
        },
        Request::Thrift { .. } => false,
    }
}

/// Returns whether bytes have the form of a list with elements: their number, and each with its length.
fn may_be_list(mut bytes: &[u8], length_bytes: usize) -> bool {
    let Some(count) = take_number(&mut bytes, length_bytes) else { return false };
    for _ in 0..count {
        let length = take_number(&mut bytes, length_bytes);
        let Some((_, rest)) = length.and_then(|length| bytes.split_at_checked(length)) else { return false };
        bytes = rest;
    }
    count > 0 && bytes.is_empty()
}

fn take_number(bytes: &mut &[u8], length_bytes: usize) -> Option<usize> {
    let (number, rest) = bytes.split_at_checked(length_bytes)?;
    *bytes = rest;
    Some(number.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// Returns whether a `batch_mutate` has a counter: the fields 3 and 4 of ColumnOrSuperColumn.
fn has_counters(call: &Call) -> bool {
    let Request::Thrift { message, .. } = &call.request else { return false };
    call.method.contains("batch") && message.fields.values().any(has_counter)
}

fn has_counter(value: &Value) -> bool {
    match value {
        Value::Map(_, _, pairs) => pairs.iter().any(|(_, value)| has_counter(value)),
        Value::List(_, mutations) => mutations.iter().any(|mutation| {
            let either = mutation.get(1);
            either.is_some_and(|either| either.get(3).is_some() || either.get(4).is_some())
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Conversation, NativeFrame, PreparedText, PreparedTexts};
    use crate::value::fields_from_json;
    use crate::{Protocol, ThriftMessage};
    use wire::native::request_opcode;
    use wire::thrift::MessageKind;

    fn rule(name: &'static str, fields: &str) -> ResendRule {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        let message = ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 1, fields }.write();
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        ResendRule::of(&connection.request(&message, &PreparedTexts::default()).unwrap())
    }

    #[test]
    fn methods_have_rules() {
        let batch = |column: &str| {
            format!(
                r#"{{"1": {{"M": ["t", "M", [[{{"t": "k"}}, {{"M": ["t", "L", [[{{"t": "cf"}}, {{"L": ["s",
                [{{"s": {{"1": {{"s": {{"{column}": {{"s": {{"1": {{"t": "n"}}}}}}}}}}}}}}]]}}]]]}}]]]}}, "2": {{"i": 1}}}}"#
            )
        };
        for (name, fields, expected) in [
            ("insert", r#"{"1": {"t": "k"}}"#.to_owned(), ResendRule::Timestamped),
            ("remove", r#"{"1": {"t": "k"}}"#.to_owned(), ResendRule::Timestamped),
            ("add", r#"{"1": {"t": "k"}}"#.to_owned(), ResendRule::Once),
            ("cas", r#"{"1": {"t": "k"}}"#.to_owned(), ResendRule::Never),
            ("truncate", r#"{"1": {"t": "cf"}}"#.to_owned(), ResendRule::Once),
            ("batch_mutate", batch("1"), ResendRule::Timestamped),
            ("batch_mutate", batch("2"), ResendRule::Timestamped),
            ("batch_mutate", batch("3"), ResendRule::Once),
            ("atomic_batch_mutate", batch("4"), ResendRule::Once),
        ] {
            assert_eq!(rule(name, &fields), expected, "{name} {fields}");
        }
    }

    #[test]
    fn statements_have_rules() {
        for (text, expected) in [
            ("INSERT INTO t (k, v) VALUES (1, -2) USING TIMESTAMP 7", ResendRule::Timestamped),
            ("INSERT INTO t (k, v) VALUES (1, 2)", ResendRule::InOrder),
            ("UPDATE t USING TIMESTAMP 7 SET v = 'a + b' WHERE k = 1", ResendRule::Timestamped),
            ("UPDATE t SET n = n + 1 WHERE k = 1", ResendRule::Once),
            ("UPDATE t SET n = n - 1 WHERE k = 1", ResendRule::Once),
            ("INSERT INTO t (k, l) VALUES (1, [2, 3]) USING TIMESTAMP 7", ResendRule::Once),
            ("INSERT INTO t (k, v) VALUES (1, '[2]') USING TIMESTAMP 7", ResendRule::Timestamped),
            ("UPDATE t USING TIMESTAMP 7 SET l[0] = 'x' WHERE k = 1", ResendRule::Once),
            ("DELETE l[0] FROM t USING TIMESTAMP 7 WHERE k = 1", ResendRule::Once),
            ("UPDATE t SET l = l + ['x'] WHERE k = 1", ResendRule::Once),
            ("UPDATE t SET v = 1 WHERE k = 1 IF v = 2", ResendRule::Never),
            ("DELETE FROM t USING TIMESTAMP 7 WHERE k = 1", ResendRule::Timestamped),
            ("CREATE TABLE IF NOT EXISTS t (k int PRIMARY KEY)", ResendRule::Once),
            ("ALTER USER u WITH PASSWORD 'x'", ResendRule::Never),
            ("INSERT INTO t (k, v) VALUES (1, now()) USING TIMESTAMP 7", ResendRule::Never),
            ("INSERT INTO t (k, v) VALUES (1, 'Now') USING TIMESTAMP 7", ResendRule::Never),
            ("UPDATE t USING TIMESTAMP 7 SET now = 1 WHERE k = 1", ResendRule::Timestamped),
            ("TRUNCATE t", ResendRule::Once),
        ] {
            let fields = format!(r#"{{"1": {{"t": "{text}"}}, "2": {{"i": 2}}}}"#);
            assert_eq!(rule("execute_cql3_query", &fields), expected, "{text}");
        }
    }

    /// Returns a BATCH of the native protocol of two statements, of which the second is prepared.
    fn batch(text: &'static str, value: &[u8]) -> Call {
        let body = b"\0\0\x02\0\0\0\0\x35INSERT INTO t (k, v) VALUES (1, 2) USING TIMESTAMP 5 \0\0\x01\0\x02id\0\x01";
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        let body = [&body[..], &length, value, b"\0\x01\x20\0\0\0\0\0\0\0\x05"].concat().into();
        let (version, opcode) = (ProtocolVersion::V3, request_opcode::BATCH);
        let frame = NativeFrame { version, is_from_server: false, flags: 0, stream: 0, opcode, body };
        let mut prepared = PreparedTexts::default();
        prepared.put(b"id", PreparedText { text: text.into(), keyspace: None });
        Conversation::new(Protocol::Native).request(&frame.write(), &prepared).unwrap()
    }

    #[test]
    fn statements_that_a_batch_has_prepared_count() {
        for (text, value, expected) in [
            ("UPDATE t SET v = ? WHERE k = 1", &b"1"[..], ResendRule::Timestamped),
            ("UPDATE t SET n = n + ? WHERE k = 1", b"1", ResendRule::Once),
            ("UPDATE t SET v = ? WHERE k = 1 IF v = 2", b"1", ResendRule::Never),
            ("UPDATE t SET v = ?, at = now() WHERE k = 1", b"1", ResendRule::Never),
            ("UPDATE t SET l = ? WHERE k = 1", b"\0\0\0\x01\0\0\0\x01x", ResendRule::Once),
            ("UPDATE t SET l = ? WHERE k = 1", b"\0\0\0\0", ResendRule::Timestamped),
            ("UPDATE t SET l = ? WHERE k = 1", b"\0\0\0\x01\0\0\0\x01xy", ResendRule::Timestamped),
        ] {
            let call = batch(text, value);
            assert_eq!(ResendRule::of(&call), expected, "{text}");
            assert!(!call.is_of_unknown_text() && call.family.as_deref() == Some("t"));
        }
        let why = |text| ResendRule::why_never(&batch(text, b"1"));
        assert_eq!(why("UPDATE t SET v = ? WHERE k = 1 IF v = 2"), AgainReason::Conditional);
        assert_eq!(why("UPDATE t SET v = ?, at = now() WHERE k = 1"), AgainReason::Computed);
    }

    #[test]
    fn rules_have_numbers() {
        for number in 0..4 {
            assert_eq!(ResendRule::of_number(number).unwrap().number(), number);
        }
        assert_eq!(ResendRule::of_number(4), None);
    }
}
