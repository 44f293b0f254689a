//! The types that a definition names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::invalid;
use crate::cql::CqlError;
use crate::cql::syntax::TypeName;
use crate::marshal::{CqlType, Native, Types, UserType};
use crate::util::Release;
use crate::util::limits::TYPE_NESTING_MAX;

/// Where types are looked up: a keyspace and what CREATE TYPE has made in it.
#[derive(Clone, Copy)]
pub struct DefinedTypes<'a> {
    pub keyspace: &'a str,
    pub user_types: &'a BTreeMap<String, Arc<UserType>>,
    pub types: &'a Types,
    pub release: Release,
}

impl DefinedTypes<'_> {
    /// The type of a column.
    pub fn column(&self, name: &TypeName) -> Result<CqlType, CqlError> {
        match (self.resolve(name, false, 0)?, name) {
            (CqlType::User(_), TypeName::Named { .. }) => {
                invalid("Non-frozen User-Defined types are not supported, please use frozen<>")
            }
            (cql_type, _) => Ok(cql_type),
        }
    }

    /// The type of a user type's field.
    pub fn field(&self, name: &TypeName) -> Result<CqlType, CqlError> {
        let cql_type = self.column(name)?;
        if cql_type.is_counter() {
            return invalid("A user type cannot contain counters");
        }
        Ok(cql_type)
    }

    fn resolve(&self, name: &TypeName, is_frozen: bool, depth: usize) -> Result<CqlType, CqlError> {
        if depth > TYPE_NESTING_MAX {
            return invalid("types are nested too deep");
        }
        let inner = |name: &TypeName| self.resolve(name, is_frozen, depth + 1);
        let collection = match name {
            TypeName::Named { keyspace, name } => return self.named(keyspace.as_deref(), name),
            TypeName::Custom(class) => {
                let class = self.types.parse(class).map_err(|error| CqlError::invalid(error.to_string()))?;
                return Ok(CqlType::of(&class));
            }
            TypeName::Tuple(fields) => {
                let field = |field: &TypeName| self.resolve(field, true, depth + 1);
                return Ok(CqlType::Tuple(fields.iter().map(field).collect::<Result<_, _>>()?));
            }
            TypeName::Frozen(inner) => return self.resolve(inner, true, depth + 1),
            TypeName::List(element) => CqlType::List { element: Box::new(inner(element)?), is_frozen },
            TypeName::Set(element) => CqlType::Set { element: Box::new(inner(element)?), is_frozen },
            TypeName::Map(key, value) => {
                CqlType::Map { key: Box::new(inner(key)?), value: Box::new(inner(value)?), is_frozen }
            }
        };
        check_elements(name, &collection, is_frozen)?;
        Ok(collection)
    }

    fn named(&self, keyspace: Option<&str>, name: &str) -> Result<CqlType, CqlError> {
        if keyspace.is_none()
            && let Some(native) = Native::named(name)
        {
            // Timestamps of 1.2 and before sort otherwise, and have a class of their own for it.
            let is_old = native == Native::Timestamp && self.release < Release::V2_0;
            return Ok(CqlType::Native(if is_old { Native::OldTimestamp } else { native }));
        }
        let meant = keyspace.unwrap_or(self.keyspace);
        if meant != self.keyspace {
            return invalid(format!(
                "Statement on keyspace {} cannot refer to a user type in keyspace {meant}; user types can only be used \
                 in the keyspace they are defined in",
                self.keyspace
            ));
        }
        match self.user_types.get(name) {
            Some(user_type) => Ok(CqlType::User(user_type.clone())),
            None => invalid(format!("Unknown type {meant}.{name}")),
        }
    }
}

/// What stands in a collection: neither counters nor what takes several cells.
fn check_elements(name: &TypeName, collection: &CqlType, is_frozen: bool) -> Result<(), CqlError> {
    let parts: Vec<(&TypeName, &CqlType)> = match (name, collection) {
        (TypeName::List(name), CqlType::List { element, .. })
        | (TypeName::Set(name), CqlType::Set { element, .. }) => vec![(name, element)],
        (TypeName::Map(of_key, of_value), CqlType::Map { key, value, .. }) => {
            vec![(of_key, key), (of_value, value)]
        }
        _ => Vec::new(),
    };
    for (name, part) in parts {
        if part.is_multi_cell() {
            return invalid(format!(
                "Non-frozen collections are not allowed inside collections: {collection}"
            ));
        }
        if part.is_counter() {
            return invalid(format!("Counters are not allowed inside collections: {collection}"));
        }
        if matches!((part, name), (CqlType::User(_), TypeName::Named { .. })) && !is_frozen {
            return invalid("Non-frozen User-Defined types are not supported, please use frozen<>");
        }
    }
    Ok(())
}
