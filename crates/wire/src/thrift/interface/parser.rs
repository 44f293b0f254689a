//! Reads the part of the Thrift interface language that the files in `idl/` use.

use std::collections::BTreeMap;

use super::model::{Enum, Field, Interface, Method, Requirement, Struct, Type};
use base::compat::Line;
use base::model::FieldRole;

/// Returns the definitions of a file; `None` if it is not as the files in `idl/` are. They live as long as the program.
pub(super) fn parse(line: Line, text: &'static str) -> Option<Interface> {
    let interface = Interface {
        line,
        version: None,
        enums: BTreeMap::new(),
        structs: BTreeMap::new(),
        methods: BTreeMap::new(),
    };
    let mut parser = InterfaceParser { tokens: InterfaceTokens(text), interface };
    while let Some(keyword) = parser.tokens.next() {
        parser.definition(keyword)?;
    }
    Some(parser.interface)
}

struct InterfaceParser {
    tokens: InterfaceTokens,
    /// The definitions so far.
    interface: Interface,
}

impl InterfaceParser {
    fn definition(&mut self, keyword: &str) -> Option<()> {
        match keyword {
            "namespace" => {
                self.tokens.next()?;
                self.tokens.next()?;
            }
            "const" => {
                self.tokens.expect("string")?;
                self.tokens.expect("VERSION")?;
                self.tokens.expect("=")?;
                self.interface.version = Some(self.tokens.next()?.trim_matches('"'));
            }
            "enum" => {
                let name = self.tokens.next()?;
                let members = self.members()?;
                self.interface.enums.insert(name, Box::leak(Box::new(Enum { name, members })));
            }
            "struct" | "exception" => {
                let name = self.tokens.next()?;
                let fields = self.fields(name, "{", "}")?;
                let definition = Struct { name, is_exception: keyword == "exception", fields };
                self.interface.structs.insert(name, Box::leak(Box::new(definition)));
            }
            "service" => {
                self.tokens.expect("Cassandra")?;
                self.tokens.expect("{")?;
                while !self.tokens.accept("}") {
                    let method = self.method()?;
                    self.interface.methods.insert(method.name, method);
                    self.tokens.accept(",");
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn method(&mut self) -> Option<Method> {
        let result = if self.tokens.accept("void") { None } else { Some(self.type_of()?) };
        let name = self.tokens.next()?;
        let arguments = self.fields("", "(", ")")?;
        let throws = if self.tokens.accept("throws") { self.fields("", "(", ")")? } else { Vec::new() };
        let result_role = FieldRole::of_result(name).unwrap_or(FieldRole::Structure);
        Some(Method { name, line: self.interface.line, arguments, throws, result, result_role })
    }

    fn members(&mut self) -> Option<Vec<(&'static str, i32)>> {
        let mut members = Vec::new();
        self.tokens.expect("{")?;
        while !self.tokens.accept("}") {
            let name = self.tokens.next()?;
            self.tokens.expect("=")?;
            members.push((name, self.tokens.literal()?.parse().ok()?));
            self.tokens.accept(",");
        }
        Some(members)
    }

    /// Reads fields, `1: required type name = default, ...`, between two brackets. `of` is the name of their struct.
    fn fields(&mut self, of: &str, open: &str, close: &str) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        self.tokens.expect(open)?;
        while !self.tokens.accept(close) {
            let id = self.tokens.literal()?.parse().ok()?;
            self.tokens.expect(":")?;
            let requirement = if self.tokens.accept("required") {
                Requirement::Required
            } else if self.tokens.accept("optional") {
                Requirement::Optional
            } else {
                Requirement::Default
            };
            let declared = self.type_of()?;
            let name = self.tokens.next()?;
            let default = if self.tokens.accept("=") { Some(self.tokens.literal()?) } else { None };
            // Fields without a role are hidden.
            let role = FieldRole::of_field(of, name).unwrap_or(FieldRole::Data);
            fields.push(Field { id, name, declared, requirement, default, role });
            self.tokens.accept(",");
        }
        Some(fields)
    }

    fn type_of(&mut self) -> Option<Type> {
        Some(match self.tokens.next()? {
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "i16" => Type::I16,
            "i32" => Type::I32,
            "i64" => Type::I64,
            "double" => Type::Double,
            "string" => Type::Text,
            "binary" => Type::Binary,
            "list" => Type::List(self.parameter("<", ">")?),
            "set" => Type::Set(self.parameter("<", ">")?),
            "map" => Type::Map(self.parameter("<", ",")?, self.parameter("", ">")?),
            name => match self.interface.enums.get(name) {
                Some(definition) => Type::Enum(definition),
                None => Type::Struct(self.interface.structs.get(name)?),
            },
        })
    }

    /// Reads a parameter of a type, with the signs before and after it.
    fn parameter(&mut self, before: &str, after: &str) -> Option<Box<Type>> {
        if !before.is_empty() {
            self.tokens.expect(before)?;
        }
        let parameter = self.type_of()?;
        self.tokens.expect(after)?;
        Some(Box::new(parameter))
    }
}

/// The rest of a file: words, quoted strings and signs, without comments and white space.
struct InterfaceTokens(&'static str);

impl InterfaceTokens {
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

    /// Reads a number with its sign, a boolean, a quoted text, or a member of an enum.
    fn literal(&mut self) -> Option<String> {
        let sign = if self.accept("-") { "-" } else { "" };
        Some(sign.to_owned() + self.next()?)
    }
}
