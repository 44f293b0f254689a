//! The schema that a server kept in its own tables: 0.7 to 1.0 in `system.Schema`, 1.1 to 2.2 in `system.schema_*`, 3.0 to
//! 3.11 in `system_schema`.
//!
//! ```text
//!   system_rows       rows of these tables       table_statement   CREATE TABLE
//!   versioned_table   `system.Schema`            avro              its values
//!   old_tables        `system.schema_keyspaces`, `schema_columnfamilies`, `schema_columns`, `schema_usertypes`
//!   new_tables        `system_schema.keyspaces`, `tables`, `columns`, `types`, `indexes`
//! ```
//!
//! Tables of CQL become statements. Column families without them, which CQL can describe in part only, become
//! definitions as Thrift clients send them.

mod avro;
mod new_tables;
mod old_tables;
mod system_rows;
mod table_statement;
mod versioned_table;

pub use system_rows::{SystemRow, read as read_system_rows};

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ImportError;
use super::inventory::{FamilyName, FoundTable, Inventory, is_system};
use crate::control::{LoadBody, load};
use crate::db::{Database, KsRequest, described_keyspace};
use crate::marshal::Types;
use crate::schema::{CompactNames, KeyspaceDef};
use crate::sstable::SstableError;
use crate::util::meter::RequestLimits;

/// A schema.
#[derive(Debug, Default)]
pub struct FoundSchema {
    /// The keyspaces with their column families, as Thrift clients define them.
    keyspaces: Vec<KsRequest>,
    /// The names of their columns in CQL.
    names: Vec<(FamilyName, CompactNames)>,
    /// CREATE TYPE statements. A type may use others.
    types: Vec<String>,
    /// CREATE TABLE statements and those for their indexes.
    statements: Vec<String>,
    /// What these tables should have and do not.
    missing: Vec<String>,
}

/// The SSTables of the system tables.
type SystemTables = BTreeMap<FamilyName, Vec<FoundTable>>;

fn tables_of<'t>(system: &'t SystemTables, keyspace: &str, name: &str) -> &'t [FoundTable] {
    let name = FamilyName { keyspace: keyspace.to_owned(), name: name.to_owned() };
    system.get(&name).map_or(&[], Vec::as_slice)
}

/// Returns the column families of users by the ids that 0.7 to 1.1 gave them. The commit logs of these releases name column
/// families so.
///
/// # Errors
///
/// If the system tables are damaged.
pub fn family_ids(system: &SystemTables) -> Result<HashMap<i32, FamilyName>, SstableError> {
    let mut ids = versioned_table::family_ids(tables_of(system, "system", versioned_table::TABLE))?;
    // A server of 1.1 has taken over the ids of the older table, which it leaves as it was.
    ids.extend(old_tables::family_ids(tables_of(system, "system", "schema_columnfamilies"))?);
    ids.retain(|_, family| !is_system(&family.keyspace));
    Ok(ids)
}

impl FoundSchema {
    /// Reads the schema from the system tables that were found.
    ///
    /// # Errors
    ///
    /// If these tables are damaged.
    pub fn of(inventory: &Inventory, types: &Types) -> Result<FoundSchema, ImportError> {
        let table = |keyspace: &str, name: &str| tables_of(&inventory.system, keyspace, name);
        let mut schema = FoundSchema::default();
        // A server that was upgraded may have the tables of its earlier releases still, as they were then.
        if !new_tables::read(|name| table("system_schema", name), types, &mut schema)?
            && !old_tables::read(|name| table("system", name), types, &mut schema)?
        {
            versioned_table::read(table("system", versioned_table::TABLE), &mut schema)?;
        }
        Ok(schema)
    }

    /// Creates in a database what it does not have. What cannot be created is returned with the reason.
    pub async fn define(&self, database: &Arc<Database>) -> Vec<String> {
        let mut failed = Vec::new();
        for request in &self.keyspaces {
            // A family that is not supported must not stop the others.
            let mut whole = KsRequest { column_families: Vec::new(), ..request.clone() };
            for family in &request.column_families {
                let alone = KsRequest { column_families: vec![family.clone()], ..request.clone() };
                match described_keyspace(&alone, database.types()) {
                    Ok(_) => whole.column_families.push(family.clone()),
                    Err(error) => failed.push(format!("{}.{}: {error}", family.keyspace, family.name)),
                }
            }
            let defined = match described_keyspace(&whole, database.types()) {
                Ok(keyspace) => self.adopt(database, keyspace).await,
                Err(error) => Err(error),
            };
            if let Err(error) = defined {
                failed.push(format!("keyspace {}: {error}", request.name));
            }
        }
        failed.extend(self.run_statements(database).await);
        failed
    }

    async fn adopt(&self, database: &Arc<Database>, keyspace: KeyspaceDef) -> Result<(), crate::db::Error> {
        let catalog = database.catalog();
        let is_new = |name: &str| catalog.column_family(&keyspace.name, name).is_none();
        let named = |cf: &Arc<crate::schema::CfDef>| {
            let place = FamilyName { keyspace: cf.keyspace.clone(), name: cf.name.clone() };
            let names = self.names.iter().find(|(name, _)| *name == place);
            match names {
                Some((_, names)) => Arc::new(crate::schema::CfDef { names: names.clone(), ..(**cf).clone() }),
                None => cf.clone(),
            }
        };
        let families: Vec<_> =
            keyspace.column_families.values().filter(|cf| is_new(&cf.name)).map(named).collect();
        if families.is_empty() && catalog.keyspace(&keyspace.name).is_some() {
            return Ok(());
        }
        database.restore().define(&keyspace, &families).await
    }

    /// Runs the statements one by one. Types come in an order in which each is known before it is used.
    async fn run_statements(&self, database: &Arc<Database>) -> Vec<String> {
        let mut types: Vec<&String> = self.types.iter().collect();
        loop {
            let mut left = Vec::new();
            for statement in &types {
                if run(database, statement).await.is_err() {
                    left.push(*statement);
                }
            }
            if left.len() == types.len() {
                break;
            }
            types = left;
        }
        let mut failed = Vec::new();
        for statement in types.into_iter().chain(&self.statements) {
            if let Err(why) = run(database, statement).await {
                failed.push(format!("{statement}: {why}"));
            }
        }
        failed
    }
}

async fn run(database: &Arc<Database>, statement: &str) -> Result<(), String> {
    let loaded = load(database, &RequestLimits::default(), &LoadBody::Cql(statement.to_owned())).await;
    loaded.map(drop).map_err(|error| error.to_string())
}
