//! Go: the client that the Thrift compiler generates.

use std::fmt::Write;

use super::language::{CodeLanguage, arguments, camel, escape, separated};
use super::term::{CodeTerm, TypedCall};
use wire::thrift::interface::{Field, Requirement, Type};

pub(super) const GO: CodeLanguage = CodeLanguage {
    name: "Go (generated Thrift client)",
    program: include_str!("programs/thrift.go.txt"),
    framed: &[("transport", "thrift.NewTFramedTransportConf(socket, nil)")],
    unframed: &[("transport", "thrift.NewTBufferedTransport(socket, 8192)")],
    connect: "\t@client@ := connect()\n",
    statement: "\t@call@\n",
    printed: "\tfmt.Println(@call@)\n",
    call,
};

fn call(client: &str, call: &TypedCall) -> String {
    let arguments = arguments(call, absent, term);
    let comma = if arguments.is_empty() { "" } else { ", " };
    format!("{client}.{}(ctx{comma}{arguments})", go_name(call.method.name))
}

/// Words that the compiler writes in capital letters, as far as the interfaces have them.
const INITIALISMS: [&str; 2] = ["TTL", "ID"];

/// Returns the exported name of a field or method.
fn go_name(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    if INITIALISMS.contains(&upper.as_str()) { upper } else { camel(name) }
}

/// Returns the value of an argument that the message lacks.
fn absent(declared: &Type) -> &'static str {
    match declared {
        Type::Bool => "false",
        Type::Byte | Type::I16 | Type::I32 | Type::I64 | Type::Double => "0",
        Type::Text => "\"\"",
        Type::Enum(_) => "0",
        _ => "nil",
    }
}

fn type_name(declared: &Type) -> String {
    match declared {
        Type::Bool => "bool".to_owned(),
        Type::Byte => "int8".to_owned(),
        Type::I16 => "int16".to_owned(),
        Type::I32 => "int32".to_owned(),
        Type::I64 => "int64".to_owned(),
        Type::Double => "float64".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Binary => "[]byte".to_owned(),
        Type::Enum(of) => format!("cassandra.{}", of.name),
        Type::Struct(of) => format!("*cassandra.{}", go_name(of.name)),
        Type::List(of) | Type::Set(of) => format!("[]{}", type_name(of)),
        // Keys of maps must be comparable.
        Type::Map(key, of) if **key == Type::Binary => format!("map[string]{}", type_name(of)),
        Type::Map(key, of) => format!("map[{}]{}", type_name(key), type_name(of)),
    }
}

fn term(value: &CodeTerm) -> String {
    match value {
        CodeTerm::Bool(value) => value.to_string(),
        CodeTerm::Integer { value, .. } => value.to_string(),
        CodeTerm::Double(value) => format!("{value:?}"),
        CodeTerm::Text(text) => literal(text.as_bytes()),
        CodeTerm::Binary(bytes) => format!("[]byte({})", literal(bytes)),
        CodeTerm::Enum { name, member } => format!("cassandra.{name}_{member}"),
        CodeTerm::Struct { name, fields } => {
            let fields = separated(fields, |(field, value)| {
                format!("{}: {}", go_name(field.name), field_value(field, value))
            });
            format!("&cassandra.{}{{{fields}}}", go_name(name))
        }
        CodeTerm::List(of, items) | CodeTerm::Set(of, items) => {
            format!("[]{}{{{}}}", type_name(of), separated(items, term))
        }
        CodeTerm::Map(key, of, pairs) => {
            let entries = separated(pairs, |(name, value)| {
                let name = match name {
                    CodeTerm::Binary(bytes) => literal(bytes),
                    other => term(other),
                };
                format!("{name}: {}", term(value))
            });
            let key = if **key == Type::Binary { "string".to_owned() } else { type_name(key) };
            format!("map[{key}]{}{{{entries}}}", type_name(of))
        }
    }
}

/// Returns the value of a field. Optional fields of simple types are pointers.
fn field_value(field: &Field, value: &CodeTerm) -> String {
    let text = term(value);
    let is_pointer = matches!(
        value,
        CodeTerm::Binary(_)
            | CodeTerm::Struct { .. }
            | CodeTerm::List(..)
            | CodeTerm::Set(..)
            | CodeTerm::Map(..)
    );
    if field.requirement == Requirement::Optional && !is_pointer {
        return format!("thrift.Pointer({}({text}))", type_name(&field.declared));
    }
    text
}

/// Returns a string literal of any bytes.
fn literal(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        escape(&mut out, chunk.valid(), |out, letter| {
            let _ = write!(out, "\\U{:08x}", u32::from(letter));
        });
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}
