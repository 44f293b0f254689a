//! Compares replies of Thrift methods.

use super::super::ThriftMessage;
use super::super::call::{Call, Request, result_of};
use super::super::value::{Fields, Value};
use super::context::Context;
use super::shown::shown;
use super::texts::without_java_objects;
use super::tree::TreeComparison;
use super::{FoundDifference, MadeValue, Rule, definitions};
use crate::report::DifferenceKind;
use base::schema::is_system_keyspace;
use wire::thrift::MessageKind;
use wire::thrift::interface::exception_name;

/// The kind of a TApplicationException for a failure inside the server.
const INTERNAL_ERROR: i64 = 6;

/// The content of a reply.
enum ThriftContent<'a> {
    /// The result; `None` if the method has none.
    Result(Option<&'a Value>),
    Exception {
        name: String,
        text: String,
        fields: &'a Fields,
        /// Whether the server failed inside.
        is_internal: bool,
    },
}

/// Returns the difference of two replies, and adds the rules that were applied.
pub(super) fn difference(
    call: &Call,
    recorded: &ThriftMessage,
    candidate: &ThriftMessage,
    context: &Context<'_>,
    rules: &mut Vec<Rule>,
) -> Option<FoundDifference> {
    match (content_of(recorded), content_of(candidate)) {
        (ThriftContent::Result(left), ThriftContent::Result(right)) => {
            results(call, left, right, context, rules)
        }
        (ThriftContent::Exception { is_internal: true, .. }, ThriftContent::Exception { .. }) => {
            if recorded.fields != candidate.fields {
                rules.push(Rule::InternalError);
            }
            None
        }
        (
            ThriftContent::Exception { name, text, fields, .. },
            ThriftContent::Exception { name: other_name, text: other_text, fields: other_fields, .. },
        ) => {
            if fields == other_fields && name == other_name {
                return None;
            }
            let is_same_kind = name == other_name;
            if is_same_kind
                && without_texts(fields) == without_texts(other_fields)
                && without_java_objects(&text) == without_java_objects(&other_text)
            {
                rules.push(Rule::JavaObject);
                return None;
            }
            let kind = if is_same_kind { DifferenceKind::Text } else { DifferenceKind::Exception };
            Some(FoundDifference::whole(kind, shown_reply(recorded), shown_reply(candidate)))
        }
        _ => Some(FoundDifference::whole(
            DifferenceKind::Exception,
            shown_reply(recorded),
            shown_reply(candidate),
        )),
    }
}

/// Returns a reply as text: an exception as `NAME: text`.
pub(super) fn shown_reply(reply: &ThriftMessage) -> String {
    match content_of(reply) {
        ThriftContent::Result(None) => "nothing".to_owned(),
        ThriftContent::Result(Some(value)) => shown(value),
        ThriftContent::Exception { name, text, .. } if text.is_empty() => name,
        ThriftContent::Exception { name, text, .. } => format!("{name}: {text}"),
    }
}

fn content_of(reply: &ThriftMessage) -> ThriftContent<'_> {
    let text = |fields: &Fields| {
        let text = fields.get(&1).and_then(Value::as_binary);
        text.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    };
    if reply.kind == MessageKind::Exception {
        let kind = reply.fields.get(&2).and_then(Value::as_int).unwrap_or_default();
        let name = match kind {
            1 => "UnknownMethod".to_owned(),
            INTERNAL_ERROR => "InternalError".to_owned(),
            7 => "ProtocolError".to_owned(),
            kind => format!("TApplicationException{kind}"),
        };
        let is_internal = kind == INTERNAL_ERROR;
        return ThriftContent::Exception {
            name,
            text: text(&reply.fields),
            fields: &reply.fields,
            is_internal,
        };
    }
    let declared = reply.fields.iter().find_map(|(id, value)| match value {
        Value::Struct(fields) if *id != 0 => Some((*id, fields)),
        _ => None,
    });
    match declared {
        Some((id, fields)) => ThriftContent::Exception {
            name: exception_name(&reply.name, id).unwrap_or_else(|| format!("Exception{id}")),
            text: text(fields),
            fields,
            is_internal: false,
        },
        None => ThriftContent::Result(reply.fields.get(&0)),
    }
}

