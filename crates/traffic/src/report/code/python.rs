//! Python: the client that the Thrift compiler generates, as pycassa has it.

use std::fmt::Write;

use super::language::{CodeLanguage, arguments, separated};
use super::term::CodeTerm;

pub(super) const PYTHON: CodeLanguage = CodeLanguage {
    name: "Python (pycassa's Thrift client)",
    program: include_str!("programs/thrift.py.txt"),
    framed: &[("transport", "TFramedTransport")],
    unframed: &[("transport", "TBufferedTransport")],
    connect: "@client@ = connect()\n",
    statement: "@call@\n",
    printed: "print(@call@)\n",
    call: |client, call| format!("{client}.{}({})", call.method.name, arguments(call, |_| "None", term)),
};

fn term(value: &CodeTerm) -> String {
    match value {
        CodeTerm::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        CodeTerm::Integer { value, .. } => value.to_string(),
        CodeTerm::Double(value) if value.is_finite() => format!("{value:?}"),
        CodeTerm::Double(value) => format!("float(\"{value}\")"),
        CodeTerm::Text(text) => literal(text.as_bytes(), ""),
        CodeTerm::Binary(bytes) => literal(bytes, "b"),
        CodeTerm::Enum { name, member } => format!("{name}.{member}"),
        CodeTerm::Struct { name, fields } => {
            format!(
                "{name}({})",
                separated(fields, |(field, value)| format!("{}={}", field.name, term(value)))
            )
        }
        CodeTerm::List(_, items) => format!("[{}]", separated(items, term)),
        CodeTerm::Set(_, items) => format!("set([{}])", separated(items, term)),
        CodeTerm::Map(_, _, pairs) => {
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
