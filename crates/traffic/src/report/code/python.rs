//! Python: the client that the Thrift compiler generates, as pycassa has it.

use std::fmt::Write;

use super::language::{CodeLanguage, separated};
use super::term::{TypedCall, TypedTerm};

pub(super) struct Python;

impl CodeLanguage for Python {
    fn name(&self) -> &'static str {
        "Python (pycassa's Thrift client)"
    }

    fn begin(&self, is_framed: bool) -> String {
        let transport = if is_framed { "TFramedTransport" } else { "TBufferedTransport" };
        format!(
            "from pycassa.cassandra import Cassandra\nfrom pycassa.cassandra.ttypes import *\n\
             from thrift.protocol import TBinaryProtocol\nfrom thrift.transport import TSocket, TTransport\n\n\
             def connect():\n    transport = TTransport.{transport}(TSocket.TSocket(\"localhost\", 9160))\n    \
             transport.open()\n    return Cassandra.Client(TBinaryProtocol.TBinaryProtocol(transport))\n\n"
        )
    }

    fn connect(&self, client: &str) -> String {
        format!("{client} = connect()\n")
    }

    fn call(&self, client: &str, call: &TypedCall, is_last: bool) -> String {
        let arguments = separated(&call.arguments, |(_, argument)| match argument {
            None => "None".to_owned(),
            Some(argument) => term(argument),
        });
        let text = format!("{client}.{}({arguments})", call.method.name);
        if is_last { format!("print({text})\n") } else { format!("{text}\n") }
    }

    fn end(&self) -> String {
        String::new()
    }
}

fn term(value: &TypedTerm) -> String {
    match value {
        TypedTerm::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        TypedTerm::Integer { value, .. } => value.to_string(),
        TypedTerm::Double(value) if value.is_finite() => format!("{value:?}"),
        TypedTerm::Double(value) => format!("float(\"{value}\")"),
        TypedTerm::Text(text) => literal(text.as_bytes(), ""),
        TypedTerm::Binary(bytes) => literal(bytes, "b"),
        TypedTerm::Enum { name, member } => format!("{name}.{member}"),
        TypedTerm::Struct { name, fields } => {
            format!(
                "{name}({})",
                separated(fields, |(field, value)| format!("{}={}", field.name, term(value)))
            )
        }
        TypedTerm::List(_, items) => format!("[{}]", separated(items, term)),
        TypedTerm::Set(_, items) => format!("set([{}])", separated(items, term)),
        TypedTerm::Map(_, _, pairs) => {
            format!("{{{}}}", separated(pairs, |(key, value)| format!("{}: {}", term(key), term(value))))
        }
    }
}

/// Returns a string literal. In a text (`prefix` is empty) characters beyond ASCII stay as they are.
fn literal(bytes: &[u8], prefix: &str) -> String {
    let mut out = format!("{prefix}\"");
    match std::str::from_utf8(bytes) {
        Ok(text) if prefix.is_empty() => super::language::escape(&mut out, text, |out, letter| {
            let _ = write!(out, "\\U{:08x}", u32::from(letter));
        }),
        _ => bytes.iter().for_each(|byte| match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            other => {
                let _ = write!(out, "\\x{other:02x}");
            }
        }),
    }
    out.push('"');
    out
}
