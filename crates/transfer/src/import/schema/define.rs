//! Creates in a target the column families, types and tables of a schema that was found.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FoundSchema;
use super::cql_table::{CqlTable, Definition};
use super::found_schema::with_one_replica;
use crate::import::FamilyName;
use base::marshal::Types;
use base::schema::{CfDef, KeyspaceDef};
use base::util::meter::RequestLimits;
use db::{CfRequest, Database, KsRequest, described_keyspace};

/// The objects and settings that could not be created.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Defined {
    /// Column families, types, tables and indexes that the target does not have, with the reasons.
    pub failed: Vec<String>,
    /// Settings that they do not have, with the reasons.
    pub left_out: Vec<String>,
}

impl FoundSchema {
    /// Creates the objects that a database does not have. Existing definitions stay as they are.
    pub async fn define(&self, database: &Arc<Database>) -> Defined {
        let mut defined = Defined::default();
        for request in self.keyspaces.values() {
            let keyspace = self.keyspace_of(request, database.types(), &mut defined);
            if let Err(error) = adopt(database, &keyspace).await {
                defined.failed.push(format!("keyspace {}: {error}", request.name));
            }
        }
        self.define_types(database, &mut defined).await;
        for table in &self.tables {
            define_table(database, table, &mut defined).await;
        }
        defined
    }

    /// Returns the definition of a keyspace with all of its column families that can be defined.
    fn keyspace_of(&self, request: &KsRequest, types: &Types, defined: &mut Defined) -> KeyspaceDef {
        let mut keyspace = KsRequest { column_families: Vec::new(), ..request.clone() };
        if let Err(error) = described_keyspace(&keyspace, types) {
            defined.left_out.push(format!(
                "the replication of the keyspace {} by {}, which has one replica instead: {error}",
                request.name, request.strategy_class
            ));
            keyspace = with_one_replica(&request.name);
        }
        let mut made =
            described_keyspace(&keyspace, types).unwrap_or_else(|_| KeyspaceDef::new(&request.name));
        for family in &request.column_families {
            let place = FamilyName { keyspace: family.keyspace.clone(), name: family.name.clone() };
            match family_of(&keyspace, family, types, &mut defined.left_out) {
                Ok(cf) => {
                    let names = self.names.get(&place).cloned().unwrap_or_default();
                    made.column_families.insert(family.name.clone(), Arc::new(CfDef { names, ..cf }));
                }
                Err(why) => defined.failed.push(format!("{place}: {why}")),
            }
        }
        made
    }

    /// Creates user types, in an order in which each is known before it is used.
    async fn define_types(&self, database: &Arc<Database>, defined: &mut Defined) {
        let catalog = database.catalog().clone();
        let mut types: Vec<&(FamilyName, String)> = self.types.iter().collect();
        types.retain(|(place, _)| {
            let keyspace = catalog.keyspace(&place.keyspace);
            keyspace.is_none_or(|keyspace| !keyspace.user_types.contains_key(&place.name))
        });
        loop {
            let mut failed = Vec::new();
            let mut left = Vec::new();
            for each in &types {
                if let Err(why) = run(database, &each.1).await {
                    failed.push(why);
                    left.push(*each);
                }
            }
            if left.len() == types.len() {
                defined.failed.extend(failed);
                return;
            }
            types = left;
        }
    }
}

/// Returns the definition of a column family. Settings without an effect do not stop it.
fn family_of(
    keyspace: &KsRequest,
    family: &CfRequest,
    types: &Types,
    left_out: &mut Vec<String>,
) -> Result<CfDef, String> {
    let described = |family: CfRequest| {
        let alone = KsRequest { column_families: vec![family.clone()], ..keyspace.clone() };
        let mut described = described_keyspace(&alone, types).map_err(|error| error.to_string())?;
        let cf = described.column_families.remove(&family.name);
        cf.map(|cf| CfDef::clone(&cf)).ok_or_else(|| "it is not defined".to_owned())
    };
    if let Ok(cf) = described(family.clone()) {
        return Ok(cf);
    }
    let mut kept = CfRequest { settings: BTreeMap::new(), ..family.clone() };
    let mut cf = described(kept.clone())?;
    for (name, setting) in &family.settings {
        let before = kept.settings.clone();
        kept.settings.insert(name.clone(), setting.clone());
        match described(kept.clone()) {
            Ok(made) => cf = made,
            Err(why) => {
                kept.settings = before;
                left_out.push(format!("{}.{}: the setting {name}: {why}", family.keyspace, family.name));
            }
        }
    }
    Ok(cf)
}

/// Creates the column families of a keyspace that the database does not have.
async fn adopt(database: &Arc<Database>, keyspace: &KeyspaceDef) -> Result<(), db::Error> {
    let catalog = database.catalog().clone();
    let mut families: Vec<_> = keyspace.column_families.values().cloned().collect();
    families.retain(|cf| catalog.column_family(&keyspace.name, &cf.name).is_none());
    if families.is_empty() && catalog.keyspace(&keyspace.name).is_some() {
        return Ok(());
    }
    database.restore().define(keyspace, &families).await
}

/// Creates a table with its indexes, if the database does not have it.
async fn define_table(database: &Arc<Database>, table: &CqlTable, defined: &mut Defined) {
    let place = table.place();
    let catalog = database.catalog().clone();
    if catalog.column_family(&place.keyspace, &place.name).is_some() {
        return;
    }
    let Some(keyspace) = catalog.keyspace(&place.keyspace) else {
        return defined.failed.push(format!("{place}: there is no keyspace {}", place.keyspace));
    };
    let Definition { cf, refused, .. } = match table.definition(keyspace, database.types()) {
        Ok(made) => made,
        Err(why) => return defined.failed.push(format!("{place}: {why}")),
    };
    if let Err(error) = database.restore().define(keyspace, &[cf]).await {
        return defined.failed.push(format!("{place}: {error}"));
    }
    defined.left_out.extend(refused);
    for index in &table.indexes {
        defined.failed.extend(run(database, index).await.err());
    }
}

/// Runs a statement. Returns the statement with the reason if it fails.
async fn run(database: &Arc<Database>, statement: &str) -> Result<(), String> {
    let script = Box::pin(cql::run_script_of_operator(database, statement));
    let outcome = database.metered(&RequestLimits::default(), script).await;
    outcome.map(drop).map_err(|error| format!("{statement}: {error}"))
}
