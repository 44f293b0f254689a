//! The schema that was found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::cql_table::CqlTable;
use crate::import::FamilyName;
use base::schema::{CompactNames, is_system_keyspace};
use db::{CfRequest, KsRequest};

/// The tables in which a server keeps its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSource {
    /// `system.Schema`, 0.7 to 1.0.
    Versioned,
    /// `system.schema_keyspaces` and others, 1.1 to 2.2.
    Old,
    /// `system_schema`, 3.0 and later.
    New,
}

impl fmt::Display for SchemaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SchemaSource::Versioned => "system.Schema (0.7 to 1.0)",
            SchemaSource::Old => "system.schema_* (1.1 to 2.2)",
            SchemaSource::New => "system_schema (3.0 and later)",
        })
    }
}

/// A schema.
#[derive(Debug, Default)]
pub struct FoundSchema {
    /// The tables that it was read from; `None` if there are none.
    pub source: Option<SchemaSource>,
    /// The parts that these tables should have and do not, or that cannot be read.
    pub missing: Vec<String>,
    /// The objects that the target does not get.
    pub left_out: Vec<String>,
    /// Materialized views, whose rows are derived from other tables.
    pub views: BTreeSet<FamilyName>,
    /// The ids of tables, which are in the names of their directories (2.1 and later).
    pub ids: HashMap<FamilyName, [u8; 16]>,
    /// The keyspaces with their column families, as Thrift clients define them.
    pub(super) keyspaces: BTreeMap<String, KsRequest>,
    /// The names of their columns in CQL.
    pub(super) names: HashMap<FamilyName, CompactNames>,
    /// User types with their CREATE TYPE statements. A type may use others.
    pub(super) types: Vec<(FamilyName, String)>,
    pub(super) tables: Vec<CqlTable>,
}

impl FoundSchema {
    /// Adds a keyspace, unless it is one of the servers themselves.
    pub(super) fn add_keyspace(&mut self, request: KsRequest) {
        if !is_system_keyspace(&request.name) {
            self.keyspaces.insert(request.name.clone(), request);
        }
    }

    /// Returns whether a column family is one of users. Its keyspace is added if its own definition is missing.
    pub(super) fn accepts(&mut self, name: &FamilyName) -> bool {
        if is_system_keyspace(&name.keyspace) {
            return false;
        }
        if !self.keyspaces.contains_key(&name.keyspace) {
            let keyspace = &name.keyspace;
            self.missing.push(format!("the definition of the keyspace {keyspace}: one replica is assumed"));
            self.keyspaces.insert(keyspace.clone(), with_one_replica(keyspace));
        }
        true
    }

    /// Adds a column family, with the names of its columns in CQL, to its keyspace.
    pub(super) fn add_family(&mut self, request: CfRequest, names: CompactNames) {
        let name = FamilyName { keyspace: request.keyspace.clone(), name: request.name.clone() };
        if let Some(keyspace) = self.keyspaces.get_mut(&name.keyspace) {
            keyspace.column_families.push(request);
            self.names.insert(name, names);
        }
    }

    /// Returns the column families and tables, sorted by their names.
    pub fn families(&self) -> BTreeSet<FamilyName> {
        let families = self.keyspaces.values().flat_map(|keyspace| &keyspace.column_families);
        let families = families
            .map(|family| FamilyName { keyspace: family.keyspace.clone(), name: family.name.clone() });
        families.chain(self.tables.iter().map(CqlTable::place)).collect()
    }

    /// Returns how many keyspaces there are.
    pub fn keyspace_count(&self) -> usize {
        self.keyspaces.len()
    }
}

/// Returns a keyspace whose definition is not known.
pub(super) fn with_one_replica(name: &str) -> KsRequest {
    KsRequest {
        name: name.to_owned(),
        strategy_class: "SimpleStrategy".to_owned(),
        strategy_options: BTreeMap::from([("replication_factor".to_owned(), "1".to_owned())]),
        ..KsRequest::default()
    }
}
