//! Conversations with real Cassandra servers, replayed: see `recordings/README.md`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod support;

use std::fs;

use serde_json::Value as Json;
use support::client::{Client, Reply, Style};
use support::server::Server;
use support::value::{Fields, Value};
use thriftstore::thrift::frame::Transport;
use thriftstore::thrift::wire::TType;

macro_rules! recordings {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                replay($name);
            }
        )*

        /// A file that nobody replays proves nothing.
        #[test]
        fn every_file_is_replayed() {
            let replayed = [$($name),*];
            for entry in fs::read_dir(support::idl::repository("tests/recordings")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if let Some(name) = name.strip_suffix(".jsonl") {
                    assert!(replayed.contains(&name), "{name}");
                }
            }
        }
    };
}

recordings! {
    errors_0_4: "0.4-errors",
    mixed_0_4: "0.4-mixed",
    ranges_order_preserving_0_4: "0.4-ranges-order-preserving",
    errors_0_6: "0.6-errors",
    mixed_0_6: "0.6-mixed",
    ranges_order_preserving_0_6: "0.6-ranges-order-preserving",
    ranges_0_6: "0.6-ranges",
    standard_0_6: "0.6-standard",
    super_0_6: "0.6-super",
    errors_0_7: "0.7-errors",
    index_0_7: "0.7-index",
    ranges_0_7: "0.7-ranges",
    standard_0_7: "0.7-standard",
    super_0_7: "0.7-super",
    counters_1_2: "1.2-counters",
    errors_1_2: "1.2-errors",
    index_1_2: "1.2-index",
    ranges_1_2: "1.2-ranges",
    standard_1_2: "1.2-standard",
    super_1_2: "1.2-super",
    cql_articles_1_2: "1.2-cql-articles",
    cql2_1_2: "1.2-cql2",
    counters_2_1: "2.1-counters",
    cql_articles_2_1: "2.1-cql-articles",
    cql_features_2_1: "2.1-cql-features",
    errors_2_1: "2.1-errors",
    index_2_1: "2.1-index",
    ranges_2_1: "2.1-ranges",
    standard_2_1: "2.1-standard",
    super_2_1: "2.1-super",
}

/// Differences that are shown of one file.
const SHOWN_MAX: usize = 10;

/// What was recorded in place of a reply.
enum Expected {
    Reply(Reply),
    AnyError,
    AnyReply,
}

fn replay(name: &str) {
    let folder = support::idl::repository("tests/recordings");
    let text = fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let header = lines.next().unwrap();
    let compat = header["compat"].as_str().unwrap();
    let framed = header["framed"].as_bool().unwrap_or(false);
    let directory = tempfile::tempdir().unwrap();
    let config = fs::read_to_string(folder.join(header["config"].as_str().unwrap())).unwrap();
    let server = Server::start(directory.path(), &config, &["--compat", compat]);
    let style = if framed { Style::FRAMED } else { Style::UNFRAMED };
    assert_eq!(style.transport == Transport::Framed, framed);

    let mut connections: Vec<(u64, Client)> = Vec::new();
    let mut differences = Vec::new();
    let mut calls = 0;
    for (line, number) in lines.zip(2..) {
        calls += 1;
        let which = line["c"].as_u64().unwrap_or(0);
        if !connections.iter().any(|(at, _)| *at == which) {
            connections.push((which, server.client(style)));
        }
        let (_, client) = connections.iter_mut().find(|(at, _)| *at == which).unwrap();
        let method = line["m"].as_str().unwrap();
        let got = client.call(method, &Value::Struct(fields_of(&line["a"])));
        let expected = expected_of(&line["r"]);
        if !matches(method, &expected, got.clone(), texts_count(name)) {
            differences.push(format!("{name}:{number} {method}\n  recorded {}\n  got {got:?}", line["r"]));
        }
    }
    assert!(calls > 50, "{name} is short");
    let count = differences.len();
    differences.truncate(SHOWN_MAX);
    assert!(count == 0, "{count} of {calls} replies differ:\n{}", differences.join("\n"));
    server.stop();
}

/// Whether the texts of errors must be the recorded ones.
fn texts_count(name: &str) -> bool {
    !["0.4", "0.7", "1.2-cql"].iter().any(|prefix| name.starts_with(prefix))
}

fn matches(method: &str, expected: &Expected, got: Reply, texts_count: bool) -> bool {
    let is_error = |reply: &Reply| match reply {
        Reply::Exception { .. } => true,
        Reply::Result(fields) => fields.keys().any(|id| *id != 0),
    };
    match expected {
        Expected::AnyError => is_error(&got),
        Expected::AnyReply => !is_error(&got),
        Expected::Reply(reply) => {
            let (recorded, got) = (comparable(method, reply.clone()), comparable(method, got));
            recorded == got || !texts_count && without_texts(recorded) == without_texts(got)
        }
    }
}

