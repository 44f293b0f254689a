//! Compares replies of the native protocol.

use bytes::Bytes;

use super::super::call::{NativeReply, ReplyContent, ResultColumn, ResultRows, UNPREPARED};
use super::context::Context;
use super::shown::{shown_bytes, shown_cell};
use super::texts::without_java_objects;
use super::{FoundDifference, MadeValue, Rule};
use crate::report::{ANOTHER_ORDER, DifferenceKind};
use base::schema::is_system_keyspace;

/// Returns the difference of two replies, and adds the rules that were applied.
pub(super) fn difference(
    keyspace: Option<&str>,
    recorded: &NativeReply,
    candidate: &NativeReply,
    context: &Context<'_>,
    rules: &mut Vec<Rule>,
) -> Option<FoundDifference> {
    contents(keyspace, recorded, candidate, context, rules).or_else(|| {
        let (left, right) = (&recorded.warnings, &candidate.warnings);
        (left != right).then(|| FoundDifference {
            kind: DifferenceKind::Text,
            path: "warnings".to_owned(),
            recorded: Some(left.join("; ")),
            candidate: Some(right.join("; ")),
        })
    })
}

fn contents(
    keyspace: Option<&str>,
    recorded: &NativeReply,
    candidate: &NativeReply,
    context: &Context<'_>,
    rules: &mut Vec<Rule>,
) -> Option<FoundDifference> {
    use ReplyContent::{Authenticate, Authentication, Error, Prepared, Ready, Supported};
    match (&recorded.content, &candidate.content) {
        (left, right) if left == right => None,
        (ReplyContent::Rows(_), ReplyContent::Rows(_)) | (Prepared { .. }, Prepared { .. })
            if keyspace.is_some_and(is_system_keyspace) =>
        {
            rules.push(Rule::SystemTables);
            None
        }
        (Error { code: SERVER_ERROR, .. }, Error { .. }) => {
            rules.push(Rule::InternalError);
            None
        }
        (Error { code, text, fields }, Error { code: other, text: other_text, fields: other_fields }) => {
            if (code, fields) == (other, other_fields)
                && without_java_objects(text) == without_java_objects(other_text)
            {
                rules.push(Rule::JavaObject);
                return None;
            }
            // The id of a statement that the server does not know is the server's own.
            if code == other && *code == UNPREPARED {
                rules.push(Rule::Handle);
                return None;
            }
            let kind = if code == other { DifferenceKind::Text } else { DifferenceKind::Exception };
            Some(FoundDifference::whole(kind, shown_reply(recorded), shown_reply(candidate)))
        }
        (ReplyContent::Rows(left), ReplyContent::Rows(right)) => rows(left, right, context, rules),
        (Prepared { metadata: left, .. }, Prepared { metadata: right, .. }) => {
            rules.push(Rule::Handle);
            (left != right)
                .then(|| FoundDifference::data("metadata", Some(shown_bytes(left)), Some(shown_bytes(right))))
        }
        (Ready | Authenticate(_), Ready | Authenticate(_)) => {
            rules.push(Rule::Login);
            None
        }
        (Supported, Supported) | (Authentication(_), Authentication(_)) => {
            rules.push(Rule::Identity);
            None
        }
        (Error { .. }, _) | (_, Error { .. }) => Some(FoundDifference::whole(
            DifferenceKind::Exception,
            shown_reply(recorded),
            shown_reply(candidate),
        )),
        _ => {
            Some(FoundDifference::whole(DifferenceKind::Data, shown_reply(recorded), shown_reply(candidate)))
        }
    }
}

const SERVER_ERROR: u32 = 0x0000;

/// Returns the name of an error's code.
fn error_name(code: u32) -> String {
    match code {
        SERVER_ERROR => "ServerError",
        0x000a => "ProtocolError",
        0x0100 => "BadCredentials",
        0x1000 => "Unavailable",
        0x1001 => "Overloaded",
        0x1002 => "IsBootstrapping",
        0x1003 => "TruncateError",
        0x1100 => "WriteTimeout",
        0x1200 => "ReadTimeout",
        0x1300 => "ReadFailure",
        0x1400 => "FunctionFailure",
        0x1500 => "WriteFailure",
        0x2000 => "SyntaxError",
        0x2100 => "Unauthorized",
        0x2200 => "Invalid",
        0x2300 => "ConfigError",
        0x2400 => "AlreadyExists",
        UNPREPARED => "Unprepared",
        other => return format!("Error{other:04x}"),
    }
    .to_owned()
}