/// Returns the fields of an exception without its texts.
fn without_texts(fields: &Fields) -> Fields {
    let mut fields = fields.clone();
    fields.retain(|_, value| !matches!(value, Value::Binary(_)));
    fields
}

fn results(
    call: &Call,
    recorded: Option<&Value>,
    candidate: Option<&Value>,
    context: &Context<'_>,
    rules: &mut Vec<Rule>,
) -> Option<FoundDifference> {
    if recorded == candidate {
        return None;
    }
    if let Some(rule) = rule_of_method(call) {
        rules.push(rule);
        return None;
    }
    let (left, right) = match (recorded, candidate) {
        (Some(left), Some(right)) => (left, right),
        (left, right) => return Some(FoundDifference::data("", left.map(shown), right.map(shown))),
    };
    let is_description = call.method.starts_with("describe_keyspace");
    let (left, right) = if is_description {
        definitions::without_what_differs(left, right, rules)
    } else if call.method == "get_string_list_property" {
        rules.push(Rule::MapOrder);
        (sorted(left.clone()), sorted(right.clone()))
    } else {
        (left.clone(), right.clone())
    };
    if left == right {
        return None;
    }
    let is_statement = call.method.starts_with("execute_");
    let accepts = |field: &str, left: &Value, right: &Value| match (left, right) {
        (Value::I64(left), Value::I64(right)) if field == "timestamp" => {
            let (left, right) = (left.to_be_bytes(), right.to_be_bytes());
            context.are_made(MadeValue::Micros, &left, &right).then_some(Rule::ServerTime)
        }
        (Value::I32(_), Value::I32(_)) if is_description && field == "id" => Some(Rule::SchemaId),
        (Value::Binary(left), Value::Binary(right)) => {
            if is_statement && field == "value" {
                return of_bytes(left, right, context);
            }
            let texts = (std::str::from_utf8(left), std::str::from_utf8(right));
            let (Ok(left), Ok(right)) = texts else { return None };
            let is_same = is_description && without_java_objects(left) == without_java_objects(right);
            is_same.then_some(Rule::JavaObject)
        }
        _ => None,
    };
    let meaning = result_of(call.method.as_bytes(), &left);
    TreeComparison { accepts: &accepts, rules }.difference(&left, &right, meaning)
}

/// Returns the rule by which values that servers make may differ.
fn of_bytes(left: &[u8], right: &[u8], context: &Context<'_>) -> Option<Rule> {
    // The types of values are not known. Results of writetime() have microseconds.
    let kind = MadeValue::ALL.iter().copied().find(|kind| context.are_made(*kind, left, right))?;
    Some(if kind == MadeValue::RandomUuid { Rule::RandomUuid } else { Rule::ServerTime })
}

/// Returns the rule by which any two results of a method count as equal.
fn rule_of_method(call: &Call) -> Option<Rule> {
    let property = match &call.request {
        Request::Thrift { message, .. } => message.fields.values().next().and_then(Value::as_binary),
        Request::Native(_) => None,
    };
    let is_system = call.keyspace.as_deref().is_some_and(is_system_keyspace);
    Some(match &call.method[..] {
        "describe_schema_versions" => Rule::SchemaId,
        method if method.starts_with("system_") => Rule::SchemaId,
        "describe_ring"
        | "describe_local_ring"
        | "describe_token_map"
        | "describe_splits"
        | "describe_splits_ex" => Rule::Ring,
        "describe_cluster_name" | "describe_version" | "describe_snitch" => Rule::Identity,
        "get_string_property" | "getStringProperty" => match property.map(|name| &name[..]) {
            Some(b"token map") => Rule::Ring,
            Some(b"version" | b"cluster name" | b"config file") => Rule::Identity,
            _ => return None,
        },
        "trace_next_query" => Rule::TraceId,
        "prepare_cql_query" | "prepare_cql3_query" => Rule::Handle,
        method if method.starts_with("execute_") && is_system => Rule::SystemTables,
        _ => return None,
    })
}

