//! Checks whether a term can be assigned to a type. This is checked before the parts of a literal or the arguments of a
//! function are analyzed, so that the error message is about the whole term.

use super::function::{Function, accepts};
use super::held_literals::field_parts;
use super::{TypeScope, constant, term_text};
use crate::error::invalid;
use crate::{ColumnSpec, Result};
use base::marshal::CqlType;
use base::schema::TableDef;
use cql_syntax::{Term, TypeName};

/// Checks whether the term can be assigned to the type.
pub(super) fn fits(term: &Term, cql_type: &CqlType, scope: &TypeScope<'_>, receiver: &ColumnSpec) -> bool {
    match (term, cql_type) {
        (Term::Constant { kind, .. }, _) => constant::fits(*kind, cql_type, scope),
        (Term::Null | Term::Marker(_), _) => true,
        (Term::List(elements), CqlType::List { element, .. })
        | (Term::Set(elements), CqlType::Set { element, .. }) => {
            elements.iter().all(|term| fits(term, element, scope, receiver))
        }
        (Term::Set(elements), CqlType::Map { .. }) => elements.is_empty(),
        (Term::Map(entries), CqlType::Map { key, value, .. }) => {
            entries.iter().all(|(k, v)| fits(k, key, scope, receiver) && fits(v, value, scope, receiver))
        }
        (Term::Tuple(fields), CqlType::Tuple(_) | CqlType::User { .. }) => {
            let parts = field_parts(&ColumnSpec { cql_type: cql_type.clone(), ..receiver.clone() });
            parts.is_some_and(|parts| {
                fields.len() <= parts.len()
                    && fields.iter().zip(&parts).all(|(term, part)| fits(term, &part.cql_type, scope, part))
            })
        }
        (Term::User(fields), CqlType::User { user, .. }) => fields.iter().all(|(name, term)| {
            // The error for an unknown field is reported when the literal itself is analyzed.
            let of = user.place_of(name).and_then(|at| user.fields.get(at));
            of.is_none_or(|(_, of)| fits(term, of, scope, receiver))
        }),
        // The error for an unknown function is reported when the call itself is analyzed.
        (Term::Function(call), _) => {
            // All functions of one name return the same type.
            let receiver = ColumnSpec { cql_type: cql_type.clone(), ..receiver.clone() };
            functions_of(call.keyspace.as_deref(), &call.name, &receiver, scope)
                .first()
                .is_none_or(|function| accepts(cql_type, function.return_type()))
        }
        (Term::Cast { cql_type: cast, term }, _) => scope
            .resolve(cast)
            .is_ok_and(|cast| accepts(cql_type, &cast) && fits(term, &cast, scope, receiver)),
        _ => false,
    }
}

/// Checks whether the term is known to have exactly this type.
pub(super) fn is_exact(
    term: &Term,
    cql_type: &CqlType,
    scope: &TypeScope<'_>,
    receiver: &ColumnSpec,
) -> bool {
    match term {
        Term::Function(call) => {
            let functions = functions_of(call.keyspace.as_deref(), &call.name, receiver, scope);
            functions.first().is_some_and(|function| function.return_type() == cql_type)
        }
        Term::Cast { cql_type: cast, .. } => scope.resolve(cast).is_ok_and(|cast| cast == *cql_type),
        _ => false,
    }
}

/// Returns the functions with a name. `token` returns the receiver's type, since it is only used to compare tokens.
pub(super) fn functions_of(
    keyspace: Option<&str>,
    name: &str,
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
) -> Vec<Function> {
    if keyspace.is_some_and(|keyspace| keyspace != "system") {
        return Vec::new();
    }
    let cf = scope.keyspace.column_families.get(&receiver.table);
    let table = cf.map(|cf| TableDef::of(cf, scope.release));
    Function::named(name, table.as_deref(), &receiver.cql_type)
}

/// A type hint: `(type)term`.
pub(super) struct Cast<'a> {
    pub cql_type: &'a TypeName,
    pub term: &'a Term,
}

impl Cast<'_> {
    /// Checks that the term can be assigned to the type, and the type to the receiver. The value does not change.
    pub(super) fn check(&self, receiver: &ColumnSpec, scope: &TypeScope<'_>) -> Result<()> {
        let cast = scope.resolve(self.cql_type)?;
        if !fits(self.term, &cast, scope, receiver) {
            return invalid(format!(
                "Cannot cast value {} to type {}",
                term_text(self.term),
                scope.text(&cast)
            ));
        }
        if !accepts(&receiver.cql_type, &cast) {
            return invalid(format!(
                "Cannot assign value ({}){} to {} of type {}",
                scope.text(&cast),
                term_text(self.term),
                scope.receiver_text(receiver),
                scope.text(&receiver.cql_type)
            ));
        }
        Ok(())
    }
}
