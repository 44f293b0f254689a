//! DESCRIBE: prints the schema as the statements that create it. Rows and messages are the same as in Cassandra 4.0.

mod cluster;
mod elements;
mod page;
mod table_text;
mod text;

use std::sync::Arc;

use bytes::Bytes;

use super::system::{self, is_system};
use super::{ColumnSpec, CqlError, Outcome, QueryOptions, QueryState, ResultSet};
use crate::Result;
use base::marshal::{CqlType, Native};
use base::schema::{KeyspaceDef, name_text};
use cql_syntax::{Describe, Described, ElementKind};
use elements::Element;
use table_text::Detail;

/// Executes a DESCRIBE.
pub(crate) fn describe(
    state: &QueryState<'_>,
    describe: &Describe,
    options: &QueryOptions,
) -> Result<Outcome> {
    if describe.what == Described::Cluster {
        return cluster::cluster(state);
    }
    let system = system::keyspaces(state.reported);
    let catalog = state.database.catalog();
    let mut keyspaces: Vec<&KeyspaceDef> = system.iter().chain(catalog.keyspaces.values()).collect();
    keyspaces.sort_by(|a, b| a.name.cmp(&b.name));
    let (found, has_text) = DescribedKeyspaces { state, keyspaces }.all(&describe.what)?;
    let page = page::Page::begin(state, options)?;
    let (found, paging_state) = page.cut(&found);
    let detail = if describe.with_internals { Detail::Internal } else { Detail::All };
    let mut rows = Vec::new();
    for element in found {
        let (keyspace, name) = element.names();
        let mut row = vec![name_text(keyspace), element.kind().name().to_owned(), name_text(name)];
        if has_text {
            row.push(element.text(state, detail));
        }
        rows.push(row.into_iter().map(|text| Some(Bytes::from(text))).collect());
    }
    let names: &[&str] = match has_text {
        true => &["keyspace_name", "type", "name", "create_statement"],
        false => &["keyspace_name", "type", "name"],
    };
    let text = CqlType::Native(Native::Text);
    let columns: Arc<[ColumnSpec]> = names.iter().map(|name| spec(name, text.clone())).collect();
    Ok(Outcome::Rows(ResultSet { columns, rows, paging_state }))
}

/// Returns the statements that create a keyspace and all that it has, each after those that it depends on, without
/// properties that have their default. A table that CQL cannot create is in a comment.
pub fn definitions_of(state: &QueryState<'_>, keyspace: &KeyspaceDef) -> Vec<String> {
    let elements = elements::of_keyspace(keyspace);
    elements.iter().map(|element| element.text(state, Detail::Changed)).collect()
}

fn spec(name: &str, cql_type: CqlType) -> ColumnSpec {
    let (keyspace, table) = (system::SYSTEM.to_owned(), "describe".to_owned());
    ColumnSpec { keyspace, table, name: name.to_owned(), cql_type, is_field: false }
}

/// The keyspaces that are searched, by name.
struct DescribedKeyspaces<'a> {
    state: &'a QueryState<'a>,
    keyspaces: Vec<&'a KeyspaceDef>,
}

impl<'a> DescribedKeyspaces<'a> {
    /// Returns the selected elements, and whether their statements are requested.
    fn all(&self, what: &Described) -> Result<(Vec<Element<'a>>, bool)> {
        let current = self.state.keyspace;
        match what {
            // DESCRIBE CLUSTER is executed elsewhere.
            Described::Cluster => Ok((Vec::new(), false)),
            Described::Schema { is_full } => {
                let shown = self.keyspaces.iter().filter(|keyspace| *is_full || !is_system(&keyspace.name));
                Ok((shown.flat_map(|keyspace| elements::of_keyspace(keyspace)).collect(), true))
            }
            Described::List(ElementKind::Keyspace) => {
                Ok((self.keyspaces.iter().map(|keyspace| Element::Keyspace(keyspace)).collect(), false))
            }
            Described::List(kind) => {
                let looked_into = match current {
                    Some(name) => vec![self.keyspace(name)?],
                    None => self.keyspaces.clone(),
                };
                let listed = looked_into.into_iter().flat_map(|keyspace| elements::of_kind(keyspace, *kind));
                Ok((listed.collect(), false))
            }
            Described::Keyspace { name, is_only } => {
                let keyspace = self.keyspace(self.meant(name.as_deref())?)?;
                let found = match is_only {
                    true => vec![Element::Keyspace(keyspace)],
                    false => elements::of_keyspace(keyspace),
                };
                Ok((found, true))
            }
            Described::Element { kind, name } => {
                let keyspace = self.keyspace(self.meant(name.keyspace.as_deref())?)?;
                Ok((elements::named(keyspace, *kind, &name.name)?, true))
            }
            Described::Named(name) => Ok((self.named(name.keyspace.as_deref(), &name.name)?, true)),
        }
    }

    /// Returns the first keyspace, table or index with the name.
    fn named(&self, keyspace: Option<&str>, name: &str) -> Result<Vec<Element<'a>>> {
        if keyspace.is_none()
            && let Ok(found) = self.keyspace(name)
        {
            return Ok(elements::of_keyspace(found));
        }
        let looked_into = keyspace.or(self.state.keyspace).unwrap_or(name);
        let keyspace = self.keyspace(looked_into)?;
        let table = elements::named(keyspace, ElementKind::Table, name);
        let found = table.or_else(|_| elements::named(keyspace, ElementKind::Index, name));
        found.map_err(|_| CqlError::invalid(format!("'{name}' not found in keyspace '{looked_into}'")))
    }

    fn meant<'n>(&self, named: Option<&'n str>) -> Result<&'n str>
    where
        'a: 'n,
    {
        named
            .or(self.state.keyspace)
            .ok_or_else(|| CqlError::invalid("No keyspace specified and no current keyspace"))
    }

    fn keyspace(&self, name: &str) -> Result<&'a KeyspaceDef> {
        let found = self.keyspaces.iter().find(|keyspace| keyspace.name == name);
        found.copied().ok_or_else(|| CqlError::invalid(format!("'{name}' not found in keyspaces")))
    }
}

#[cfg(test)]
mod tests;
