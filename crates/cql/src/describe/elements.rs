//! The elements of a schema.

use std::collections::BTreeSet;

use crate::error::invalid;
use crate::{QueryState, Result};
use base::marshal::{CqlType, UserType};
use base::schema::{CfDef, ColumnDef, KeyspaceDef};
use cql_syntax::ElementKind;

use super::table_text::{self, Detail};
use super::text;

/// An element of a schema.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element<'a> {
    Keyspace(&'a KeyspaceDef),
    Type(&'a UserType),
    Table(&'a KeyspaceDef, &'a CfDef),
    Index(&'a CfDef, &'a ColumnDef),
}

impl<'a> Element<'a> {
    pub(super) fn kind(&self) -> ElementKind {
        match self {
            Element::Keyspace(_) => ElementKind::Keyspace,
            Element::Type(_) => ElementKind::Type,
            Element::Table(..) => ElementKind::Table,
            Element::Index(..) => ElementKind::Index,
        }
    }

    /// Returns the name of its keyspace, and its own name.
    pub(super) fn names(&self) -> (&'a str, &'a str) {
        match self {
            Element::Keyspace(keyspace) => (&keyspace.name, &keyspace.name),
            Element::Type(user_type) => (&user_type.keyspace, &user_type.name),
            Element::Table(_, cf) => (&cf.keyspace, &cf.name),
            Element::Index(cf, column) => (&cf.keyspace, index_name(column)),
        }
    }

    /// Returns the statement that creates it.
    pub(super) fn text(&self, state: &QueryState<'_>, detail: Detail) -> String {
        match self {
            Element::Keyspace(keyspace) => text::keyspace(keyspace),
            Element::Type(user_type) => text::user_type(user_type),
            Element::Table(keyspace, cf) => table_text::table(state, keyspace, cf, detail),
            Element::Index(cf, column) => text::index(cf, column, state.behaviour.release),
        }
    }
}

fn index_name(column: &ColumnDef) -> &str {
    column.index.as_ref().and_then(|index| index.name.as_deref()).unwrap_or_default()
}

/// Returns a keyspace and all its elements, each after those that it depends on.
pub(super) fn of_keyspace(keyspace: &KeyspaceDef) -> Vec<Element<'_>> {
    let mut found = vec![Element::Keyspace(keyspace)];
    found.extend(types_in_order(keyspace).into_iter().map(Element::Type));
    found.extend(keyspace.column_families.values().flat_map(|cf| of_table(keyspace, cf)));
    found
}

/// Returns a table and its indexes.
fn of_table<'a>(keyspace: &'a KeyspaceDef, cf: &'a CfDef) -> Vec<Element<'a>> {
    let mut found = vec![Element::Table(keyspace, cf)];
    let mut indexes: Vec<Element<'a>> =
        cf.indexed_columns().map(|column| Element::Index(cf, column)).collect();
    indexes.sort_by_key(|index| index.names().1);
    found.append(&mut indexes);
    found
}

/// Returns the types by name, but each after the types of its fields.
fn types_in_order(keyspace: &KeyspaceDef) -> Vec<&UserType> {
    let mut left: Vec<&UserType> = keyspace.user_types.values().map(|known| &**known).collect();
    let mut ordered: Vec<&UserType> = Vec::new();
    let mut names = BTreeSet::new();
    while !left.is_empty() {
        let (waiting, mut ready): (Vec<_>, Vec<_>) = left.into_iter().partition(|known: &&UserType| {
            let needs = |name: &str| {
                name != known.name && keyspace.user_types.contains_key(name) && !names.contains(name)
            };
            known.fields.iter().any(|(_, field)| names_user_type(field, &needs))
        });
        left = waiting;
        if ready.is_empty() {
            // Types cannot depend on each other in a circle, but if they did, all should still be listed.
            ready.append(&mut left);
        }
        names.extend(ready.iter().map(|known| &*known.name));
        ordered.append(&mut ready);
    }
    ordered
}

/// Whether a type names a user type that matches. Fields of user types are not searched.
fn names_user_type(cql_type: &CqlType, is_meant: &impl Fn(&str) -> bool) -> bool {
    let names = |held: &CqlType| names_user_type(held, is_meant);
    match cql_type {
        CqlType::User { user, .. } => is_meant(&user.name),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => names(element),
        CqlType::Map { key, value, .. } => names(key) || names(value),
        CqlType::Tuple(fields) => fields.iter().any(names),
        CqlType::Native(_) | CqlType::Custom(_) => false,
    }
}

/// Returns all elements of a kind, by name. There are no functions and aggregates.
pub(super) fn of_kind(keyspace: &KeyspaceDef, kind: ElementKind) -> Vec<Element<'_>> {
    match kind {
        ElementKind::Table => {
            keyspace.column_families.values().map(|cf| Element::Table(keyspace, cf)).collect()
        }
        ElementKind::Type => keyspace.user_types.values().map(|known| Element::Type(known)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the element with a kind and name, and its dependents.
pub(super) fn named<'a>(
    keyspace: &'a KeyspaceDef,
    kind: ElementKind,
    name: &str,
) -> Result<Vec<Element<'a>>> {
    let not_found = |what: &str| invalid(format!("{what} '{name}' not found in '{}'", keyspace.name));
    match kind {
        ElementKind::Table => match keyspace.column_families.get(name) {
            Some(cf) => Ok(of_table(keyspace, cf)),
            None => invalid(format!("Table '{name}' not found in keyspace '{}'", keyspace.name)),
        },
        ElementKind::Index => {
            let tables = keyspace.column_families.values();
            let mut indexes =
                tables.flat_map(|cf| cf.indexed_columns().map(|column| Element::Index(cf, column)));
            match indexes.find(|index| index.names().1 == name) {
                Some(index) => Ok(vec![index]),
                // Cassandra looks up the table of an index, and its message names that.
                None => not_found("Table for existing index"),
            }
        }
        ElementKind::Type => match keyspace.user_types.get(name) {
            Some(user_type) => Ok(vec![Element::Type(user_type)]),
            None => not_found("User defined type"),
        },
        ElementKind::Function => not_found("User defined function"),
        ElementKind::Aggregate => not_found("User defined aggregate"),
        ElementKind::View => not_found("Materialized view"),
        ElementKind::Keyspace => Ok(of_keyspace(keyspace)),
    }
}
