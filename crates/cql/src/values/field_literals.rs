//! Literals of tuples and user-defined types.

use std::collections::HashMap;

use super::typed_term::{Node, TypedTerm, part_of, refused};
use super::{Markers, TypeScope, assign};
use crate::error::invalid;
use crate::{ColumnSpec, CqlError};
use base::marshal::CqlType;
use cql_syntax::Term;

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
) -> Result<Node, CqlError> {
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
    Ok(Node::Fields(fields.collect::<Result<_, CqlError>>()?))
}

/// Types the fields of a value of a user-defined type.
pub(super) fn user_node(
    fields: &[(String, Term)],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
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
