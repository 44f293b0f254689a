//! The interfaces of Thrift servers, read from the files in `idl/`: names and types of arguments, which messages lack.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::thrift::wire::TType;
use crate::traffic::Fields;

/// The files, the newest first, with whether clients of these releases frame their messages. Between them they have each
/// shape of each method.
const FILES: [(&str, bool); 7] = [
    (include_str!("../../../../idl/cassandra-2.2.thrift"), true),
    (include_str!("../../../../idl/cassandra-1.0.thrift"), true),
    (include_str!("../../../../idl/cassandra-0.7.thrift"), true),
    (include_str!("../../../../idl/cassandra-0.6.thrift"), false),
    (include_str!("../../../../idl/cassandra-0.5.thrift"), false),
    (include_str!("../../../../idl/cassandra-0.4.thrift"), false),
    (include_str!("../../../../idl/cassandra-0.3.thrift"), false),
];

/// The definitions of one file.
#[derive(Debug)]
pub struct Interface {
    /// Members by their numbers.
    pub enums: HashMap<&'static str, HashMap<i32, &'static str>>,
    pub structs: HashMap<&'static str, Vec<Field>>,
    pub methods: HashMap<&'static str, Vec<Field>>,
    pub is_framed: bool,
}

/// A field of a struct, or an argument of a method.
#[derive(Debug)]
pub struct Field {
    pub id: i16,
    pub name: &'static str,
    pub declared: Type,
    pub is_optional: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Text,
    Binary,
    /// A struct or an enum.
    Named(&'static str),
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
}

impl Interface {
    /// Returns the newest interface that has a method with these arguments.
    pub fn of_call(method: &str, arguments: &Fields) -> Option<&'static Interface> {
        static ALL: OnceLock<Vec<Interface>> = OnceLock::new();
        let all =
            ALL.get_or_init(|| FILES.into_iter().filter_map(|(text, framed)| parse(text, framed)).collect());
        all.iter().find(|interface| {
            let Some(declared) = interface.methods.get(method) else { return false };
            arguments.iter().all(|(id, value)| {
                let found = declared.iter().find(|field| field.id == *id);
                found.is_some_and(|field| interface.wire_type(&field.declared) == value.ttype())
            })
        })
    }

    pub fn wire_type(&self, declared: &Type) -> TType {
        match declared {
            Type::Bool => TType::Bool,
            Type::Byte => TType::Byte,
            Type::I16 => TType::I16,
            Type::I32 => TType::I32,
            Type::I64 => TType::I64,
            Type::Double => TType::Double,
            Type::Text | Type::Binary => TType::String,
            Type::Named(name) if self.enums.contains_key(name) => TType::I32,
            Type::Named(_) => TType::Struct,
            Type::List(_) => TType::List,
            Type::Set(_) => TType::Set,
            Type::Map(..) => TType::Map,
        }
    }
}

/// Returns the definitions of a file; `None` if it is not as the files in `idl/` are.
fn parse(text: &'static str, is_framed: bool) -> Option<Interface> {
    let mut tokens = Tokens(text);
    let mut interface =
        Interface { enums: HashMap::new(), structs: HashMap::new(), methods: HashMap::new(), is_framed };
    while let Some(keyword) = tokens.next() {
        match keyword {
            "namespace" => {
                tokens.next()?;
                tokens.next()?;
            }
            // `const string VERSION = "..."`
            "const" => (0..4).try_for_each(|_| tokens.next().map(drop))?,
            "enum" => {
                let name = tokens.next()?;
                interface.enums.insert(name, members(&mut tokens)?);
            }
            "struct" | "exception" => {
                let name = tokens.next()?;
                interface.structs.insert(name, fields(&mut tokens, "{", "}")?);
            }
            "service" => {
                tokens.next()?;
                tokens.expect("{")?;
                while !tokens.accept("}") {
                    type_of(&mut tokens)?;
                    let name = tokens.next()?;
                    interface.methods.insert(name, fields(&mut tokens, "(", ")")?);
                    if tokens.accept("throws") {
                        fields(&mut tokens, "(", ")")?;
                    }
                    tokens.accept(",");
                }
            }
            _ => return None,
        }
    }
    Some(interface)
}

