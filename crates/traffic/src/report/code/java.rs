//! Java: the client that the Thrift compiler generates.

use super::language::{CodeLanguage, arguments, capital, separated, utf16_literal};
use super::term::CodeTerm;
use crate::plain_text;
use base::util::hex;
use wire::thrift::interface::Type;

pub(super) const JAVA: CodeLanguage = CodeLanguage {
    name: "Java (generated Thrift client)",
    program: include_str!("programs/thrift.java.txt"),
    framed: &[
        (
            "import",
            "// Since Thrift 0.14: org.apache.thrift.transport.layered.TFramedTransport.\n\
             import org.apache.thrift.transport.TFramedTransport;\n",
        ),
        ("transport", "new TFramedTransport(socket)"),
    ],
    unframed: &[("transport", "socket")],
    connect: "        Cassandra.Client @client@ = connect();\n",
    statement: CALL,
    // Methods without a result cannot be printed, so no call is.
    printed: CALL,
    call: |client, call| format!("{client}.{}({})", call.method.name, arguments(call, absent, term)),
};

const CALL: &str = "        @call@;\n";

/// Returns the value of an argument that the message lacks.
fn absent(declared: &Type) -> &'static str {
    match declared {
        Type::Bool => "false",
        Type::Byte | Type::I16 => "(byte) 0",
        Type::I32 | Type::I64 | Type::Double => "0",
        _ => "null",
    }
}

fn term(value: &CodeTerm) -> String {
    match value {
        CodeTerm::Bool(value) => value.to_string(),
        CodeTerm::Integer { bits: 8, value } => format!("(byte) {value}"),
        CodeTerm::Integer { bits: 16, value } => format!("(short) {value}"),
        CodeTerm::Integer { bits: 64, value } => format!("{value}L"),
        CodeTerm::Integer { value, .. } => value.to_string(),
        CodeTerm::Double(value) if value.is_finite() => format!("{value:?}"),
        CodeTerm::Double(value) => {
            format!("Double.parseDouble(\"{}\")", if value.is_nan() { "NaN" } else { sign(*value) })
        }
        CodeTerm::Text(text) => utf16_literal(text),
        CodeTerm::Binary(bytes) => match plain_text(bytes) {
            Some(text) => format!("text({})", utf16_literal(text)),
            None => format!("hex(\"{}\")", hex(bytes)),
        },
        CodeTerm::Enum { name, member } => format!("{name}.{member}"),
        CodeTerm::Struct { name, fields } => {
            let setters: String = fields
                .iter()
                .map(|(field, value)| format!(".set{}({})", capital(field.name), term(value)))
                .collect();
            format!("new {name}(){setters}")
        }
        CodeTerm::List(_, items) => format!("Arrays.asList({})", separated(items, term)),
        CodeTerm::Set(_, items) => format!("new HashSet<>(Arrays.asList({}))", separated(items, term)),
        CodeTerm::Map(_, _, pairs) => {
            let entries =
                separated(pairs, |(key, value)| format!("Map.entry({}, {})", term(key), term(value)));
            format!("Map.ofEntries({entries})")
        }
    }
}

fn sign(value: f64) -> &'static str {
    if value > 0.0 { "Infinity" } else { "-Infinity" }
}
