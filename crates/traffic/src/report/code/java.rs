//! Java: the client that the Thrift compiler generates.

use super::language::{CodeLanguage, capital, separated, utf16_literal};
use super::term::{TypedCall, TypedTerm};
use crate::plain_text;
use base::util::hex;
use wire::thrift::interface::Type;

pub(super) struct Java;

impl CodeLanguage for Java {
    fn name(&self) -> &'static str {
        "Java (generated Thrift client)"
    }

    fn begin(&self, is_framed: bool) -> String {
        let (import, transport) = match is_framed {
            true => (
                "// Since Thrift 0.14: org.apache.thrift.transport.layered.TFramedTransport.\n\
                 import org.apache.thrift.transport.TFramedTransport;\n",
                "new TFramedTransport(socket)",
            ),
            false => ("", "socket"),
        };
        format!(
            "import java.nio.ByteBuffer;\nimport java.nio.charset.StandardCharsets;\nimport java.util.*;\n\
             import org.apache.cassandra.thrift.*;\nimport org.apache.thrift.protocol.TBinaryProtocol;\n\
             {import}import org.apache.thrift.transport.TSocket;\nimport org.apache.thrift.transport.TTransport;\n\n\
             public class Reproduction {{\n    static Cassandra.Client connect() throws Exception {{\n        \
             TSocket socket = new TSocket(\"localhost\", 9160);\n        TTransport transport = {transport};\n        \
             transport.open();\n        return new Cassandra.Client(new TBinaryProtocol(transport));\n    }}\n\n    \
             static ByteBuffer text(String text) {{\n        \
             return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));\n    }}\n\n    \
             static ByteBuffer hex(String digits) {{\n        \
             byte[] bytes = new byte[digits.length() / 2];\n        \
             for (int i = 0; i < bytes.length; i++) {{\n            \
             bytes[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);\n        }}\n        \
             return ByteBuffer.wrap(bytes);\n    }}\n\n    \
             public static void main(String[] arguments) throws Exception {{\n"
        )
    }

    fn connect(&self, client: &str) -> String {
        format!("        Cassandra.Client {client} = connect();\n")
    }

    fn call(&self, client: &str, call: &TypedCall, _is_last: bool) -> String {
        let arguments = separated(&call.arguments, |(field, argument)| match argument {
            None => absent(&field.declared).to_owned(),
            Some(argument) => term(argument),
        });
        // Methods without a result cannot be printed, so no call is.
        format!("        {client}.{}({arguments});\n", call.method.name)
    }

    fn end(&self) -> String {
        "    }\n}\n".to_owned()
    }
}

/// Returns the value of an argument that the message lacks.
fn absent(declared: &Type) -> &'static str {
    match declared {
        Type::Bool => "false",
        Type::Byte | Type::I16 => "(byte) 0",
        Type::I32 | Type::I64 | Type::Double => "0",
        _ => "null",
    }
}

fn term(value: &TypedTerm) -> String {
    match value {
        TypedTerm::Bool(value) => value.to_string(),
        TypedTerm::Integer { bits: 8, value } => format!("(byte) {value}"),
        TypedTerm::Integer { bits: 16, value } => format!("(short) {value}"),
        TypedTerm::Integer { bits: 64, value } => format!("{value}L"),
        TypedTerm::Integer { value, .. } => value.to_string(),
        TypedTerm::Double(value) if value.is_finite() => format!("{value:?}"),
        TypedTerm::Double(value) => {
            format!("Double.parseDouble(\"{}\")", if value.is_nan() { "NaN" } else { sign(*value) })
        }
        TypedTerm::Text(text) => utf16_literal(text),
        TypedTerm::Binary(bytes) => match plain_text(bytes) {
            Some(text) => format!("text({})", utf16_literal(text)),
            None => format!("hex(\"{}\")", hex(bytes)),
        },
        TypedTerm::Enum { name, member } => format!("{name}.{member}"),
        TypedTerm::Struct { name, fields } => {
            let setters: String = fields
                .iter()
                .map(|(field, value)| format!(".set{}({})", capital(field.name), term(value)))
                .collect();
            format!("new {name}(){setters}")
        }
        TypedTerm::List(_, items) => format!("Arrays.asList({})", separated(items, term)),
        TypedTerm::Set(_, items) => format!("new HashSet<>(Arrays.asList({}))", separated(items, term)),
        TypedTerm::Map(_, _, pairs) => {
            let entries =
                separated(pairs, |(key, value)| format!("Map.entry({}, {})", term(key), term(value)));
            format!("Map.ofEntries({entries})")
        }
    }
}

fn sign(value: f64) -> &'static str {
    if value > 0.0 { "Infinity" } else { "-Infinity" }
}
