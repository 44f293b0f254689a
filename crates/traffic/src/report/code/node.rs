//! JavaScript for Node: the client that the Thrift compiler generates.

use super::language::{CodeLanguage, arguments, separated, utf16_literal};
use super::term::CodeTerm;
use crate::plain_text;
use base::util::hex;

pub(super) const NODE_JS: CodeLanguage = CodeLanguage {
    name: "Node (generated Thrift client)",
    program: include_str!("programs/thrift.js.txt"),
    framed: &[("transport", "TFramedTransport")],
    unframed: &[("transport", "TBufferedTransport")],
    connect: "    const @client@ = connect();\n",
    statement: "    @call@;\n",
    printed: "    console.log(@call@);\n",
    call: |client, call| {
        format!("await {client}.{}({})", call.method.name, arguments(call, |_| "null", term))
    },
};

/// The largest integer that a number of JavaScript has exactly.
const EXACT_MAX: u64 = (1 << 53) - 1;

fn term(value: &CodeTerm) -> String {
    match value {
        CodeTerm::Bool(value) => value.to_string(),
        CodeTerm::Integer { value, .. } if value.unsigned_abs() <= EXACT_MAX => value.to_string(),
        CodeTerm::Integer { value, .. } => format!("new Int64('{value:016x}')"),
        CodeTerm::Double(value) if value.is_finite() => format!("{value:?}"),
        CodeTerm::Double(value) if value.is_nan() => "NaN".to_owned(),
        CodeTerm::Double(value) => if *value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        CodeTerm::Text(text) => utf16_literal(text),
        CodeTerm::Binary(bytes) => match plain_text(bytes) {
            Some(text) => format!("Buffer.from({})", utf16_literal(text)),
            None => format!("Buffer.from('{}', 'hex')", hex(bytes)),
        },
        CodeTerm::Enum { name, member } => format!("types.{name}.{member}"),
        CodeTerm::Struct { name, fields } => {
            let fields = separated(fields, |(field, value)| format!("{}: {}", field.name, term(value)));
            format!("new types.{name}({{ {fields} }})")
        }
        CodeTerm::List(_, items) | CodeTerm::Set(_, items) => format!("[{}]", separated(items, term)),
        CodeTerm::Map(_, _, pairs) => {
            let entries = separated(pairs, |(key, value)| format!("[{}]: {}", term(key), term(value)));
            format!("{{ {entries} }}")
        }
    }
}
