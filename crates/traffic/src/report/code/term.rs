//! Arguments with the names and types of their interface, as all languages print them.

use bytes::Bytes;

use super::interface::{Field, Interface, Type};
use crate::traffic::{Fields, Value};

/// A value of a declared type.
#[derive(Debug)]
pub enum Term {
    Bool(bool),
    Byte(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    Double(f64),
    Text(String),
    Binary(Bytes),
    Enum { name: &'static str, member: &'static str },
    Struct { name: &'static str, fields: Vec<(&'static Field, Term)> },
    List(&'static Type, Vec<Term>),
    Set(&'static Type, Vec<Term>),
    Map(&'static Type, &'static Type, Vec<(Term, Term)>),
}

/// A call with its declared arguments.
#[derive(Debug)]
pub struct TypedCall {
    pub interface: &'static Interface,
    pub connection: u64,
    pub method: String,
    /// All arguments in the order of the interface; `None` for those that the message lacks.
    pub arguments: Vec<(&'static Field, Option<Term>)>,
}

impl TypedCall {
    /// Returns a call with its types; `None` if no interface has it.
    pub fn new(connection: u64, method: String, arguments: &Fields) -> Option<TypedCall> {
        let interface = Interface::of_call(&method, arguments)?;
        let declared = interface.methods.get(method.as_str())?;
        let typed = declared.iter().map(|field| match arguments.get(&field.id) {
            None => Some((field, None)),
            Some(value) => Some((field, Some(term(interface, &field.declared, value)?))),
        });
        let arguments = typed.collect::<Option<Vec<_>>>()?;
        Some(TypedCall { interface, connection, method, arguments })
    }
}

fn term(interface: &'static Interface, declared: &'static Type, value: &Value) -> Option<Term> {
    let all = |declared: &'static Type, items: &[Value]| {
        items.iter().map(|item| term(interface, declared, item)).collect::<Option<Vec<_>>>()
    };
    Some(match (declared, value) {
        (Type::Bool, Value::Bool(value)) => Term::Bool(*value),
        (Type::Byte, Value::Byte(value)) => Term::Byte(*value),
        (Type::I16, Value::I16(value)) => Term::I16(*value),
        (Type::I32, Value::I32(value)) => Term::I32(*value),
        (Type::I64, Value::I64(value)) => Term::I64(*value),
        (Type::Double, Value::Double(value)) => Term::Double(*value),
        (Type::Text, Value::Binary(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Term::Text(text.to_owned()),
            // Old clients and servers allow any bytes in a string.
            Err(_) => Term::Binary(bytes.clone()),
        },
        (Type::Binary, Value::Binary(bytes)) => Term::Binary(bytes.clone()),
        (Type::Named(name), Value::I32(number)) => {
            match interface.enums.get(name)?.get(number) {
                Some(member) => Term::Enum { name, member },
                // A number that the interface does not have.
                None => Term::I32(*number),
            }
        }
        (Type::Named(name), Value::Struct(fields)) => {
            let declared = interface.structs.get(name)?;
            let typed = fields.iter().map(|(id, value)| {
                let field = declared.iter().find(|field| field.id == *id)?;
                Some((field, term(interface, &field.declared, value)?))
            });
            Term::Struct { name, fields: typed.collect::<Option<Vec<_>>>()? }
        }
        (Type::List(of), Value::List(_, items)) => Term::List(of, all(of, items)?),
        (Type::Set(of), Value::Set(_, items)) => Term::Set(of, all(of, items)?),
        (Type::Map(key, of), Value::Map(_, _, pairs)) => {
            let typed = pairs
                .iter()
                .map(|(name, value)| Some((term(interface, key, name)?, term(interface, of, value)?)));
            Term::Map(key, of, typed.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}
