//! The definitions of an interface.

use std::collections::BTreeMap;
use std::fmt;

use super::super::TType;
use base::compat::Line;
use base::compat::features::ApiGeneration;
use base::model::FieldRole;

/// The definitions of one release line, by name.
#[derive(Debug)]
pub struct Interface {
    /// The release line whose file in `idl/` has the definitions.
    pub line: Line,
    /// The version of the interface; `None` for 0.3 and 0.4, which have none.
    pub version: Option<&'static str>,
    /// Enums by their names.
    pub enums: BTreeMap<&'static str, &'static Enum>,
    /// Structs and exceptions.
    pub structs: BTreeMap<&'static str, &'static Struct>,
    /// Methods by their names.
    pub methods: BTreeMap<&'static str, Method>,
}

/// A type of the interface language. Enums and structs are defined before they are used, so a type has its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `byte`: a signed number of 8 bits.
    Byte,
    /// `i16`.
    I16,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
    /// `double`.
    Double,
    /// `string`. Old clients also send bytes that are not UTF-8.
    Text,
    /// `binary`. It has the same encoding as a string.
    Binary,
    /// An enum: its number as i32.
    Enum(&'static Enum),
    /// A struct or an exception.
    Struct(&'static Struct),
    /// `list<element>`.
    List(Box<Type>),
    /// `set<element>`, encoded as a list is.
    Set(Box<Type>),
    /// `map<key, value>`.
    Map(Box<Type>, Box<Type>),
}

impl Type {
    /// Returns the type on the wire.
    pub fn ttype(&self) -> TType {
        match self {
            Type::Bool => TType::Bool,
            Type::Byte => TType::Byte,
            Type::I16 => TType::I16,
            Type::I32 | Type::Enum(_) => TType::I32,
            Type::I64 => TType::I64,
            Type::Double => TType::Double,
            Type::Text | Type::Binary => TType::String,
            Type::Struct(_) => TType::Struct,
            Type::List(_) => TType::List,
            Type::Set(_) => TType::Set,
            Type::Map(..) => TType::Map,
        }
    }

    /// Returns the type of the elements of a list or set, or of the values of a map.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(of) | Type::Set(of) | Type::Map(_, of) => Some(of),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Byte => f.write_str("byte"),
            Type::I16 => f.write_str("i16"),
            Type::I32 => f.write_str("i32"),
            Type::I64 => f.write_str("i64"),
            Type::Double => f.write_str("double"),
            Type::Text => f.write_str("string"),
            Type::Binary => f.write_str("binary"),
            Type::Enum(definition) => f.write_str(definition.name),
            Type::Struct(definition) => f.write_str(definition.name),
            Type::List(of) => write!(f, "list<{of}>"),
            Type::Set(of) => write!(f, "set<{of}>"),
            Type::Map(key, of) => write!(f, "map<{key},{of}>"),
        }
    }
}

/// An enum, with its members and their numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Enum {
    /// The name in the interface file.
    pub name: &'static str,
    /// Names and numbers, in the order of the file.
    pub members: Vec<(&'static str, i32)>,
}

impl Enum {
    /// Returns the member with a number; `None` if the interface has none.
    pub fn member(&self, number: i32) -> Option<&'static str> {
        self.members.iter().find(|(_, of)| *of == number).map(|(name, _)| *name)
    }
}

/// A struct or an exception.
#[derive(Debug, PartialEq, Eq)]
pub struct Struct {
    /// The name in the interface file.
    pub name: &'static str,
    /// Whether the file declares it as `exception`.
    pub is_exception: bool,
    /// The fields in the order of the file.
    pub fields: Vec<Field>,
}

impl Struct {
    /// Returns the field with a number; `None` if the interface has none.
    pub fn field(&self, id: i16) -> Option<&Field> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// Returns whether a field is the name of a column family.
    pub fn names_family(&self) -> bool {
        self.fields.iter().any(|field| field.role == FieldRole::ColumnFamily)
    }
}

/// Whether a field must be present. Writers always write a field that is neither required nor optional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// `required`: readers refuse a struct without the field.
    Required,
    /// `optional`: writers leave the field out if it has no value.
    Optional,
    /// Neither of both.
    Default,
}

/// A field of a struct, an argument of a method, or an exception that it declares.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// The number on the wire.
    pub id: i16,
    /// The name in the interface file.
    pub name: &'static str,
    /// The type that the file declares.
    pub declared: Type,
    /// Whether the field must be present.
    pub requirement: Requirement,
    /// The value of an absent field: a number, a boolean, a text in quotes, or a member of an enum.
    pub default: Option<String>,
    /// The part of the data model that the value is, such as a row key.
    pub role: FieldRole,
}

/// A method of one release line.
#[derive(Debug)]
pub struct Method {
    /// The name of the method in messages.
    pub name: &'static str,
    /// The release line whose file declares the method.
    pub line: Line,
    /// The arguments in the order of the file.
    pub arguments: Vec<Field>,
    /// The declared exceptions: the numbers of their fields in a reply.
    pub throws: Vec<Field>,
    /// `None` for `void`.
    pub result: Option<Type>,
    /// The role of the result outside of structs.
    pub result_role: FieldRole,
}

impl Method {
    /// Returns the API generation of the method.
    pub fn generation(&self) -> ApiGeneration {
        ApiGeneration::of_line(self.line)
    }

    /// Returns whether a value of this type on the wire may be the argument with a number: it may, too, if the interface
    /// has none.
    pub fn accepts(&self, id: i16, ttype: TType) -> bool {
        self.argument(id).is_none_or(|argument| argument.declared.ttype() == ttype)
    }

    /// Returns the argument with a number; `None` if the interface has none.
    pub fn argument(&self, id: i16) -> Option<&Field> {
        self.arguments.iter().find(|argument| argument.id == id)
    }
}
