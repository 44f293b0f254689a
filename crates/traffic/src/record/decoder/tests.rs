//! No planted password is in the output of the decoder: requests, bound values, errors and other replies.

use bytes::{BufMut, Bytes, BytesMut};

use super::prepared_kinds::PreparedKinds;
use super::replies;
use super::secrets::{CallSecrets, Hidden, hide_in_native, hide_in_thrift};
use crate::corpus::{SECRET, hard_statements, planted};
use cql_syntax::parse;
use wire::thrift::{MessageKind, TType, Writer};

const HEADER: usize = 9;

fn frame(first: u8, opcode: u8, body: &[u8]) -> Bytes {
    let mut frame = BytesMut::from(&[first, 0, 0, 0, opcode][..]);
    frame.put_u32(body.len() as u32);
    frame.put_slice(body);
    frame.freeze()
}

fn long(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes()[..], text].concat()
}

fn short(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text].concat()
}

fn message(name: &str, kind: MessageKind, write: impl FnOnce(&mut Writer<'_>)) -> Bytes {
    let mut out = BytesMut::new();
    let mut writer = Writer::new(&mut out);
    writer.message_begin(name.as_bytes(), kind, 1);
    write(&mut writer);
    writer.stop();
    out.freeze()
}

/// Returns the request as it is recorded, and its secrets.
fn shown_request(request: &Bytes, hidden: Hidden) -> (Bytes, CallSecrets) {
    match hidden {
        Hidden::Nothing => (request.clone(), CallSecrets::default()),
        Hidden::Replaced(shown, secrets) => (shown, secrets),
        Hidden::Refused => (Bytes::new(), CallSecrets::default()),
    }
}

fn assert_hidden(bytes: &Bytes, about: &str) {
    assert!(!String::from_utf8_lossy(bytes).contains(SECRET), "{about}: {}", String::from_utf8_lossy(bytes));
}

/// Returns the errors of this server and of a real one about a statement: a real one repeats all of it.
fn errors_of(statement: &str) -> Vec<String> {
    let own = parse(statement).err().map(|error| error.to_string());
    let start: String = statement.chars().take(60).collect();
    let real = format!("line 1:38 no viable alternative at input 'x' ([{start}]...)");
    own.into_iter().chain([real, format!("line 2:1 mismatched input '{SECRET}' expecting EOF")]).collect()
}

#[test]
fn passwords_in_statements_and_errors_are_hidden() {
    let none = PreparedKinds::default();
    for text in planted("password") {
        let body = long(text.as_bytes());
        let batch = [&[0, 0, 1, 0][..], &body, &[0, 0, 0, 1, 0]].concat();
        for (opcode, body) in [(0x07, [&body[..], &[0, 1, 0]].concat()), (0x09, body), (0x0d, batch)] {
            let request = frame(4, opcode, &body);
            let (recorded, secrets) = shown_request(&request, hide_in_native(&request, &none));
            assert_hidden(&recorded, "a native request");
            if !secrets.kind.has_passwords {
                continue;
            }
            for error in errors_of(&text) {
                let reply = frame(0x84, 0, &[&[0, 0, 0x20, 0][..], &short(error.as_bytes())].concat());
                assert_hidden(&replies::hide_in_native(reply, &secrets, HEADER), "a native error");
            }
        }
        for method in ["execute_cql_query", "execute_cql3_query", "prepare_cql3_query"] {
            let request = message(method, MessageKind::Call, |writer| {
                writer.field_string(1, text.as_bytes());
                writer.field_i32(2, 2);
            });
            let hidden = hide_in_thrift(method.as_bytes(), &request, &none);
            let (recorded, secrets) = shown_request(&request, hidden);
            assert_hidden(&recorded, method);
            for error in errors_of(&text).into_iter().filter(|_| secrets.kind.has_passwords) {
                let reply = message(method, MessageKind::Reply, |writer| {
                    writer.field_struct(1);
                    writer.field_string(1, error.as_bytes());
                    writer.stop();
                });
                assert_hidden(&replies::hide_in_thrift(reply, &secrets, 8), "a Thrift error");
            }
        }
    }
    for text in hard_statements() {
        let request = frame(4, 0x09, &long(text.as_bytes()));
        let (recorded, _) = shown_request(&request, hide_in_native(&request, &none));
        assert_eq!(recorded.len(), request.len(), "{text}");
    }
}

#[test]
fn values_bound_to_passwords_are_hidden() {
    let value = [&[0, 1, 1, 0, 1][..], &long(SECRET.as_bytes())].concat();
    let mut prepared = PreparedKinds::default();
    for text in [
        "CREATE USER bob WITH PASSWORD ?",
        "ALTER ROLE r WITH PASSWORD = :p",
        "INSERT INTO system_auth.roles (role, salted_hash) VALUES (?, ?)",
    ] {
        let query = frame(4, 0x07, &[&long(text.as_bytes())[..], &value].concat());
        assert_hidden(&shown_request(&query, hide_in_native(&query, &prepared)).0, text);
        let prepare = frame(4, 0x09, &long(text.as_bytes()));
        let (_, secrets) = shown_request(&prepare, hide_in_native(&prepare, &prepared));
        prepared.add(&7_i32.to_be_bytes(), secrets.kind);
        let execute = frame(4, 0x0a, &[&short(&7_i32.to_be_bytes())[..], &value].concat());
        assert_hidden(&shown_request(&execute, hide_in_native(&execute, &prepared)).0, "EXECUTE");
        let execute = message("execute_prepared_cql3_query", MessageKind::Call, |writer| {
            writer.field_i32(1, 7);
            writer.field_list(2, TType::String, 1);
            writer.bytes(SECRET.as_bytes());
        });
        let hidden = hide_in_thrift(b"execute_prepared_cql3_query", &execute, &prepared);
        assert_hidden(&shown_request(&execute, hidden).0, "execute_prepared_cql3_query");
        prepared = PreparedKinds::default();
        // The statement may have been prepared before the recording began.
        let hidden = hide_in_thrift(b"execute_prepared_cql3_query", &execute, &prepared);
        assert_eq!(hidden, Hidden::Refused);
        assert!(matches!(hide_in_native(&query.slice(..query.len() - 1), &prepared), Hidden::Refused));
    }
}

/// Returns a RESULT of one row with one text column.
fn row(keyspace: &str, column: &str, value: &[u8]) -> Bytes {
    let columns =
        [&[0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1][..], &short(keyspace.as_bytes()), &short(b"t")].concat();
    let column = [&short(column.as_bytes())[..], &[0, 13, 0, 0, 0, 1]].concat();
    frame(0x84, 8, &[&columns[..], &column, &long(value)].concat())
}

#[test]
fn hashes_and_traces_in_replies_are_hidden() {
    let none = CallSecrets::default();
    let hash = row("system_auth", "salted_hash", SECRET.as_bytes());
    assert_hidden(&replies::hide_in_native(hash, &none, HEADER), "a hash");
    let activity = format!("Parsing CREATE USER bob WITH PASSWORD '{SECRET}'");
    let traced = row("system_traces", "activity", activity.as_bytes());
    let shown = replies::hide_in_native(traced, &none, HEADER);
    assert_hidden(&shown, "a trace");
    assert!(String::from_utf8_lossy(&shown).contains("WITH PASSWORD '********'"));
    let query = format!("ALTER USER bob WITH PASSWORD '{SECRET}'");
    let map = [&[0, 0, 0, 1][..], &long(b"query"), &long(query.as_bytes())].concat();
    let shown = replies::hide_in_native(row("system_traces", "parameters", &map), &none, HEADER);
    assert_hidden(&shown, "the parameters of a trace");
    assert!(shown.ends_with(b"\0\0\0\x27ALTER USER bob WITH PASSWORD '********'"));
    let data = row("k", "v", activity.as_bytes());
    assert_eq!(replies::hide_in_native(data.clone(), &none, HEADER), data);

    let cell = message("get_slice", MessageKind::Reply, |writer| {
        writer.field_list(0, TType::Struct, 1);
        writer.field_struct(1);
        writer.field_string(1, b"\0\x0bsalted_hash\0");
        writer.field_string(2, SECRET.as_bytes());
        writer.stop();
        writer.stop();
    });
    assert_hidden(&replies::hide_in_thrift(cell, &none, 8), "a cell");
    let insert = message("insert", MessageKind::Call, |writer| {
        writer.field_string(1, b"bob");
        writer.field_struct(3);
        writer.field_string(1, b"salted_hash");
        writer.field_string(2, SECRET.as_bytes());
        writer.field_i64(3, 1);
        writer.stop();
    });
    let hidden = hide_in_thrift(b"insert", &insert, &PreparedKinds::default());
    assert_hidden(&shown_request(&insert, hidden).0, "an insert");
    let range = message("get_slice", MessageKind::Call, |writer| {
        writer.field_struct(1);
        writer.field_string(1, b"salted_hash");
        writer.field_string(2, b"salted_hash");
        writer.field_bool(3, false);
        writer.stop();
    });
    assert_eq!(hide_in_thrift(b"get_slice", &range, &PreparedKinds::default()), Hidden::Nothing);
    let text = "SELECT activity FROM system_traces.events";
    let select = message("execute_cql3_query", MessageKind::Call, |writer| {
        writer.field_string(1, text.as_bytes());
        writer.field_i32(2, 2);
    });
    let hidden = hide_in_thrift(b"execute_cql3_query", &select, &PreparedKinds::default());
    let (recorded, secrets) = shown_request(&select, hidden);
    assert_eq!(recorded, select);
    let rows = message("execute_cql3_query", MessageKind::Reply, |writer| {
        writer.field_struct(0);
        writer.field_string(2, activity.as_bytes());
        writer.stop();
    });
    assert_hidden(&replies::hide_in_thrift(rows, &secrets, 8), "a trace over Thrift");
}
