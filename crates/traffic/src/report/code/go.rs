//! Go: the client that the Thrift compiler generates.

use std::fmt::Write;

use super::language::{CodeLanguage, camel, escape, separated};
use super::term::{TypedCall, TypedTerm};
use wire::thrift::interface::{Field, Requirement, Type};

pub(super) struct Go;

/// Words that the compiler writes in capital letters, as far as the interfaces have them.
const INITIALISMS: [&str; 2] = ["TTL", "ID"];

impl CodeLanguage for Go {
    fn name(&self) -> &'static str {
        "Go (generated Thrift client)"
    }

    fn begin(&self, is_framed: bool) -> String {
        let transport = match is_framed {
            true => "thrift.NewTFramedTransportConf(socket, nil)",
            false => "thrift.NewTBufferedTransport(socket, 8192)",
        };
        format!(
            "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\n\t\"github.com/apache/thrift/lib/go/thrift\"\n\
             \t\"example.org/reproduction/cassandra\"\n)\n\nvar ctx = context.Background()\n\n\
             func connect() *cassandra.CassandraClient {{\n\
             \tsocket := thrift.NewTSocketConf(\"localhost:9160\", nil)\n\ttransport := {transport}\n\
             \tif err := transport.Open(); err != nil {{\n\t\tpanic(err)\n\t}}\n\
             \treturn cassandra.NewCassandraClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(nil))\n}}\n\n\
             func main() {{\n"
        )
    }

    fn connect(&self, client: &str) -> String {
        format!("\t{client} := connect()\n")
    }

    fn call(&self, client: &str, call: &TypedCall, is_last: bool) -> String {
        let arguments: String = call
            .arguments
            .iter()
            .map(|(field, argument)| {
                let text = match argument {
                    None => absent(&field.declared).to_owned(),
                    Some(argument) => term(argument),
                };
                format!(", {text}")
            })
            .collect();
        let text = format!("{client}.{}(ctx{arguments})", go_name(call.method.name));
        if is_last { format!("\tfmt.Println({text})\n") } else { format!("\t{text}\n") }
    }

    fn end(&self) -> String {
        "}\n".to_owned()
    }
}

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

fn term(value: &TypedTerm) -> String {
    match value {
        TypedTerm::Bool(value) => value.to_string(),
        TypedTerm::Integer { value, .. } => value.to_string(),
        TypedTerm::Double(value) => format!("{value:?}"),
        TypedTerm::Text(text) => literal(text.as_bytes()),
        TypedTerm::Binary(bytes) => format!("[]byte({})", literal(bytes)),
        TypedTerm::Enum { name, member } => format!("cassandra.{name}_{member}"),
        TypedTerm::Struct { name, fields } => {
            let fields = separated(fields, |(field, value)| {
                format!("{}: {}", go_name(field.name), field_value(field, value))
            });
            format!("&cassandra.{}{{{fields}}}", go_name(name))
        }
        TypedTerm::List(of, items) | TypedTerm::Set(of, items) => {
            format!("[]{}{{{}}}", type_name(of), separated(items, term))
        }
        TypedTerm::Map(key, of, pairs) => {
            let entries = separated(pairs, |(name, value)| {
                let name = match name {
                    TypedTerm::Binary(bytes) => literal(bytes),
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
fn field_value(field: &Field, value: &TypedTerm) -> String {
    let text = term(value);
    let is_pointer = matches!(
        value,
        TypedTerm::Binary(_)
            | TypedTerm::Struct { .. }
            | TypedTerm::List(..)
            | TypedTerm::Set(..)
            | TypedTerm::Map(..)
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
