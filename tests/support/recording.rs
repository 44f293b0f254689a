//! Recorded conversations with real Cassandra servers: see `tests/recordings/README.md`.

use std::fs;
use std::io::{Read, Write};

use serde_json::Value as Json;
use wire::thrift::TType;
use wire::thrift::frame::Transport;

use super::client::{Client, Reply, Style};
use super::repository;
use super::server::Server;
use super::value::{Fields, Value};

/// One conversation.
pub struct Recording {
    name: String,
    /// The release of the recorded server.
    pub compat: String,
    /// The configuration of the recorded server.
    pub config: String,
    is_framed: bool,
    /// The calls, each with its line number in the file.
    calls: Vec<(usize, Json)>,
}

/// A reply that is not the recorded one.
pub struct Difference {
    /// The line of the call in the recording.
    pub line: usize,
    /// A description: the method, the recorded reply and the actual reply.
    pub text: String,
}

impl Recording {
    pub fn of(name: &str) -> Recording {
        let folder = repository("tests/recordings");
        let text = fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let header = lines.next().unwrap();
        let recording = Recording {
            name: name.to_owned(),
            compat: header["compat"].as_str().unwrap().to_owned(),
            config: fs::read_to_string(folder.join(header["config"].as_str().unwrap())).unwrap(),
            is_framed: header["framed"].as_bool().unwrap_or(false),
            calls: (2..).zip(lines).collect(),
        };
        assert!(recording.calls.len() > 30, "{name} is short");
        recording
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Sends all calls to a server, and returns the replies that differ from the recording.
    pub fn differences(&self, server: &Server) -> Vec<Difference> {
        self.differences_over(|style| server.client(style))
    }

    /// Sends all calls over connections that `connect` opens, and returns the replies that differ from the recording.
    pub fn differences_over<S: Read + Write>(&self, connect: impl Fn(Style) -> Client<S>) -> Vec<Difference> {
        let style = if self.is_framed { Style::FRAMED } else { Style::UNFRAMED };
        assert_eq!(style.transport == Transport::Framed, self.is_framed);
        let mut connections: Vec<(u64, Client<S>)> = Vec::new();
        let mut differences = Vec::new();
        for (number, line) in &self.calls {
            let which = line["c"].as_u64().unwrap_or(0);
            if !connections.iter().any(|(at, _)| *at == which) {
                connections.push((which, connect(style)));
            }
            let (_, client) = connections.iter_mut().find(|(at, _)| *at == which).unwrap();
            let method = line["m"].as_str().unwrap();
            let got = client.call(method, &Value::Struct(fields_of(&line["a"])));
            let expected = expected_of(&line["r"]);
            if !matches(method, &expected, got.clone(), texts_count(&self.name)) {
                let name = &self.name;
                let text = format!("{name}:{number} {method}\n  recorded {}\n  got {got:?}", line["r"]);
                differences.push(Difference { line: *number, text });
            }
        }
        differences
    }
}

/// What the recording expects as a reply.
enum Expected {
    Reply(Reply),
    AnyError,
    AnyReply,
}

/// Returns whether error texts are compared too. The recordings of 0.4, 0.7 and CQL of 1.2 only compare the kind of
/// error.
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

/// Removes the parts of a reply that differ from run to run, such as addresses of Java objects.
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
            let Value::Struct(fields) = result.canonical() else {
                unreachable!("the canonical form of a struct is a struct")
            };
            Reply::Result(fields)
        }
    }
}

/// Cuts a text off where Java printed the fields of an object.
fn without_dumps(mut bytes: Vec<u8>) -> Vec<u8> {
    for marker in [&b" Struct: "[..], b"Deletion=Deletion("] {
        if let Some(at) = find(&bytes, marker) {
            bytes.truncate(at + marker.len());
        }
    }
    bytes
}

/// Removes the address of a Java object: `LongType@1f2a` becomes `LongType`.
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

/// Returns the reply with empty texts in its exception.
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

/// The fields of a struct that a recording writes so.
pub fn fields_of(json: &Json) -> Fields {
    let fields = json.as_object().unwrap();
    fields.iter().map(|(id, value)| (id.parse().unwrap(), value_of(value))).collect()
}

/// The value that a recording writes so.
pub fn value_of(json: &Json) -> Value {
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