/// Returns a reply as text: an error as `NAME: text`.
pub(super) fn shown_reply(reply: &NativeReply) -> String {
    match &reply.content {
        ReplyContent::Error { code, text, .. } => format!("{}: {text}", error_name(*code)),
        ReplyContent::Ready => "READY".to_owned(),
        ReplyContent::Authenticate(class) => format!("AUTHENTICATE {class}"),
        ReplyContent::Supported => "SUPPORTED".to_owned(),
        ReplyContent::Void => "VOID".to_owned(),
        ReplyContent::Rows(rows) => format!("{} rows", rows.rows.len()),
        ReplyContent::Keyspace(keyspace) => format!("keyspace {keyspace}"),
        ReplyContent::Prepared { .. } => "PREPARED".to_owned(),
        ReplyContent::SchemaChange(change) => format!("schema change {}", shown_bytes(change)),
        ReplyContent::Authentication(_) => "AUTH".to_owned(),
    }
}

/// Returns whether results have the same rows, in any order.
fn have_same_rows(left: &ResultRows, right: &ResultRows) -> bool {
    let sorted = |rows: &ResultRows| {
        let mut rows = rows.rows.clone();
        rows.sort_unstable();
        rows
    };
    left.rows.len() == right.rows.len() && sorted(left) == sorted(right)
}

fn rows(
    left: &ResultRows,
    right: &ResultRows,
    context: &Context<'_>,
    rules: &mut Vec<Rule>,
) -> Option<FoundDifference> {
    let columns = if left.columns.is_empty() { &right.columns } else { &left.columns };
    // Without metadata on one side the client has wanted none.
    if !left.columns.is_empty() && !right.columns.is_empty() && left.columns != right.columns {
        return Some(columns_differ(&left.columns, &right.columns));
    }
    let mut is_reordered = None;
    for (number, (one, other)) in left.rows.iter().zip(&right.rows).enumerate() {
        if one != other && *is_reordered.get_or_insert_with(|| have_same_rows(left, right)) {
            let path = format!("[{number}]{ANOTHER_ORDER}");
            return Some(FoundDifference::data(&path, Some(shown_row(one)), Some(shown_row(other))));
        }
        if one.len() != other.len() {
            let count = |row: &[_]| Some(format!("{} columns", row.len()));
            return Some(FoundDifference::data(&format!("[{number}]"), count(one), count(other)));
        }
        for (at, (one, other)) in one.iter().zip(other).enumerate() {
            if one == other {
                continue;
            }
            let column = columns.get(at);
            if let Some(rule) = cell_rule(column, one.as_ref(), other.as_ref(), context) {
                rules.push(rule);
                continue;
            }
            let name = column.map_or_else(|| at.to_string(), |column| column.name.clone());
            let path = format!("[{number}].{name}");
            return Some(FoundDifference::data(
                &path,
                Some(shown_cell(one.as_ref())),
                Some(shown_cell(other.as_ref())),
            ));
        }
    }
    if left.rows.len() != right.rows.len() {
        let at = left.rows.len().min(right.rows.len());
        let row = |rows: &ResultRows| rows.rows.get(at).map(|row| shown_row(row));
        return Some(FoundDifference::data(&format!("[{at}]"), row(left), row(right)));
    }
    match (&left.paging_state, &right.paging_state) {
        (Some(_), None) => Some(FoundDifference::data("paging_state", Some("more pages".to_owned()), None)),
        (None, Some(_)) => Some(FoundDifference::data("paging_state", None, Some("more pages".to_owned()))),
        (left, right) => {
            if left != right {
                rules.push(Rule::Handle);
            }
            None
        }
    }
}

fn shown_row(row: &[Option<Bytes>]) -> String {
    row.iter().map(|cell| shown_cell(cell.as_ref())).collect::<Vec<_>>().join(", ")
}

fn columns_differ(left: &[ResultColumn], right: &[ResultColumn]) -> FoundDifference {
    let shown = |column: &ResultColumn| {
        format!("{}.{}.{} {}", column.keyspace, column.table, column.name, column.cql_type)
    };
    let at = left.iter().zip(right).position(|(one, other)| one != other);
    let at = at.unwrap_or(left.len().min(right.len()));
    FoundDifference::data(&format!("columns[{at}]"), left.get(at).map(shown), right.get(at).map(shown))
}

