//! Types that CREATE TYPE defines.

use std::collections::BTreeMap;

use super::type_size::TypeSize;
use super::{CqlType, PACKAGE};
use crate::util::hex;

/// A user-defined type. All types with a field of it share it. So the memory of a chain of types, each of which has two
/// fields of the type before, is proportional to the statements that defined them, although the class name doubles with
/// each type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserType {
    /// The keyspace that the type is defined in.
    pub keyspace: String,
    /// The name in CREATE TYPE, without quotes.
    pub name: String,
    /// Names and types of the fields, in the order in which values have them.
    pub fields: Vec<(String, CqlType)>,
    /// The positions of the fields, by name.
    places: BTreeMap<String, usize>,
    size: TypeSize,
    has_durations: bool,
}

impl UserType {
    /// Returns the type with these fields, in this order.
    pub fn new(keyspace: &str, name: &str, fields: Vec<(String, CqlType)>) -> UserType {
        let mut made = UserType {
            keyspace: keyspace.to_owned(),
            name: name.to_owned(),
            size: TypeSize::default(),
            has_durations: fields.iter().any(|(_, field)| field.has_durations()),
            places: fields.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect(),
            fields,
        };
        made.size = TypeSize::of_user(&made);
        debug_assert!(
            !made.size.is_within_limits() || made.class_name().len() == made.size.text_bytes,
            "the class name of {name} would not fit where its size does"
        );
        made
    }

    /// Returns the size of the type's full text.
    pub fn size(&self) -> TypeSize {
        self.size
    }

    /// Returns the position of the field with a name.
    pub fn place_of(&self, field: &str) -> Option<usize> {
        self.places.get(field).copied()
    }

    /// Returns whether a field is or contains a duration. Durations have no order.
    pub fn has_durations(&self) -> bool {
        self.has_durations
    }

    /// Returns the full class name: the keyspace, the name in hex, and the fields, each with its name in hex and its
    /// type. For a type that exceeds the limits, which a version without limits has created, returns the class name
    /// without fields.
    pub fn class_name(&self) -> String {
        let mut class = self.class_beginning();
        if self.size.is_within_limits() {
            for (field, cql_type) in &self.fields {
                class.push_str(&format!(",{}:{}", hex(field.as_bytes()), cql_type.class_in(true)));
            }
        }
        class.push(')');
        class
    }

    /// Returns the class name without fields, which refers to the type in a stored schema.
    pub fn short_class_name(&self) -> String {
        format!("{})", self.class_beginning())
    }

    fn class_beginning(&self) -> String {
        format!("{PACKAGE}UserType({},{}", self.keyspace, hex(self.name.as_bytes()))
    }
}
