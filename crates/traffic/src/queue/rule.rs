//! Decides whether a write may be sent again.

use super::super::call::{Call, Request, StatementWords};
use crate::Value;
use cql_syntax::{TokenKind, tokens_of_any};

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
    /// It is not sent. The effect of a conditional write depends on what the server has stored, and the timestamp is the
    /// server's: its table must be compared or copied again. Changes of users and rights have passwords.
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
        if call.is_conditional() {
            return ResendRule::Never;
        }
        for text in call.texts() {
            match &verb_of(text)[..] {
                "INSERT" | "DELETE" if !has_lists(text) => {}
                "UPDATE" | "BEGIN" if !has_sums(text) && !has_lists(text) => {}
                _ => return ResendRule::Once,
            }
        }
        if call.lets_server_set_timestamps() && !has_own_timestamp(call) {
            return ResendRule::InOrder;
        }
        ResendRule::Timestamped
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
    use crate::call::{Conversation, PreparedTexts};
    use crate::value::fields_from_json;
    use crate::{Protocol, ThriftMessage};
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
            ("TRUNCATE t", ResendRule::Once),
        ] {
            let fields = format!(r#"{{"1": {{"t": "{text}"}}, "2": {{"i": 2}}}}"#);
            assert_eq!(rule("execute_cql3_query", &fields), expected, "{text}");
        }
    }

    #[test]
    fn rules_have_numbers() {
        for number in 0..4 {
            assert_eq!(ResendRule::of_number(number).unwrap().number(), number);
        }
        assert_eq!(ResendRule::of_number(4), None);
    }
}