fn members(tokens: &mut Tokens) -> Option<HashMap<i32, &'static str>> {
    let mut members = HashMap::new();
    tokens.expect("{")?;
    while !tokens.accept("}") {
        let name = tokens.next()?;
        tokens.expect("=")?;
        members.insert(i32::from(tokens.number()?), name);
        tokens.accept(",");
    }
    Some(members)
}

/// Reads fields, `1: required type name = default, ...`, between two brackets.
fn fields(tokens: &mut Tokens, open: &str, close: &str) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    tokens.expect(open)?;
    while !tokens.accept(close) {
        let id = tokens.number()?;
        tokens.expect(":")?;
        let is_optional = tokens.accept("optional");
        tokens.accept("required");
        let declared = type_of(tokens)?;
        let name = tokens.next()?;
        if tokens.accept("=") {
            tokens.accept("-");
            tokens.next()?;
        }
        fields.push(Field { id, name, declared, is_optional });
        tokens.accept(",");
    }
    Some(fields)
}

fn type_of(tokens: &mut Tokens) -> Option<Type> {
    let name = tokens.next()?;
    if !tokens.accept("<") {
        return Some(match name {
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "i16" => Type::I16,
            "i32" => Type::I32,
            "i64" => Type::I64,
            "double" => Type::Double,
            "string" => Type::Text,
            "binary" => Type::Binary,
            name => Type::Named(name),
        });
    }
    let first = Box::new(type_of(tokens)?);
    let found = match name {
        "list" => Type::List(first),
        "set" => Type::Set(first),
        "map" => {
            tokens.expect(",")?;
            Type::Map(first, Box::new(type_of(tokens)?))
        }
        _ => return None,
    };
    tokens.expect(">")?;
    Some(found)
}

/// The rest of a file: words, quoted strings and signs, without comments and white space.
struct Tokens(&'static str);

impl Tokens {
    fn next(&mut self) -> Option<&'static str> {
        loop {
            self.0 = self.0.trim_start();
            let length = match self.0 {
                "" => return None,
                text if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
                text if text.starts_with("/*") => text.find("*/")? + 2,
                text if text.starts_with('"') => text.get(1..)?.find('"')? + 2,
                text => {
                    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
                    let sign = text.chars().next()?.len_utf8();
                    end.unwrap_or(text.len()).max(sign)
                }
            };
            let (token, rest) = self.0.split_at(length);
            self.0 = rest;
            if !token.starts_with('/') {
                return Some(token);
            }
        }
    }

    fn accept(&mut self, wanted: &str) -> bool {
        let before = self.0;
        let found = self.next() == Some(wanted);
        if !found {
            self.0 = before;
        }
        found
    }

    fn expect(&mut self, wanted: &str) -> Option<()> {
        self.accept(wanted).then_some(())
    }

    fn number(&mut self) -> Option<i16> {
        let sign = if self.accept("-") { -1 } else { 1 };
        self.next()?.parse::<i16>().ok().map(|number| sign * number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::methods::METHODS;
    use crate::traffic::Value;

    #[test]
    fn each_file_is_read_to_its_end() {
        for (text, framed) in FILES {
            let interface = parse(text, framed).expect("a file in idl/ is not as others are");
            assert!(interface.methods.contains_key("insert") && interface.methods.contains_key("get_slice"));
        }
    }

    #[test]
    fn each_method_of_the_server_is_found_by_its_arguments() {
        let empty = |ttype| match ttype {
            TType::Bool => Value::Bool(false),
            TType::Byte => Value::Byte(0),
            TType::Double => Value::Double(0.0),
            TType::I16 => Value::I16(0),
            TType::I32 => Value::I32(0),
            TType::I64 => Value::I64(0),
            TType::Struct => Value::Struct(Fields::new()),
            TType::List => Value::List(TType::Stop, vec![]),
            TType::Set => Value::Set(TType::Stop, vec![]),
            TType::Map => Value::Map(TType::Stop, TType::Stop, vec![]),
            _ => Value::Binary(bytes::Bytes::new()),
        };
        for method in METHODS.iter() {
            let arguments: Fields = method.args.iter().map(|arg| (arg.id, empty(arg.ttype))).collect();
            assert!(Interface::of_call(method.name, &arguments).is_some(), "{} {arguments:?}", method.name);
        }
    }
}
