//! Literals of collections, tuples and user-defined types.

use std::collections::HashMap;

use bytes::Bytes;

use super::typed_term::{Node, TypedTerm, part_of, refused};
use super::{Markers, TypeScope, assign};
use crate::error::invalid;
use crate::{ColumnSpec, Result};
use base::marshal::{CqlType, push_part, pushed_parts};
use cql_syntax::Term;

/// Returns the specification of a list's or set's elements, or of a map's values.
fn value_of(receiver: &ColumnSpec, cql_type: &CqlType) -> ColumnSpec {
    part_of(receiver, format!("value({})", receiver.name), cql_type)
}

/// Types an element of a collection literal. `what` is "value" or "key".
fn held_term(
    literal: &str,
    what: &str,
    term: &Term,
    receiver: &ColumnSpec,
    part: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<TypedTerm> {
    if !assign::fits(term, &part.cql_type, scope, part) {
        return invalid(format!(
            "Invalid {literal} literal for {}: {what} {} is not of type {}",
            receiver.name,
            super::term_text(term),
            scope.text(&part.cql_type)
        ));
    }
    let typed = TypedTerm::new(term, part, scope, markers)?;
    if typed.has_markers() {
        return invalid(format!(
            "Invalid {literal} literal for {}: bind variables are not supported inside collection literals",
            receiver.name
        ));
    }
    if typed.is_null() {
        return invalid("null is not supported inside collections");
    }
    Ok(typed)
}

pub(super) fn list_node(
    elements: &[Term],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    let CqlType::List { element, .. } = &receiver.cql_type else {
        return Err(refused("list", receiver, scope));
    };
    elements_node("list", elements, receiver, element, scope, markers)
}

/// Types the elements of a list or set. Constants, of which there may be half a million, become the value as a client
/// would bind it.
fn elements_node(
    literal: &str,
    elements: &[Term],
    receiver: &ColumnSpec,
    element: &CqlType,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    let part = value_of(receiver, element);
    let mut parts = HeldParts::new(elements.len(), elements.len());
    for term in elements {
        parts.push(held_term(literal, "value", term, receiver, &part, scope, markers)?);
    }
    Ok(match parts.terms {
        Some(terms) => Node::Elements(terms),
        None => Node::Constants(parts.constants.into()),
    })
}

/// The parts of a collection: a value with long lengths while all are constants, and terms from the first other one on. Each
/// part is typed once, however deep collections are nested.
struct HeldParts {
    constants: Vec<u8>,
    terms: Option<Vec<TypedTerm>>,
    /// The number of parts in the end.
    total: usize,
}

impl HeldParts {
    /// Returns the beginning of a collection with `count` entries, which have `total` parts.
    fn new(count: usize, total: usize) -> HeldParts {
        let constants = i32::try_from(count).unwrap_or(i32::MAX).to_be_bytes().to_vec();
        HeldParts { constants, terms: None, total }
    }

    fn push(&mut self, term: TypedTerm) {
        match (&mut self.terms, term.as_constant()) {
            (None, Some(bytes)) => push_part(bytes, &mut self.constants),
            (Some(terms), _) => terms.push(term),
            (None, None) => {
                let mut terms = Vec::with_capacity(self.total);
                let pushed = self.constants.get(size_of::<i32>()..).unwrap_or_default();
                terms.extend(
                    pushed_parts(pushed).map(|part| TypedTerm::constant(Bytes::copy_from_slice(part))),
                );
                terms.push(term);
                self.terms = Some(terms);
            }
        }
    }
}

pub(super) fn set_node(
    elements: &[Term],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    let element = match &receiver.cql_type {
        CqlType::Set { element, .. } => element,
        // `{}` can also be an empty map.
        CqlType::Map { .. } if elements.is_empty() => {
            return Ok(Node::Constants(HeldParts::new(0, 0).constants.into()));
        }
        _ => return Err(refused("set", receiver, scope)),
    };
    elements_node("set", elements, receiver, element, scope, markers)
}

pub(super) fn map_node(
    entries: &[(Term, Term)],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    let CqlType::Map { key, value, .. } = &receiver.cql_type else {
        return Err(refused("map", receiver, scope));
    };
    let key_part = part_of(receiver, format!("key({})", receiver.name), key);
    let value_part = value_of(receiver, value);
    let mut parts = HeldParts::new(entries.len(), entries.len() * 2);
    for (key, value) in entries {
        parts.push(held_term("map", "key", key, receiver, &key_part, scope, markers)?);
        parts.push(held_term("map", "value", value, receiver, &value_part, scope, markers)?);
    }
    let Some(terms) = parts.terms else { return Ok(Node::Constants(parts.constants.into())) };
    let mut terms = terms.into_iter();
    let mut pairs = Vec::with_capacity(entries.len());
    while let (Some(key), Some(value)) = (terms.next(), terms.next()) {
        pairs.push((key, value));
    }
    Ok(Node::Entries(pairs))
}

/// Returns the names and types of the fields of a tuple or user-defined type.
pub(super) fn field_parts(receiver: &ColumnSpec) -> Option<Vec<ColumnSpec>> {
    let named = |at: usize, cql_type| part_of(receiver, format!("{}[{at}]", receiver.name), cql_type);
    match &receiver.cql_type {
        CqlType::Tuple(types) => Some(types.iter().enumerate().map(|(at, of)| named(at, of)).collect()),
        CqlType::User { user, .. } => {
            Some(user.fields.iter().enumerate().map(|(at, (_, of))| named(at, of)).collect())
        }
        _ => None,
    }
}

/// Types the fields of a tuple.
pub(super) fn tuple_node(
    fields: &[Term],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    // Cassandra fails internally where a tuple is the value of a user type that is not frozen.
    let parts = field_parts(receiver).filter(|_| !receiver.cql_type.is_multi_cell());
    let Some(parts) = parts else { return Err(refused("tuple type", receiver, scope)) };
    if fields.len() > parts.len() {
        return invalid(format!(
            "Invalid tuple literal for {}: too many elements. Type {} expects {} but got {}",
            receiver.name,
            scope.text(&receiver.cql_type),
            parts.len(),
            fields.len()
        ));
    }
    let fields = fields.iter().zip(&parts).enumerate().map(|(at, (term, part))| {
        if !assign::fits(term, &part.cql_type, scope, part) {
            return invalid(format!(
                "Invalid tuple literal for {}: component {at} is not of type {}",
                receiver.name,
                scope.text(&part.cql_type)
            ));
        }
        TypedTerm::new(term, part, scope, markers)
    });
    Ok(Node::Fields(fields.collect::<Result<_>>()?))
}

/// Types the fields of a value of a user-defined type.
pub(super) fn user_node(
    fields: &[(String, Term)],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    let CqlType::User { user, .. } = &receiver.cql_type else {
        return invalid(format!(
            "Invalid user type literal for {} of type {}",
            scope.receiver_text(receiver),
            scope.text(&receiver.cql_type)
        ));
    };
    let mut given: HashMap<&str, &Term> = HashMap::with_capacity(fields.len());
    for (name, term) in fields {
        given.entry(name).or_insert(term);
    }
    let mut typed = Vec::with_capacity(user.fields.len());
    for (name, cql_type) in &user.fields {
        let part = part_of(receiver, format!("{}.{name}", receiver.name), cql_type);
        // A missing field is null.
        let given = given.get(&**name).copied().unwrap_or(&Term::Null);
        if !assign::fits(given, cql_type, scope, &part) {
            return invalid(format!(
                "Invalid user type literal for {}: field {name} is not of type {}",
                scope.receiver_text(receiver),
                scope.text(cql_type)
            ));
        }
        typed.push(TypedTerm::new(given, &part, scope, markers)?);
    }
    if let Some((unknown, _)) = fields.iter().find(|(name, _)| user.place_of(name).is_none()) {
        return invalid(format!("Unknown field '{unknown}' in value of user defined type {}", user.name));
    }
    Ok(Node::Fields(typed))
}