/// Returns the rule by which two different values of a column count as equal.
fn cell_rule(
    column: Option<&ResultColumn>,
    recorded: Option<&Bytes>,
    candidate: Option<&Bytes>,
    context: &Context<'_>,
) -> Option<Rule> {
    let (column, recorded, candidate) = (column?, recorded?, candidate?);
    let made = |kind, rule| context.are_made(kind, recorded, candidate).then_some(rule);
    match &column.cql_type[..] {
        "bigint" if column.name.starts_with("writetime(") => made(MadeValue::Micros, Rule::ServerTime),
        "timestamp" => made(MadeValue::Millis, Rule::ServerTime),
        "bigint" if column.name.contains("unixtimestamp") => made(MadeValue::Millis, Rule::ServerTime),
        "date" => made(MadeValue::Date, Rule::ServerTime),
        "time" => made(MadeValue::TimeOfDay, Rule::ServerTime),
        "int" if column.name.starts_with("ttl(") => {
            let number = |bytes: &Bytes| <[u8; 4]>::try_from(&bytes[..]).ok().map(i32::from_be_bytes);
            let (left, right) = number(recorded).zip(number(candidate))?;
            // One second, because times to live have whole seconds.
            let passed = context.recorded.seconds().max(context.candidate.seconds()).saturating_add(1);
            let apart = i64::from(left).abs_diff(i64::from(right));
            (apart <= passed.unsigned_abs()).then_some(Rule::TimeToLive)
        }
        "timeuuid" => made(MadeValue::TimeUuid, Rule::ServerTime),
        "uuid" => {
            made(MadeValue::TimeUuid, Rule::ServerTime).or(made(MadeValue::RandomUuid, Rule::RandomUuid))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::context::testing::{context, with_timestamps};
    use super::*;
    use crate::call::NativeFrame;
    use wire::native::ProtocolVersion;

    fn reply(content: ReplyContent) -> NativeReply {
        let frame = NativeFrame {
            version: ProtocolVersion::V4,
            is_from_server: true,
            flags: 0,
            stream: 0,
            opcode: 8,
            body: Bytes::new(),
        };
        NativeReply { frame, warnings: Vec::new(), content }
    }

    fn told(left: ReplyContent, right: ReplyContent) -> String {
        told_in(&context(), left, right)
    }

    fn told_in(context: &Context<'_>, left: ReplyContent, right: ReplyContent) -> String {
        let mut rules = Vec::new();
        match difference(Some("ks"), &reply(left), &reply(right), context, &mut rules) {
            Some(found) => {
                let or_nothing = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_owned());
                let (left, right) = (or_nothing(found.recorded), or_nothing(found.candidate));
                format!("{} at {:?}: {left} <> {right}", found.kind, found.path)
            }
            None => rules.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(", "),
        }
    }

    fn error(code: u32, text: &str) -> ReplyContent {
        ReplyContent::Error { code, text: text.to_owned(), fields: Bytes::new() }
    }

    /// Returns rows of one column.
    fn rows_of(keyspace: &str, (name, cql_type): (&str, &str), cells: &[&[u8]]) -> ReplyContent {
        let column = ResultColumn {
            keyspace: keyspace.to_owned(),
            table: "t".to_owned(),
            name: name.to_owned(),
            cql_type: cql_type.to_owned(),
        };
        ReplyContent::Rows(ResultRows {
            columns: vec![column],
            paging_state: None,
            result_id: None,
            rows: cells.iter().map(|cell| vec![Some(Bytes::copy_from_slice(cell))]).collect(),
        })
    }

    #[test]
    fn errors_differ_by_code_or_text() {
        assert_eq!(told(error(0x2200, "a"), error(0x2200, "a")), "");
        assert_eq!(told(error(0x2200, "a"), error(0x2200, "b")), r#"text at "": Invalid: a <> Invalid: b"#);
        assert_eq!(
            told(error(0x2200, "a"), error(0x2000, "a")),
            r#"exception at "": Invalid: a <> SyntaxError: a"#
        );
        assert_eq!(told(error(0, "a"), error(0x2000, "b")), "internal-error");
        assert_eq!(told(ReplyContent::Void, error(0, "b")), r#"exception at "": VOID <> ServerError: b"#);
        assert_eq!(told(error(0x2500, "a"), error(0x2500, "b")), "handle");
    }

    #[test]
    fn the_first_cell_that_differs_is_named() {
        let rows = |cells: &[&[u8]]| rows_of("ks", ("a", "text"), cells);
        assert_eq!(told(rows(&[b"x", b"y"]), rows(&[b"x", b"z"])), r#"data at "[1].a": "y" <> "z""#);
        assert_eq!(told(rows(&[b"x"]), rows(&[b"x", b"z"])), r#"data at "[1]": nothing <> "z""#);
        assert_eq!(told(rows(&[b"x", b"y"]), rows(&[b"y", b"x"])), r#"data at "[0] (order)": "x" <> "y""#);
        let other = rows_of("ks", ("a", "blob"), &[b"x"]);
        assert_eq!(told(rows(&[b"x"]), other), r#"data at "columns[0]": ks.t.a text <> ks.t.a blob"#);
        // Replies to EXECUTE may name no columns, so the call shows that the table is one of the system.
        let (left, right) = (reply(rows(&[b"x"])), reply(rows(&[b"y"])));
        let mut rules = Vec::new();
        assert!(difference(Some("system"), &left, &right, &context(), &mut rules).is_none());
        assert_eq!(rules, [Rule::SystemTables]);
    }

    #[test]
    fn values_that_servers_make_are_equal_by_rules() {
        let (then, now) = (1_000_000_005_000_000_i64, 1_500_000_007_000_000_i64);
        let number =
            |name: &str, cql_type: &str, value: i64| rows_of("ks", (name, cql_type), &[&value.to_be_bytes()]);
        let write_time = |value| number("writetime(a)", "bigint", value);
        assert!(told(write_time(then), write_time(now)).starts_with("data"), "all timestamps are of clients");
        let made = with_timestamps(Box::leak(Box::default()));
        assert_eq!(told_in(&made, write_time(then), write_time(now)), "server-time");
        assert!(told_in(&made, write_time(then), write_time(5)).starts_with("data"));
        let plain = |value| number("a", "bigint", value);
        assert!(told(plain(then), plain(now)).starts_with("data"), "no server makes this number");
        let date = |value: i64| number("a", "timestamp", value / 1000);
        assert_eq!(told(date(then), date(now)), "server-time");
        let day = |number: u32| rows_of("ks", ("d", "date"), &[&(number + (1 << 31)).to_be_bytes()]);
        assert_eq!(told(day(11_574), day(17_361)), "server-time");
        assert!(told(day(11_574), day(17_362)).starts_with("data"));
        let time = |seconds: i64| number("t", "time", seconds * 1_000_000_000);
        assert_eq!(told(time(1_000_000_005 % 86_400), time(1_500_000_007 % 86_400)), "server-time");
        assert!(told(time(1_000_000_005 % 86_400), time(5)).starts_with("data"));
        let ttl = |value: i32| rows_of("ks", ("ttl(a)", "int"), &[&value.to_be_bytes()]);
        assert_eq!(told(ttl(500), ttl(400)), "time-to-live");
        assert!(told(ttl(500), ttl(300)).starts_with("data"));
    }

    #[test]
    fn a_login_is_not_repeated() {
        let authenticate = || ReplyContent::Authenticate("class".to_owned());
        assert_eq!(told(authenticate(), ReplyContent::Ready), "login");
        assert_eq!(told(ReplyContent::Ready, authenticate()), "login");
        assert!(told(ReplyContent::Ready, error(0x000a, "no")).starts_with("exception"));
    }

    #[test]
    fn handles_of_servers_are_not_compared() {
        let prepared = |id: &'static str, metadata: &'static str| ReplyContent::Prepared {
            id: id.into(),
            result_id: None,
            metadata: metadata.into(),
        };
        assert_eq!(told(prepared("a", "m"), prepared("b", "m")), "handle");
        assert!(told(prepared("a", "m"), prepared("b", "n")).starts_with("data at \"metadata\""));
        let page = |state: Option<&'static str>| match rows_of("ks", ("a", "text"), &[b"x"]) {
            ReplyContent::Rows(rows) => {
                ReplyContent::Rows(ResultRows { paging_state: state.map(Bytes::from), ..rows })
            }
            other => other,
        };
        assert_eq!(told(page(Some("a")), page(Some("b"))), "handle");
        assert!(told(page(Some("a")), page(None)).starts_with("data at \"paging_state\""));
    }
}
