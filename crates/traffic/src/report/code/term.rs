//! Arguments with the names and types of their interface, as all languages print them.

use bytes::Bytes;

use crate::{Fields, Value};
use base::compat::features::ApiGeneration;
use wire::thrift::interface::{Field, Method, Type, declarations};

/// A value of a declared type.
#[derive(Debug)]
pub(super) enum CodeTerm {
    Bool(bool),
    /// An integer of 8, 16, 32 or 64 bits.
    Integer {
        bits: u8,
        value: i64,
    },
    Double(f64),
    Text(String),
    Binary(Bytes),
    Enum {
        name: &'static str,
        member: &'static str,
    },
    Struct {
        name: &'static str,
        fields: Vec<(&'static Field, CodeTerm)>,
    },
    List(&'static Type, Vec<CodeTerm>),
    Set(&'static Type, Vec<CodeTerm>),
    Map(&'static Type, &'static Type, Vec<(CodeTerm, CodeTerm)>),
}

/// A call with its declared arguments.
#[derive(Debug)]
pub(super) struct TypedCall {
    pub connection: u64,
    pub method: &'static Method,
    /// All arguments in the order of the interface; `None` for those that the message lacks.
    pub arguments: Vec<(&'static Field, Option<CodeTerm>)>,
}

impl TypedCall {
    /// Returns a call with the types of the newest interface that has a method with these arguments; `None` if none has.
    pub(super) fn new(connection: u64, name: &[u8], arguments: &Fields) -> Option<TypedCall> {
        let method = declarations(name).iter().rfind(|method| {
            arguments.iter().all(|(id, value)| {
                method.argument(*id).is_some_and(|argument| argument.declared.ttype() == value.ttype())
            })
        })?;
        let typed = method.arguments.iter().map(|field| match arguments.get(&field.id) {
            None => Some((field, None)),
            Some(value) => Some((field, Some(term(&field.declared, value)?))),
        });
        let arguments = typed.collect::<Option<Vec<_>>>()?;
        Some(TypedCall { connection, method, arguments })
    }

    /// Returns whether clients of the method's releases frame their messages.
    pub(super) fn is_framed(&self) -> bool {
        self.method.generation() == ApiGeneration::AfterSetKeyspace
    }
}

fn term(declared: &'static Type, value: &Value) -> Option<CodeTerm> {
    let all = |declared: &'static Type, items: &[Value]| {
        items.iter().map(|item| term(declared, item)).collect::<Option<Vec<_>>>()
    };
    Some(match (declared, value) {
        (Type::Bool, Value::Bool(value)) => CodeTerm::Bool(*value),
        (Type::Byte, Value::Byte(value)) => CodeTerm::Integer { bits: 8, value: (*value).into() },
        (Type::I16, Value::I16(value)) => CodeTerm::Integer { bits: 16, value: (*value).into() },
        (Type::I32, Value::I32(value)) => CodeTerm::Integer { bits: 32, value: (*value).into() },
        (Type::I64, Value::I64(value)) => CodeTerm::Integer { bits: 64, value: *value },
        (Type::Double, Value::Double(value)) => CodeTerm::Double(*value),
        (Type::Text, Value::Binary(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => CodeTerm::Text(text.to_owned()),
            // Old clients and servers allow any bytes in a string.
            Err(_) => CodeTerm::Binary(bytes.clone()),
        },
        (Type::Binary, Value::Binary(bytes)) => CodeTerm::Binary(bytes.clone()),
        (Type::Enum(of), Value::I32(number)) => match of.member(*number) {
            Some(member) => CodeTerm::Enum { name: of.name, member },
            // A number that the interface does not have.
            None => CodeTerm::Integer { bits: 32, value: (*number).into() },
        },
        (Type::Struct(of), Value::Struct(fields)) => {
            let typed = fields.iter().map(|(id, value)| {
                let field = of.field(*id)?;
                Some((field, term(&field.declared, value)?))
            });
            CodeTerm::Struct { name: of.name, fields: typed.collect::<Option<Vec<_>>>()? }
        }
        (Type::List(of), Value::List(_, items)) => CodeTerm::List(of, all(of, items)?),
        (Type::Set(of), Value::Set(_, items)) => CodeTerm::Set(of, all(of, items)?),
        (Type::Map(key, of), Value::Map(_, _, pairs)) => {
            let typed = pairs.iter().map(|(name, value)| Some((term(key, name)?, term(of, value)?)));
            CodeTerm::Map(key, of, typed.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}