fn sorted(value: Value) -> Value {
    match value {
        Value::List(of, mut items) => {
            items.sort_by_cached_key(Value::encoded);
            Value::List(of, items)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::context::testing::{context, with_timestamps};
    use super::super::{Compare, Comparison, SentValues, compare};
    use super::*;
    use crate::Protocol;
    use crate::call::{Answer, CallEffect, Conversation, PreparedTexts};
    use crate::value::fields_from_json;
    use wire::thrift::interface::Interface;

    fn message(name: &'static str, kind: MessageKind, fields: &str) -> ThriftMessage {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        ThriftMessage { name: name.into(), kind, seqid: 1, fields }
    }

    fn compared(
        name: &'static str,
        args: &str,
        recorded: &ThriftMessage,
        candidate: &ThriftMessage,
    ) -> Comparison {
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        let request = message(name, MessageKind::Call, args).write();
        let call = connection.request(&request, &PreparedTexts::default()).unwrap();
        let answer = |reply: &ThriftMessage| Answer::Thrift(reply.clone());
        compare(&call, Some(&answer(recorded)), Some(&answer(candidate)), &context())
    }

    /// Methods that read no rows and whose results are the same on two servers, except in parts that have rules of their
    /// own. Another such method needs a rule in `rule_of_method`.
    const COMPARED: &str = "describeTable describe_keyspace describe_keyspaces describe_partitioner executeQuery \
         execute_cql_query execute_cql3_query execute_prepared_cql_query execute_prepared_cql3_query login \
         getStringProperty getStringListProperty get_string_property get_string_list_property";

    #[test]
    fn each_method_about_the_server_is_compared_or_has_a_rule() {
        let mut conversation = Conversation::new(Protocol::Thrift { is_framed: true });
        for method in Interface::all().iter().flat_map(|interface| interface.methods.values()) {
            let name = method.name;
            let request =
                ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 1, fields: Fields::new() };
            let call = conversation.request(&request.write(), &PreparedTexts::default()).unwrap();
            let is_compared = COMPARED.split_whitespace().any(|compared| *compared == *name);
            let is_data = call.effect != CallEffect::Session || method.result.is_none();
            assert!(
                is_data || is_compared != rule_of_method(&call).is_some(),
                "is {name} the same on all servers?"
            );
        }
    }

    /// Compares results, and returns the difference as text, or the rules.
    fn of_results(name: &'static str, recorded: &str, candidate: &str) -> String {
        of_results_in(name, recorded, candidate, &context())
    }

    fn of_results_in(name: &'static str, recorded: &str, candidate: &str, context: &Context<'_>) -> String {
        let mut conversation = Conversation::new(Protocol::Thrift { is_framed: true });
        let request: Bytes = message(name, MessageKind::Call, "{}").write();
        let call = conversation.request(&request, &PreparedTexts::default()).unwrap();
        let answer = |fields: &str| Answer::Thrift(message(name, MessageKind::Reply, fields));
        told(&compare(&call, Some(&answer(recorded)), Some(&answer(candidate)), context))
    }

    fn told(comparison: &Comparison) -> String {
        let or_nothing = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        match &comparison.outcome {
            Compare::Differs(found) => {
                let (left, right) = (or_nothing(&found.recorded), or_nothing(&found.candidate));
                format!("{} at {:?}: {left} <> {right}", found.kind, found.path)
            }
            Compare::Equal if comparison.rules.is_empty() => "equal".to_owned(),
            Compare::Equal => format!("equal by {}", comparison.rule_names().join(", ")),
            Compare::NotCompared(why) => (*why).to_owned(),
        }
    }

    #[test]
    fn the_first_difference_of_results_is_named() {
        let column = |value: &str, timestamp: i64| {
            format!(
                r#"{{"s": {{"1": {{"s": {{"1": {{"t": "n"}}, "2": {{"t": "{value}"}}, "3": {{"l": {timestamp}}}}}}}}}}}"#
            )
        };
        let list = |items: &[String]| format!(r#"{{"0": {{"L": ["s", [{}]]}}}}"#, items.join(", "));
        let (a, b, later) = (column("a", 1), column("b", 1), column("a", 2));
        let both = list(&[a.clone(), b.clone()]);
        assert_eq!(of_results("get_slice", &both, &both), "equal");
        assert_eq!(
            of_results("get_slice", &both, &list(&[a.clone(), a.clone()])),
            r#"data at "[1].column.value": "b" <> "a""#
        );
        assert_eq!(
            of_results("get_slice", &list(&[later]), &both),
            r#"data at "[0].column.timestamp": 2 <> 1"#
        );
        assert_eq!(
            of_results("get_slice", &both, &list(&[a])),
            r#"data at "[1]": {1: {1: "n", 2: "b", 3: 1}} <> nothing"#
        );
    }

    #[test]
    fn maps_have_no_order() {
        let map = |pairs: &str| format!(r#"{{"0": {{"M": ["t", "i", [{pairs}]]}}}}"#);
        let (one, two) = (r#"[{"t": "a"}, {"i": 1}]"#, r#"[{"t": "b"}, {"i": 2}]"#);
        let (ab, ba) = (map(&format!("{one}, {two}")), map(&format!("{two}, {one}")));
        assert_eq!(of_results("multiget_count", &ab, &ba), "equal by map-order");
        assert_eq!(of_results("multiget_count", &ab, &map(one)), r#"data at "[\"b\"]": 2 <> nothing"#);
        // A list has an order.
        let list = |items: &str| format!(r#"{{"0": {{"L": ["i", [{items}]]}}}}"#);
        let text = of_results("get_count", &list(r#"{"i": 1}, {"i": 2}"#), &list(r#"{"i": 2}, {"i": 1}"#));
        assert_eq!(text, r#"data at "[0] (order)": 1 <> 2"#);
    }

    #[test]
    fn exceptions_differ_by_name_or_by_text() {
        let refused = |text: &str| format!(r#"{{"1": {{"s": {{"1": {{"t": "{text}"}}}}}}}}"#);
        assert_eq!(of_results("get", &refused("a"), &refused("a")), "equal");
        assert_eq!(
            of_results("get", &refused("a"), &refused("b")),
            r#"text at "": InvalidRequestException: a <> InvalidRequestException: b"#
        );
        assert_eq!(
            of_results("get", &refused("a"), r#"{"2": {"s": {}}}"#),
            r#"exception at "": InvalidRequestException: a <> NotFoundException"#
        );
        assert_eq!(
            of_results("insert", "{}", &refused("a")),
            r#"exception at "": nothing <> InvalidRequestException: a"#
        );
        let java = |address: &str| refused(&format!("in LongType@{address}"));
        assert_eq!(of_results("get", &java("1f"), &java("2a")), "equal by java-object");
    }

    #[test]
    fn any_error_is_as_good_as_a_failure_inside() {
        let exception = |kind: i32, text: &str| {
            let fields = format!(r#"{{"1": {{"t": "{text}"}}, "2": {{"i": {kind}}}}}"#);
            message("get", MessageKind::Exception, &fields)
        };
        let reply = |fields: &str| message("get", MessageKind::Reply, fields);
        let told = |left: &ThriftMessage, right: &ThriftMessage| told(&compared("get", "{}", left, right));
        let inside = exception(6, "Internal error");
        assert_eq!(told(&inside, &inside), "equal");
        assert_eq!(told(&inside, &reply(r#"{"2": {"s": {}}}"#)), "equal by internal-error");
        assert_eq!(
            told(&inside, &reply("{}")),
            r#"exception at "": InternalError: Internal error <> nothing"#
        );
        assert_eq!(
            told(&exception(7, "a"), &inside),
            r#"exception at "": ProtocolError: a <> InternalError: Internal error"#
        );
    }

    #[test]
    fn what_each_server_makes_is_equal_by_rules() {
        for (method, recorded, candidate, expected) in [
            ("system_add_keyspace", r#"{"0": {"t": "a"}}"#, r#"{"0": {"t": "b"}}"#, "equal by schema-id"),
            ("describe_cluster_name", r#"{"0": {"t": "a"}}"#, r#"{"0": {"t": "b"}}"#, "equal by identity"),
            ("describe_ring", r#"{"0": {"t": "a"}}"#, r#"{"0": {"t": "b"}}"#, "equal by ring"),
            ("trace_next_query", r#"{"0": {"x": "00"}}"#, r#"{"0": {"x": "01"}}"#, "equal by trace-id"),
            (
                "describe_partitioner",
                r#"{"0": {"t": "a"}}"#,
                r#"{"0": {"t": "b"}}"#,
                r#"data at "": "a" <> "b""#,
            ),
        ] {
            assert_eq!(of_results(method, recorded, candidate), expected, "{method}");
        }
        // An exception is never equal to a result.
        let refused = r#"{"1": {"s": {"1": {"t": "no"}}}}"#;
        assert!(of_results("system_add_keyspace", r#"{"0": {"t": "a"}}"#, refused).starts_with("exception"));
        let keyspaces = |names: &[&str]| {
            let names: Vec<_> =
                names.iter().map(|name| format!(r#"{{"s": {{"1": {{"t": "{name}"}}}}}}"#)).collect();
            format!(r#"{{"0": {{"L": ["s", [{}]]}}}}"#, names.join(", "))
        };
        let (more, less) = (keyspaces(&["a", "system", "system_auth"]), keyspaces(&["system", "a"]));
        assert_eq!(of_results("describe_keyspaces", &more, &less), "equal by system-tables");
        assert!(of_results("describe_keyspaces", &more, &keyspaces(&["b"])).starts_with("data"));
    }

    #[test]
    fn times_of_servers_are_equal_within_their_runs() {
        let row = |timestamp: i64| {
            format!(
                r#"{{"0": {{"s": {{"2": {{"L": ["s", [{{"s": {{"2": {{"L": ["s", [{{"s": {{"3": {{"l": {timestamp}}}}}}}]]}}}}}}]]}}}}}}}}"#
            )
        };
        let (then, now) = (row(1_000_000_005_000_000), row(1_500_000_007_000_000));
        assert!(
            of_results("execute_cql_query", &then, &now).starts_with("data at"),
            "no server has made one"
        );
        let made = with_timestamps(Box::leak(Box::default()));
        assert_eq!(of_results_in("execute_cql_query", &then, &now, &made), "equal by server-time");
        assert!(
            of_results("execute_cql_query", &then, &row(5))
                .starts_with("data at \"rows[0].columns[0].timestamp\"")
        );
        // Columns that a statement or `cas` has written can be read by any method.
        let slice = |timestamp: i64| {
            format!(r#"{{"0": {{"L": ["s", [{{"s": {{"1": {{"s": {{"3": {{"l": {timestamp}}}}}}}}}}}]]}}}}"#)
        };
        let (then, now) = (slice(1_000_000_005_000_000), slice(1_500_000_007_000_000));
        assert!(of_results("get_slice", &then, &now).starts_with("data at"));
        assert_eq!(of_results_in("get_slice", &then, &now, &made), "equal by server-time");
        assert!(of_results_in("get_slice", &then, &slice(5), &made).starts_with("data at"));
        // Both sides have the values of a client, so either of them was altered.
        for (time, other) in [(&then, &now), (&now, &then)] {
            let mut sent = SentValues::default();
            let mut conversation = Conversation::new(Protocol::Thrift { is_framed: true });
            let fields = r#"{"3": {"s": {"3": {"l": 1000000005000000}}}}"#;
            let insert = message("insert", MessageKind::Call, fields).write();
            let insert = conversation.request(&insert, &PreparedTexts::default()).unwrap();
            sent.learn(&insert, made.recorded);
            let made = with_timestamps(Box::leak(Box::new(sent)));
            let made = if time == &then {
                made
            } else {
                Context { recorded: made.candidate, candidate: made.recorded, ..made }
            };
            assert!(of_results_in("get_slice", time, other, &made).starts_with("data at"));
        }
        let uuid = |time: &str| {
            format!(
                r#"{{"0": {{"s": {{"2": {{"L": ["s", [{{"s": {{"2": {{"L": ["s", [{{"s": {{"2": {{"x": "{time}"}}}}}}]]}}}}}}]]}}}}}}}}"#
            )
        };
        let other = uuid("13814001 1dd2 11b2 8080808080808080".replace(' ', "").as_str());
        let text = of_results("execute_cql3_query", &uuid("138140001dd211b28080808080808080"), &other);
        assert!(text.starts_with("data"), "UUIDs of 1970 are not of these runs: {text}");
    }

    #[test]
    fn a_call_without_answer_differs() {
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        let request: Bytes = message("get", MessageKind::Call, "{}").write();
        let call = connection.request(&request, &PreparedTexts::default()).unwrap();
        let answer = Answer::Thrift(message("get", MessageKind::Reply, r#"{"2": {"s": {}}}"#));
        let lost = compare(&call, Some(&answer), None, &context());
        assert_eq!(told(&lost), r#"exception at "": NotFoundException <> nothing"#);
        assert_eq!(told(&compare(&call, None, Some(&answer), &context())), "the recording has no answer");
    }
}
