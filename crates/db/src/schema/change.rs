//! Changes of the schema by clients (0.7 and later).
//!
//! Definitions made by clients are stored in metadata records (`records.rs`). Keyspaces of the configuration file are
//! not among them: they are changed in that file. A change is one change of the store, definitions and data together; then
//! requests see it. A drop first hides what it drops (`drop.rs`, `index_changes.rs`). If several servers share a store,
//! a change has several steps (`shared_change.rs`).

use std::sync::Arc;

use super::attempts::Attempts;
use super::check::SchemaCheck;
use super::copies::own_copy;
use super::index_changes::{AddedIndex, IndexChanges};
use super::limits::{check_families, check_keyspaces};
use super::records::changed_records;
use super::request::{CfRequest, KsRequest};
use super::stored::StoredSchema;
use crate::database::CatalogNow;
use crate::error::invalid;
use crate::index::start_building;
use crate::login::{Resource, Roles, User};
use crate::validate::Validation;
use crate::{Database, DbFuture, Error, Result};
use base::compat::{Behaviour, texts};
use base::schema::{Catalog, CfDef, KeyspaceDef};
use store::{StoreChange, StoreError};

/// Changes of the schema by clients, with the rules and messages of a release.
#[derive(Clone, Copy)]
pub struct SchemaChanges<'a> {
    pub(super) database: &'a Arc<Database>,
    pub(super) behaviour: &'static Behaviour,
    /// The user who gets all permissions on the keyspaces and column families that a change creates. `None` if
    /// permissions are not enforced.
    maker: Option<&'a User>,
}

impl Database {
    /// Returns the changes of the schema with the rules of a release.
    pub fn schema_changes(self: &Arc<Self>, behaviour: &'static Behaviour) -> SchemaChanges<'_> {
        SchemaChanges { database: self, behaviour, maker: None }
    }
}

impl<'a> SchemaChanges<'a> {
    /// Returns the changes of a user. Only roles can have grants.
    #[must_use]
    pub fn by(self, user: Option<&'a User>) -> SchemaChanges<'a> {
        SchemaChanges { maker: user.filter(|_| self.database.logins().enforces_permissions()), ..self }
    }

    pub(super) fn stored(&self) -> StoredSchema<'a> {
        self.database.stored_schema()
    }

    pub(super) fn check<'c>(&'c self, catalog: &'c Catalog) -> SchemaCheck<'c> {
        SchemaCheck {
            catalog,
            types: self.database.types(),
            release: self.behaviour.release,
            store: self.database.store().capabilities(),
        }
    }

    /// Runs a change of the schema on the newest schema, while no other change runs on this server, and repeats it if
    /// another server's change interrupted it.
    pub(super) async fn change_newest<'b>(&self, change: impl Fn() -> DbFuture<'b, ()>) -> Result<()> {
        let _changing = self.database.changing.lock().await;
        let mut attempts = Attempts::begin();
        loop {
            self.stored().load_newest().await?;
            let outcome = change().await;
            if !attempts.go_on_after(&outcome).await {
                return outcome;
            }
        }
    }

