//! Types that are made with CREATE TYPE.

use std::collections::BTreeMap;

use super::type_size::TypeSize;
use super::{CqlType, PACKAGE};

/// A type that was made with CREATE TYPE. Whatever is made of it shares it: a chain of types each of which has the one
/// before twice is as long in memory as it was written, although its class name doubles with each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserType {
    /// The keyspace that the type is defined in.
    pub keyspace: String,
    /// The name in CREATE TYPE, without quotes.
    pub name: String,
    /// Names and types, in the order in which values have them.
    pub fields: Vec<(String, CqlType)>,
    /// The places of the fields, by their names.
    places: BTreeMap<String, usize>,
    size: TypeSize,
    has_durations: bool,
}

impl UserType {
    /// Returns the type of values with these fields, in this order.
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

    /// Whether there are durations in it, which have no order.
    pub fn has_durations(&self) -> bool {
        self.has_durations
    }

    /// The full class name: keyspace, then in hex the name and the fields' names, with their types. What is too large for
    /// that, since a version without limits has made it, is called by its keyspace and name alone.
    pub fn class_name(&self) -> String {
        let mut class = self.class_beginning();
        if self.size.is_within_limits() {
            for (field, cql_type) in &self.fields {
                class.push_str(&format!(",{}:{}", hex(field), cql_type.class_in(true)));
            }
        }
        class.push(')');
        class
    }

    /// The class name without fields, which names the type of its keyspace in a stored schema.
    pub fn short_class_name(&self) -> String {
        format!("{})", self.class_beginning())
    }

    fn class_beginning(&self) -> String {
        format!("{PACKAGE}UserType({},{}", self.keyspace, hex(&self.name))
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
