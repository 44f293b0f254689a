//! The meaning of a value of a message.

use super::model::{Field, Method, Struct, Type};
use base::model::FieldRole;

/// The declared type of a value, and its role.
#[derive(Debug, Clone, Copy)]
pub struct Meaning {
    /// `None` if the interface has no such value.
    pub declared: Option<&'static Type>,
    /// The role of the value. It decides what recordings and reports show of the value.
    pub role: FieldRole,
}

impl Meaning {
    /// A value that no interface has.
    pub const UNKNOWN: Meaning = Meaning { declared: None, role: FieldRole::Data };

    /// Returns the meaning of a field or argument.
    pub fn of_field(field: &'static Field) -> Meaning {
        Meaning { declared: Some(&field.declared), role: field.role }
    }

    /// Returns the meaning of a method's result.
    pub fn of_result(method: &'static Method) -> Meaning {
        Meaning { declared: method.result.as_ref(), role: method.result_role }
    }

    /// Returns the struct that the value is.
    pub fn as_struct(self) -> Option<&'static Struct> {
        match self.declared? {
            Type::Struct(definition) => Some(definition),
            _ => None,
        }
    }

    /// Returns the field of the struct with a number; `None` if the interface has none.
    pub fn field(self, id: i16) -> Option<&'static Field> {
        self.as_struct()?.field(id)
    }

    /// Returns the member of the enum with a number; `None` if the value is not an enum, or a number that it lacks.
    pub fn member(self, number: i32) -> Option<&'static str> {
        match self.declared? {
            Type::Enum(of) => of.member(number),
            _ => None,
        }
    }

    /// Returns the meaning of the elements of a list or set.
    #[must_use]
    pub fn element(self) -> Meaning {
        match self.declared {
            Some(Type::List(of) | Type::Set(of)) => Meaning { declared: Some(of), role: self.role },
            _ => Meaning::UNKNOWN,
        }
    }

    /// Returns the meaning of the keys of a map.
    #[must_use]
    pub fn key(self) -> Meaning {
        match self.declared {
            Some(Type::Map(key, _)) => Meaning { declared: Some(key), role: self.role.of_keys() },
            _ => Meaning::UNKNOWN,
        }
    }

    /// Returns the meaning of the values of a map.
    #[must_use]
    pub fn map_value(self) -> Meaning {
        match self.declared {
            Some(Type::Map(_, of)) => Meaning { declared: Some(of), role: self.role.of_map_values() },
            _ => Meaning::UNKNOWN,
        }
    }
}
