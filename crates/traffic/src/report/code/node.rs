//! JavaScript for Node: the client that the Thrift compiler generates.

use super::language::{CodeLanguage, separated, utf16_literal};
use super::term::{TypedCall, TypedTerm};
use crate::plain_text;
use base::util::hex;

pub(super) struct NodeJs;

/// The largest integer that a number of JavaScript has exactly.
const EXACT_MAX: u64 = (1 << 53) - 1;

impl CodeLanguage for NodeJs {
    fn name(&self) -> &'static str {
        "Node (generated Thrift client)"
    }

    fn begin(&self, is_framed: bool) -> String {
        let transport = if is_framed { "TFramedTransport" } else { "TBufferedTransport" };
        format!(
            "const thrift = require('thrift');\nconst Int64 = require('node-int64');\n\
             const Cassandra = require('./gen-nodejs/Cassandra');\n\
             const types = require('./gen-nodejs/cassandra_types');\n\n\
             const connections = [];\n\nfunction connect() {{\n    \
             const options = {{ transport: thrift.{transport}, protocol: thrift.TBinaryProtocol }};\n    \
             const connection = thrift.createConnection('localhost', 9160, options);\n    \
             connections.push(connection);\n    return thrift.createClient(Cassandra, connection);\n}}\n\n\
             async function reproduce() {{\n"
        )
    }

    fn connect(&self, client: &str) -> String {
        format!("    const {client} = connect();\n")
    }

    fn call(&self, client: &str, call: &TypedCall, is_last: bool) -> String {
        let arguments = separated(&call.arguments, |(_, argument)| match argument {
            None => "null".to_owned(),
            Some(argument) => term(argument),
        });
        let text = format!("await {client}.{}({arguments})", call.method.name);
        if is_last { format!("    console.log({text});\n") } else { format!("    {text};\n") }
    }

    fn end(&self) -> String {
        "}\n\nreproduce().finally(() => connections.forEach((connection) => connection.end()));\n".to_owned()
    }
}

fn term(value: &TypedTerm) -> String {
    match value {
        TypedTerm::Bool(value) => value.to_string(),
        TypedTerm::Integer { value, .. } if value.unsigned_abs() <= EXACT_MAX => value.to_string(),
        TypedTerm::Integer { value, .. } => format!("new Int64('{value:016x}')"),
        TypedTerm::Double(value) if value.is_finite() => format!("{value:?}"),
        TypedTerm::Double(value) if value.is_nan() => "NaN".to_owned(),
        TypedTerm::Double(value) => if *value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        TypedTerm::Text(text) => utf16_literal(text),
        TypedTerm::Binary(bytes) => match plain_text(bytes) {
            Some(text) => format!("Buffer.from({})", utf16_literal(text)),
            None => format!("Buffer.from('{}', 'hex')", hex(bytes)),
        },
        TypedTerm::Enum { name, member } => format!("types.{name}.{member}"),
        TypedTerm::Struct { name, fields } => {
            let fields = separated(fields, |(field, value)| format!("{}: {}", field.name, term(value)));
            format!("new types.{name}({{ {fields} }})")
        }
        TypedTerm::List(_, items) | TypedTerm::Set(_, items) => format!("[{}]", separated(items, term)),
        TypedTerm::Map(_, _, pairs) => {
            let entries = separated(pairs, |(key, value)| format!("[{}]: {}", term(key), term(value)));
            format!("{{ {entries} }}")
        }
    }
}