/// The reply without what no other server could repeat.
fn comparable(method: &str, reply: Reply) -> Reply {
    match reply {
        Reply::Exception { kind, text } => {
            let text = String::from_utf8(without_dumps(text.into_bytes())).unwrap();
            Reply::Exception { kind, text }
        }
        Reply::Result(fields) => {
            let mut result = Value::Struct(fields);
            each_binary(&mut result, &|bytes| *bytes = without_dumps(std::mem::take(bytes)));
            if method == "describe_keyspace" {
                each_binary(&mut result, &|bytes| *bytes = without_address(std::mem::take(bytes)));
            }
            if let (Value::Struct(fields), "get_string_list_property") = (&mut result, method)
                && let Some(Value::List(_, items)) = fields.get_mut(&0)
            {
                items.sort_by_cached_key(Value::encoded);
            }
            let Value::Struct(fields) = result.canonical() else { unreachable!("a struct stays one") };
            Reply::Result(fields)
        }
    }
}

/// Cuts a text where Java prints an object.
fn without_dumps(mut bytes: Vec<u8>) -> Vec<u8> {
    for marker in [&b" Struct: "[..], b"Deletion=Deletion("] {
        if let Some(at) = find(&bytes, marker) {
            bytes.truncate(at + marker.len());
        }
    }
    bytes
}

/// Takes the address off a Java object: `LongType@1f2a`.
fn without_address(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(at) = find(&bytes, b"Type@") {
        let start = at + b"Type".len();
        let digits = bytes[start + 1..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        bytes.drain(start..start + 1 + digits);
    }
    bytes
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn each_binary(value: &mut Value, change: &impl Fn(&mut Vec<u8>)) {
    match value {
        Value::Binary(bytes) => change(bytes),
        Value::Struct(fields) => fields.values_mut().for_each(|value| each_binary(value, change)),
        Value::List(_, items) | Value::Set(_, items) => {
            items.iter_mut().for_each(|item| each_binary(item, change));
        }
        Value::Map(_, _, pairs) => {
            for (key, value) in pairs {
                each_binary(key, change);
                each_binary(value, change);
            }
        }
        _ => {}
    }
}

/// The reply with the texts of its exception blanked.
fn without_texts(reply: Reply) -> Reply {
    match reply {
        Reply::Exception { kind, .. } => Reply::Exception { kind, text: String::new() },
        Reply::Result(fields) => {
            let blank = |(id, mut value): (i16, Value)| {
                if let (true, Value::Struct(inner)) = (id != 0, &mut value)
                    && inner.values().all(|field| matches!(field, Value::Binary(_)))
                {
                    inner.values_mut().for_each(|field| *field = Value::Binary(Vec::new()));
                }
                (id, value)
            };
            Reply::Result(fields.into_iter().map(blank).collect())
        }
    }
}

fn expected_of(recorded: &Json) -> Expected {
    let fields = || fields_of(&recorded[1]);
    match recorded[0].as_str().unwrap() {
        "any error" => Expected::AnyError,
        "any reply" => Expected::AnyReply,
        "reply" => Expected::Reply(Reply::Result(fields())),
        "exception" => {
            let fields = fields();
            let text = fields.get(&1).map(|text| text.str().to_owned()).unwrap_or_default();
            Expected::Reply(Reply::Exception { kind: fields.get(&2).map_or(0, Value::int), text })
        }
        other => unreachable!("unknown outcome {other}"),
    }
}

fn fields_of(json: &Json) -> Fields {
    let fields = json.as_object().unwrap();
    fields.iter().map(|(id, value)| (id.parse().unwrap(), value_of(value))).collect()
}

fn value_of(json: &Json) -> Value {
    let (letter, value) = json.as_object().unwrap().iter().next().unwrap();
    let int = || value.as_i64().unwrap();
    let items = || value[1].as_array().unwrap().iter().map(value_of).collect();
    match letter.as_str() {
        "b" => Value::Bool(value.as_bool().unwrap()),
        "y" => Value::Byte(int().try_into().unwrap()),
        "h" => Value::I16(int().try_into().unwrap()),
        "i" => Value::I32(int().try_into().unwrap()),
        "l" => Value::I64(int()),
        "d" => Value::Double(value.as_f64().unwrap()),
        "t" => Value::Binary(value.as_str().unwrap().as_bytes().to_vec()),
        "x" => Value::Binary(unhex(value.as_str().unwrap())),
        "s" => Value::Struct(fields_of(value)),
        "L" => Value::List(type_of(&value[0]), items()),
        "S" => Value::Set(type_of(&value[0]), items()),
        "M" => {
            let pair = |pair: &Json| (value_of(&pair[0]), value_of(&pair[1]));
            let pairs = value[2].as_array().unwrap().iter().map(pair).collect();
            Value::Map(type_of(&value[0]), type_of(&value[1]), pairs)
        }
        other => unreachable!("unknown type {other}"),
    }
}

fn type_of(json: &Json) -> TType {
    match json.as_str().unwrap() {
        "" => TType::Stop,
        "b" => TType::Bool,
        "y" => TType::Byte,
        "h" => TType::I16,
        "i" => TType::I32,
        "l" => TType::I64,
        "d" => TType::Double,
        "t" | "x" => TType::String,
        "s" => TType::Struct,
        "L" => TType::List,
        "S" => TType::Set,
        "M" => TType::Map,
        other => unreachable!("unknown type {other}"),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}