    /// Creates a keyspace with its column families.
    pub fn add_keyspace(&self, request: KsRequest) -> DbFuture<'_, ()> {
        Box::pin(async move { self.change_newest(|| Box::pin(self.try_add_keyspace(&request))).await })
    }

    async fn try_add_keyspace(&self, request: &KsRequest) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        check.new_keyspace_name(&request.name)?;
        check_keyspaces(&catalog)?;
        check_families(&catalog, request.column_families.len())?;
        if let Some(other) = request.column_families.iter().find(|cf| cf.keyspace != request.name) {
            return invalid(format!(
                "CfDef ({}) had a keyspace definition that did not match KsDef",
                other.name
            ));
        }
        check.strategy_options(request)?;
        let mut keyspace = check.keyspace(request)?;
        for (id, family) in (self.database.ids.next(&catalog)..).zip(&request.column_families) {
            let cf = CfDef { id, ..check.column_family(family, None)? };
            // If two have the same name, the last one wins, as in the map of the old servers.
            keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
        }
        self.change(catalog, keyspace).await
    }

    /// Changes a keyspace's replication. Its column families do not change.
    pub fn update_keyspace(&self, request: KsRequest) -> DbFuture<'_, ()> {
        Box::pin(async move { self.change_newest(|| Box::pin(self.try_update_keyspace(&request))).await })
    }

    async fn try_update_keyspace(&self, request: &KsRequest) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let old = check.changeable(&request.name)?;
        if !request.column_families.is_empty() {
            return invalid(texts::tables_in_keyspace_update(self.behaviour));
        }
        check.strategy_options(request)?;
        let mut keyspace = check.keyspace(request)?;
        keyspace.column_families = old.column_families.clone();
        keyspace.user_types = old.user_types.clone();
        self.change(catalog, keyspace).await
    }

    /// Creates a column family in a keyspace.
    pub fn add_column_family(&self, request: CfRequest) -> DbFuture<'_, ()> {
        Box::pin(async move { self.change_newest(|| Box::pin(self.try_add_family(&request))).await })
    }

    async fn try_add_family(&self, request: &CfRequest) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let cf = CfDef { id: self.database.ids.next(&catalog), ..check.column_family(request, None)? };
        if catalog.keyspace(&request.keyspace).is_none() {
            return invalid(texts::table_without_keyspace(self.behaviour, &request.keyspace, &request.name));
        }
        let mut keyspace = check.changeable(&request.keyspace)?.clone();
        if keyspace.column_families.insert(cf.name.clone(), Arc::new(cf)).is_some() {
            return Err(already_there(self.behaviour, &request.keyspace, &request.name));
        }
        check_families(&catalog, 1)?;
        self.change(catalog, keyspace).await
    }

    /// Changes a column family. Properties that the request omits return to their defaults; types of names do not
    /// change.
    pub fn update_column_family(&self, request: CfRequest) -> DbFuture<'_, ()> {
        Box::pin(async move { self.change_newest(|| Box::pin(self.try_update_family(&request))).await })
    }

    async fn try_update_family(&self, request: &CfRequest) -> Result<()> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        if self.behaviour.schema.update_finds_family_first {
            // Cassandra 2.0 and 2.1 first check the permission to change the column family, and so whether it exists.
            Validation::new(self.database.clock(), &catalog, self.behaviour)
                .family(request.keyspace.as_bytes(), request.name.as_bytes())?;
        }
        let Some(old) = catalog.column_family(&request.keyspace, &request.name).cloned() else {
            return invalid("Could not find column family definition to modify.");
        };
        let mut keyspace = check.changeable(&request.keyspace)?.clone();
        if old.table.is_some() {
            return invalid(format!(
                "Cannot modify CQL3 table {} as it may break the schema. You should use cqlsh to modify CQL3 tables \
                 instead.",
                old.name
            ));
        }
        let new = CfDef { id: old.id, names: old.names.clone(), ..check.column_family(request, Some(&old))? };
        check.compatible(&old, &new)?;
        keyspace.column_families.insert(new.name.clone(), Arc::new(new));
        self.change(catalog, keyspace).await
    }

    /// Changes a keyspace in the store: its definition, the column families that it adds, its indexes, and what the maker
    /// is granted, in one change. Then publishes the keyspace to requests and builds the new indexes. If the change
    /// fails, nothing has changed.
    pub(super) fn change(&self, catalog: CatalogNow, keyspace: KeyspaceDef) -> DbFuture<'_, ()> {
        Box::pin(async move {
            let before = catalog.keyspace(&keyspace.name);
            let made = made_resources(before, &keyspace);
            let grant = |roles: &mut Roles| {
                for (maker, made) in
                    self.maker.iter().flat_map(|maker| made.iter().map(move |made| (maker, made)))
                {
                    roles.grant(&maker.name, made, made.applicable());
                }
                Ok::<(), Error>(())
            };
            if self.stored().is_shared() {
                self.change_shared(&catalog, keyspace).await?;
                return match self.maker {
                    Some(_) => self.database.logins().change_roles_alone(grant).await,
                    None => Ok(()),
                };
            }
            let indexes = IndexChanges::between(before, &keyspace);
            let records = changed_records(before, Some(&keyspace));
            let mut with = Catalog::clone(&catalog);
            with.keyspaces.insert(keyspace.name.clone(), keyspace);
            // This change would wait for itself.
            drop(catalog);
            let marks = self.hide_indexes(&indexes).await;
            let mut change = StoreChange { records, ..StoreChange::to_catalog(own_copy(&with)) };
            indexes.add_to(&mut change);
            let changed = self.database.roles.try_change(&**self.database.store(), change, grant).await;
            if let Err(error) = changed {
                self.restore_marks(marks);
                return Err(error);
            }
            let before = self.stored().publish(Arc::new(with));
            self.remove_marks(&indexes);
            for AddedIndex { cf, column, .. } in indexes.added {
                start_building(self.database, cf, column, Some(before.clone()));
            }
            Ok(())
        })
    }

    /// Returns the column families that hold the indexes of a column family, if this server maintains them itself.
    pub(super) fn own_indexes<'c>(&self, cf: &'c CfDef) -> impl Iterator<Item = &'c Arc<CfDef>> {
        cf.index_families.values().filter(|_| !self.stored().is_shared())
    }
}

/// Converts the error of a store that cannot create tables: temporary errors stay as they are, any other becomes an
/// invalid request.
pub(super) fn refusal(error: StoreError) -> Error {
    match error {
        StoreError::Unavailable { .. }
        | StoreError::TimedOut(_)
        | StoreError::Overloaded(_)
        | StoreError::SchemaDisagreement(_) => error.into(),
        _ => Error::invalid(error.to_string()),
    }
}

/// Returns the keyspace if it is new, or its new column families.
fn made_resources(before: Option<&KeyspaceDef>, after: &KeyspaceDef) -> Vec<Resource> {
    let Some(before) = before else { return vec![Resource::Keyspace(after.name.clone())] };
    let changes = after.column_families.changes_since(&before.column_families, Arc::ptr_eq);
    let new = changes.into_iter().filter(|(_, before, _)| before.is_none());
    new.map(|(name, ..)| Resource::Table(after.name.clone(), name.clone())).collect()
}

fn already_there(behaviour: &Behaviour, keyspace: &str, name: &str) -> Error {
    Error::invalid(texts::existing_table(behaviour, name, keyspace))
}
