//! Finds the schema among the system tables of all releases.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::cql_table::{CqlTable, Definition};
use super::system_rows::{SchemaRow, SystemTables};
use super::{FoundSchema, SchemaSource, new_tables, old_tables, versioned_table};
use crate::import::{FamilyName, ImportError, Inventory, SstableFile};
use base::marshal::{Types, UserType};
use base::schema::{CfDef, KeyspaceDef, is_system_keyspace};
use cql::values::TypeScope;
use cql_syntax::{Statement, parse};
use sstable::SstableError;

fn system_tables<'t>(
    found: &'t BTreeMap<FamilyName, Vec<SstableFile>>,
    keyspace: &'t str,
) -> SystemTables<'t> {
    SystemTables::Files { keyspace, found }
}

/// Returns the column families of users by the ids that 0.7 to 1.1 gave them. The commit logs of these releases name column
/// families so. `None` without a schema.
///
/// # Errors
///
/// If the system tables are damaged.
pub(crate) fn family_ids(
    system: &BTreeMap<FamilyName, Vec<SstableFile>>,
) -> Result<Option<HashMap<i32, FamilyName>>, SstableError> {
    let tables = system_tables(system, "system");
    if !tables.has(versioned_table::TABLE) && !tables.has(old_tables::FAMILIES) {
        return Ok(None);
    }
    let mut ids = versioned_table::family_ids(&tables)?;
    // A server of 1.1 has taken over the ids of the older table, which it leaves as it was.
    ids.extend(old_tables::family_ids(&tables)?);
    ids.retain(|_, family| !is_system_keyspace(&family.keyspace));
    Ok(Some(ids))
}

impl FoundSchema {
    /// Reads the schema from the system tables that were found. A server that was upgraded may still have the tables of its
    /// earlier releases, as they were then: the newest ones are read.
    ///
    /// # Errors
    ///
    /// If these tables are damaged.
    pub fn of(inventory: &Inventory, types: &Types) -> Result<FoundSchema, ImportError> {
        let system = system_tables(&inventory.system, "system");
        Ok(FoundSchema::of_tables(&system_tables(&inventory.system, "system_schema"), &system, types)?)
    }

    /// Reads the schema from the rows of a server's own tables, by table.
    ///
    /// # Errors
    ///
    /// If they contradict each other.
    pub(crate) fn of_rows(
        rows: &BTreeMap<String, Vec<SchemaRow>>,
        types: &Types,
    ) -> Result<FoundSchema, ImportError> {
        let tables = SystemTables::Rows(rows);
        Ok(FoundSchema::of_tables(&tables, &tables, types)?)
    }

    /// Reads the schema from the tables of `system_schema`, or else from those of `system`.
    fn of_tables(
        new: &SystemTables<'_>,
        old: &SystemTables<'_>,
        types: &Types,
    ) -> Result<FoundSchema, SstableError> {
        let mut schema = FoundSchema::default();
        schema.source = if new_tables::read(new, types, &mut schema)? {
            Some(SchemaSource::New)
        } else if old_tables::read(old, types, &mut schema)? {
            Some(SchemaSource::Old)
        } else if versioned_table::read(old, &mut schema)? {
            Some(SchemaSource::Versioned)
        } else {
            None
        };
        Ok(schema)
    }

    /// Returns the definition of each table of CQL in a keyspace, with the statements that create it, or the reason why it
    /// cannot be defined here.
    pub(crate) fn tables_of(
        &self,
        keyspace: &KeyspaceDef,
        types: &Types,
    ) -> Vec<(FamilyName, Result<ServerTable, String>)> {
        let tables = self.tables.iter().filter(|table| table.place().keyspace == keyspace.name);
        let user_types = self.user_types_of(keyspace, types);
        let made = |table: &CqlTable| {
            let (mut statements, definition) = match table.definition(keyspace, types) {
                Ok(without) => (Vec::new(), without),
                Err(_) => (user_types.statements.clone(), table.definition(&user_types.keyspace, types)?),
            };
            let Definition { cf, statement, .. } = definition;
            statements.push(statement);
            statements.extend_from_slice(&table.indexes);
            Ok(ServerTable { cf, statements })
        };
        tables.map(|table| (table.place(), made(table))).collect()
    }

    /// Returns a keyspace with its user types. Those that cannot be defined here are left out.
    fn user_types_of(&self, keyspace: &KeyspaceDef, types: &Types) -> WithUserTypes {
        let mut with = WithUserTypes { keyspace: keyspace.clone(), statements: Vec::new() };
        let mut left: Vec<_> =
            self.types.iter().filter(|(place, _)| place.keyspace == keyspace.name).collect();
        // A type may have fields of others, in any order.
        loop {
            let before = left.len();
            left.retain(|(place, statement)| {
                let Some(made) = user_type(place, statement, &TypeScope::of_existing(&with.keyspace, types))
                else {
                    return true;
                };
                with.keyspace.user_types.insert(place.name.clone(), Arc::new(made));
                with.statements.push(statement.replacen("CREATE TYPE", "CREATE TYPE IF NOT EXISTS", 1));
                false
            });
            if left.len() == before {
                return with;
            }
        }
    }
}

/// A keyspace with its user types, and the statements that create them, in an order in which each is known before it is used.
struct WithUserTypes {
    keyspace: KeyspaceDef,
    statements: Vec<String>,
}

/// Returns the type that a statement creates; `None` if a type of its fields is not known.
fn user_type(place: &FamilyName, statement: &str, scope: &TypeScope<'_>) -> Option<UserType> {
    let Statement::CreateType { fields, .. } = parse(statement).ok()?.statement else { return None };
    let fields = fields.iter().map(|(name, cql_type)| Some((name.clone(), scope.resolve(cql_type).ok()?)));
    Some(UserType::new(&place.keyspace, &place.name, fields.collect::<Option<_>>()?))
}

/// A table of CQL of a running server.
#[derive(Debug, Clone)]
pub(crate) struct ServerTable {
    pub cf: Arc<CfDef>,
    /// CREATE TYPE for each type of the keyspace if it uses any, CREATE TABLE, and CREATE INDEX for each index.
    pub statements: Vec<String>,
}
