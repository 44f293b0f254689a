//! The system keyspaces and tables. `tables.cql` has the tables as CREATE TABLE statements.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::names::{AUTH, KEYSPACES, TRACES, is_system};
use crate::define::column_family;
use crate::values::TypeScope;
use base::compat::features::ReportedVersion;
use base::compat::{Line, Span};
use base::marshal::Types;
use base::schema::{CfDef, KeyspaceDef};
use cql_syntax::{Statement, parse};

/// The statements, each after a line that says which releases have the table.
const TABLES: &str = include_str!("tables.cql");

/// A statement of `tables.cql`.
struct SystemDefinition {
    /// The reported versions with which clients can query the table.
    served: Span,
    /// The releases whose schema tables list it.
    listed: Span,
    text: &'static str,
}

impl SystemDefinition {
    /// Returns all definitions in their order; `None` for one that cannot be read.
    fn all() -> impl Iterator<Item = Option<SystemDefinition>> {
        TABLES.split("\n-- served ").skip(1).map(|definition| {
            let (lines, text) = definition.split_once('\n')?;
            let (served, listed) = lines.split_once(", listed ")?;
            Some(SystemDefinition { served: span(served)?, listed: span(listed)?, text })
        })
    }
}

/// Reads lines of releases: `any`, `none`, `from 2.1`, or `2.0 until 3.0`, which is without 3.0.
fn span(text: &str) -> Option<Span> {
    match (text, text.strip_prefix("from "), text.split_once(" until ")) {
        ("any", ..) => Some(Span::ALWAYS),
        ("none", ..) => Some(Span::NEVER),
        (_, Some(first), _) => Some(Span::since_line(Line::read(first)?)),
        (_, _, Some((first, end))) => Some(Span::lines(Line::read(first)?, Line::read(end)?)),
        _ => None,
    }
}

/// The tables whose definitions could be read; a test checks that this is all of them.
static MADE: LazyLock<Vec<(SystemDefinition, Arc<CfDef>)>> = LazyLock::new(|| {
    let made = |definition: SystemDefinition| made(definition.text).map(|cf| (definition, Arc::new(cf)));
    SystemDefinition::all().flatten().filter_map(made).collect()
});

fn made(text: &str) -> Option<CfDef> {
    let Statement::CreateTable(create) = parse(text).ok()?.statement else { return None };
    let keyspace = KeyspaceDef::new(create.table.keyspace.as_deref()?);
    column_family(&create, &TypeScope::of_existing(&keyspace, &Types::builtin())).ok()
}

/// Returns the definition of a system table that can be queried.
pub(crate) fn definition(
    reported: &ReportedVersion,
    keyspace: &str,
    table: &str,
) -> Option<&'static Arc<CfDef>> {
    if !is_system(keyspace) {
        return None;
    }
    let mut found = MADE.iter().filter(|(definition, cf)| {
        let is_known = definition.listed.has_line(reported.line()) || reported.has_tables_of_others();
        let is_served = is_known && definition.served.has_line(reported.line());
        cf.keyspace == keyspace && cf.name == table && is_served
    });
    found.next().map(|(_, cf)| cf)
}

/// Returns the tables of a system keyspace that a release has.
pub(super) fn listed_in(line: Line, keyspace: &str) -> impl Iterator<Item = &'static Arc<CfDef>> {
    let listed = MADE
        .iter()
        .filter(move |(definition, cf)| definition.listed.has_line(line) && cf.keyspace == keyspace);
    listed.map(|(_, cf)| cf)
}

/// Returns the system keyspaces with the tables that the reported version lists. The tables of `VIRTUAL` are listed in
/// other schema tables than the rest.
pub(crate) fn keyspaces(reported: &ReportedVersion) -> Vec<KeyspaceDef> {
    let made = KEYSPACES.iter().map(|name| {
        let (strategy, options) = match *name {
            TRACES => ("SimpleStrategy", BTreeMap::from([("replication_factor".to_owned(), "2".to_owned())])),
            AUTH => ("SimpleStrategy", BTreeMap::from([("replication_factor".to_owned(), "1".to_owned())])),
            _ => ("LocalStrategy", BTreeMap::new()),
        };
        KeyspaceDef {
            strategy_class: format!("org.apache.cassandra.locator.{strategy}"),
            strategy_options: options,
            column_families: listed_in(reported.line(), name)
                .map(|cf| (cf.name.clone(), cf.clone()))
                .collect(),
            ..KeyspaceDef::new(name)
        }
    });
    made.filter(|keyspace| !keyspace.column_families.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{SCHEMA, SYSTEM, VIRTUAL};

    #[test]
    fn every_definition_is_a_table() {
        assert!(
            SystemDefinition::all().all(|definition| definition.is_some()),
            "a line of releases is wrong"
        );
        for definition in SystemDefinition::all().flatten() {
            assert!(made(definition.text).is_some(), "{}", definition.text);
        }
        assert_eq!(MADE.len(), TABLES.matches("CREATE TABLE").count());
    }

    #[test]
    fn each_release_lists_its_own_tables_and_also_has_those_of_older_ones() {
        let names = |release: &str| -> Vec<String> {
            keyspaces(&ReportedVersion::new(release).unwrap())
                .into_iter()
                .map(|keyspace| keyspace.name)
                .collect()
        };
        assert_eq!(names("2.1.22"), [SYSTEM, TRACES]);
        assert_eq!(names("3.11.17"), [SYSTEM, SCHEMA, TRACES, AUTH]);
        assert_eq!(names("4.0.11"), [SYSTEM, SCHEMA, TRACES, AUTH, VIRTUAL]);
        let is_there = |release: &str, table: &str| {
            definition(&ReportedVersion::new(release).unwrap(), SYSTEM, table).is_some()
        };
        assert!(is_there("4.0.11", "schema_columns") && !is_there("4.0.11", "schema_functions"));
        assert!(is_there("2.2.19", "schema_functions") && !is_there("2.1.22", "schema_functions"));
        assert!(!is_there("4.0.11", "peers_v2"));
        let columns = |release: &str| {
            let reported = ReportedVersion::new(release).unwrap();
            definition(&reported, SYSTEM, "local").unwrap().table.as_ref().unwrap().columns().count()
        };
        assert_eq!(["1.2.19", "2.0.17", "3.11.17", "4.0.11"].map(columns), [14, 18, 18, 20]);
    }
}
