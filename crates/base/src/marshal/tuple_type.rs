//! Values of several fields: tuples and user-defined types.

use std::cmp::Ordering;

use super::composite_type::split_components;
use super::parts::{self, Part, Restored, part_text};
use super::views::{self, Inner};
use super::{AbstractType, MarshalError, PACKAGE, StoredOrder, TypeRef};
use crate::util::{Release, hex};

/// `TupleType(A,B,...)` and `UserType(keyspace,hexname,hexfield:A,...)`: compared field by field. The last fields of a
/// value may be missing.
#[derive(Debug)]
pub struct TupleType {
    class_name: String,
    /// The name of the type in error messages: `tuple` or `UDT`.
    called: &'static str,
    fields: Vec<Inner>,
    views: Vec<TupleType>,
}

impl TupleType {
    /// Returns the type of values with these fields, in this order.
    pub fn new(fields: &[TypeRef]) -> TupleType {
        let names: Vec<&str> = fields.iter().map(|field| field.class_name()).collect();
        TupleType::named(format!("{PACKAGE}TupleType({})", names.join(",")), "tuple", fields)
    }

    /// Returns the type of values of a user-defined type.
    pub fn user(keyspace: &str, name: &str, fields: &[(String, TypeRef)]) -> TupleType {
        let mut class = format!("{PACKAGE}UserType({keyspace},{}", hex(name.as_bytes()));
        for (field, of) in fields {
            class.push_str(&format!(",{}:{}", hex(field.as_bytes()), of.class_name()));
        }
        class.push(')');
        let fields: Vec<TypeRef> = fields.iter().map(|(_, of)| of.clone()).collect();
        TupleType::named(class, "UDT", &fields)
    }

    fn named(class_name: String, called: &'static str, fields: &[TypeRef]) -> TupleType {
        let fields: Vec<Inner> = fields.iter().cloned().map(Inner::new).collect();
        let views = views::each(|release| TupleType {
            class_name: class_name.clone(),
            called,
            fields: fields.iter().map(|field| field.at(release)).collect(),
            views: Vec::new(),
        });
        TupleType { class_name, called, fields, views }
    }

    fn parts<'a>(&self, value: &'a [u8]) -> Option<Vec<Part<'a>>> {
        parts::of_tuple(value, self.fields.len())
    }
}

impl AbstractType for TupleType {
    fn class_name(&self) -> &str {
        &self.class_name
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        let mut rest = value;
        for (at, field) in self.fields.iter().enumerate() {
            if rest.is_empty() {
                return Ok(());
            }
            if rest.len() < 4 {
                return Err(MarshalError(format!("Not enough bytes to read size of {at}th component")));
            }
            match parts::take_part(&mut rest) {
                Some(Some(part)) => field.view().validate(part)?,
                Some(None) => {}
                None => return Err(MarshalError(format!("Not enough bytes to read {at}th component"))),
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        Err(MarshalError(format!("Invalid remaining data after end of {} value", self.called)))
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        parts::compare(left, self.parts(left), right, self.parts(right), |at| self.fields.get(at))
    }

    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        parts::ordered(name, self.parts(name), |at| self.fields.get(at), out);
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        let found = match parts::restore(ordered, |at| self.fields.get(at))? {
            Restored::Whole(value) => return Some(value),
            Restored::Parts(found) => found,
        };
        let mut value = Vec::new();
        found.iter().for_each(|part| parts::push_part(part.as_deref(), &mut value));
        Some(value)
    }

    fn stored_order(&self) -> StoredOrder {
        views::stored_order(&self.fields)
    }

    fn at_release(&self, release: Release) -> Option<&dyn AbstractType> {
        self.views.get(release as usize).map(|view| view as &dyn AbstractType)
    }

    /// Separates fields with colons and writes `@` for null. A colon or `@` inside a field is preceded by a backslash.
    fn to_text(&self, value: &[u8]) -> String {
        let Some(found) = self.parts(value) else { return super::BytesType.to_text(value) };
        let mut texts = Vec::with_capacity(found.len());
        for (at, part) in found.into_iter().enumerate() {
            texts.push(match part {
                Some(part) => part_text(part, self.fields.get(at)).replace(':', "\\:").replace('@', "\\@"),
                None => "@".to_owned(),
            });
        }
        texts.join(":")
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        let mut value = Vec::new();
        if text.is_empty() {
            return Ok(value);
        }
        let fields = split_components(text);
        if fields.len() > self.fields.len() {
            return Err(MarshalError(format!(
                "Invalid tuple literal: too many elements. Type {} expects {} but got {}",
                self.class_name,
                self.fields.len(),
                fields.len()
            )));
        }
        for (text, field) in fields.iter().zip(&self.fields) {
            if text == "@" {
                parts::push_part(None, &mut value);
            } else {
                let part = field.view().parse_text(&text.replace("\\@", "@"))?;
                parts::push_part(Some(&part), &mut value);
            }
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Types;

    fn tuple() -> TypeRef {
        Types::builtin().resolve("TupleType(Int32Type,UTF8Type)").unwrap()
    }

    fn value(fields: &[Option<&[u8]>]) -> Vec<u8> {
        let mut value = Vec::new();
        fields.iter().for_each(|field| parts::push_part(*field, &mut value));
        value
    }

    #[test]
    fn a_missing_field_sorts_before_null_and_null_before_values() {
        let (minus, one) = ((-1i32).to_be_bytes(), 1i32.to_be_bytes());
        let sorted = [
            Vec::new(),
            value(&[None]),
            value(&[Some(&minus)]),
            value(&[Some(&one)]),
            value(&[Some(&one), None]),
            value(&[Some(&one), Some(b"")]),
            value(&[Some(&one), Some(b"a")]),
        ];
        assert!(sorted.is_sorted_by(|a, b| tuple().compare(a, b).is_lt()));
        assert_eq!(tuple().stored_order(), StoredOrder::Exact);
    }

    #[test]
    fn invalid_values_are_refused_in_cassandras_words() {
        let message = |bytes: &[u8]| tuple().validate(bytes).unwrap_err().0;
        assert_eq!(message(b"\0"), "Not enough bytes to read size of 0th component");
        assert_eq!(message(b"\0\0\0\x04a"), "Not enough bytes to read 0th component");
        assert_eq!(message(&value(&[None, None, None])), "Invalid remaining data after end of tuple value");
        assert_eq!(message(&value(&[Some(b"x")])), "Expected 4 or 0 byte int (1)");
    }

    #[test]
    fn text_separates_fields_with_colons_and_writes_null_as_at_sign() {
        let bytes = value(&[None, Some(b"a:b@c")]);
        assert_eq!(tuple().to_text(&bytes), "@:a\\:b\\@c");
        assert_eq!(tuple().parse_text("@:a\\:b\\@c"), Ok(bytes));
    }
}
