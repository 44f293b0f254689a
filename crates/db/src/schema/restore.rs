//! Imports definitions and rows from another store; rows keep their timestamps.

use std::sync::Arc;

use super::change::SchemaChanges;
use super::check::SchemaCheck;
use super::request::KsRequest;
use crate::{Database, DbFuture, Result};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::Types;
use base::model::Mutation;
use base::schema::{Catalog, CfDef, KeyspaceDef};
use base::util::{Release, SharedMap};
use store::Capabilities;

/// The release whose rules reconcile an imported row with an existing one.
const RELEASE: Release = NEWEST;

/// The strategy option with the number of replicas.
const REPLICATION_FACTOR: &str = "replication_factor";

/// Imports definitions and rows from another store.
#[derive(Clone, Copy)]
pub struct Restore<'a> {
    database: &'a Arc<Database>,
}

impl Database {
    /// Returns the import from another store.
    pub fn restore(self: &Arc<Self>) -> Restore<'_> {
        Restore { database: self }
    }
}

impl Restore<'_> {
    /// Returns the behaviour with which rows of another store are read and written.
    pub fn behaviour() -> &'static Behaviour {
        Behaviour::of(RELEASE)
    }

    /// Writes rows unchanged, together with their index entries. The other store has already validated them.
    pub fn write(&self, mut mutations: Vec<Mutation>, consistency: ConsistencyLevel) -> DbFuture<'_, ()> {
        Box::pin(async move {
            if self.database.store().capabilities().indexes.is_none() {
                self.database.indexes().add_entries(&mut mutations);
            }
            Ok(self.database.store().apply(mutations, Restore::behaviour(), consistency).await?)
        })
    }

    /// Creates column families of a keyspace as another store defines them, and the keyspace if it does not exist.
    /// Fails if the configuration file defines the keyspace.
    pub fn define<'a>(&'a self, keyspace: &'a KeyspaceDef, families: &'a [Arc<CfDef>]) -> DbFuture<'a, ()> {
        Box::pin(async move {
            let changes = self.database.schema_changes(Restore::behaviour());
            changes.change_newest(|| Box::pin(changes.adopt(keyspace, families))).await
        })
    }
}

impl SchemaChanges<'_> {
    async fn adopt(&self, keyspace: &KeyspaceDef, families: &[Arc<CfDef>]) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let mut adopted = match catalog.keyspace(&keyspace.name) {
            Some(_) => check.changeable(&keyspace.name)?.clone(),
            None => {
                check.new_keyspace_name(&keyspace.name)?;
                let column_families = SharedMap::new();
                KeyspaceDef { column_families, ..of_clients(keyspace) }
            }
        };
        let user_types = keyspace.user_types.iter();
        adopted.user_types.extend(user_types.map(|(name, user)| (name.clone(), user.clone())));
        for (id, cf) in (self.database.ids.next(&catalog)..).zip(families) {
            adopted.column_families.insert(cf.name.clone(), Arc::new(CfDef { id, ..CfDef::clone(cf) }));
        }
        self.change(catalog, adopted).await
    }
}

/// Converts a keyspace to one that a client could have created.
fn of_clients(keyspace: &KeyspaceDef) -> KeyspaceDef {
    let mut made = keyspace.clone();
    made.strategy_class = keyspace.modern_strategy_class().to_owned();
    if made.strategy_options.is_empty() {
        let factor = made.replication_factor.max(1).to_string();
        made.strategy_options.insert(REPLICATION_FACTOR.to_owned(), factor);
    }
    made.is_configured = false;
    made
}

/// Builds the definition of a keyspace from another server's description.
pub fn described_keyspace(request: &KsRequest, types: &Types) -> Result<KeyspaceDef> {
    let catalog = Catalog::default();
    let check = SchemaCheck { catalog: &catalog, types, release: RELEASE, store: Capabilities::default() };
    let mut keyspace = check.keyspace(request)?;
    for family in &request.column_families {
        let cf = check.column_family(family, None)?;
        keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
    }
    Ok(keyspace)
}
