//! Changes of the schema by clients (0.7 and later).
//!
//! Definitions made by clients are stored in metadata records (`records.rs`). Keyspaces of the configuration file are
//! not among them: they are changed in that file. A change is recorded first, then the store prepares for it, then
//! requests see it; a drop first hides what it drops (`drop.rs`). If several servers share a store, the order is
//! different (`shared_change.rs`).

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use super::attempts::Attempts;
use super::check::SchemaCheck;
use super::limits::{check_families, check_keyspaces};
use super::records::{Records, changed_records};
use super::request::{CfRequest, KsRequest};
use super::stored::StoredSchema;
use crate::compat::{Behaviour, texts};
use crate::db::index::{Unfinished, build_record, start_building};
use crate::db::validate::Validation;
use crate::db::{Database, Error};
use crate::schema::{Catalog, CfDef, KeyspaceDef};
use crate::storage::StoreError;

/// The name of an indexed column, and the column family that holds its index.
type NamedIndex = (Bytes, Arc<CfDef>);

/// The future of a change of the schema.
type Change<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// Changes of the schema by clients, with the rules and messages of a release.
#[derive(Clone, Copy)]
pub struct SchemaChanges<'a> {
    pub(super) database: &'a Arc<Database>,
    pub(super) behaviour: &'static Behaviour,
}

impl Database {
    /// Returns the changes of the schema with the rules of a release.
    pub fn schema_changes(self: &Arc<Self>, behaviour: &'static Behaviour) -> SchemaChanges<'_> {
        SchemaChanges { database: self, behaviour }
    }
}

impl<'a> SchemaChanges<'a> {
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
    pub(super) async fn change_newest<'b>(&self, change: impl Fn() -> Change<'b>) -> Result<(), Error> {
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
    pub async fn add_keyspace(&self, request: KsRequest) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_add_keyspace(&request))).await
    }

    async fn try_add_keyspace(&self, request: &KsRequest) -> Result<(), Error> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        check.new_keyspace_name(&request.name)?;
        check_keyspaces(&catalog)?;
        check_families(&catalog, request.column_families.len())?;
        if let Some(other) = request.column_families.iter().find(|cf| cf.keyspace != request.name) {
            return Err(Error::invalid(format!(
                "CfDef ({}) had a keyspace definition that did not match KsDef",
                other.name
            )));
        }
        check.strategy_options(request)?;
        let mut keyspace = check.keyspace(request)?;
        for (id, family) in (self.database.ids.next(&catalog)..).zip(&request.column_families) {
            let cf = CfDef { id, ..check.column_family(family, None)? };
            // If two have the same name, the last one wins, as in the map of the old servers.
            keyspace.column_families.insert(cf.name.clone(), Arc::new(cf));
        }
        self.change(&catalog, keyspace, Vec::new(), &[]).await
    }

    /// Changes a keyspace's replication. Its column families do not change.
    pub async fn update_keyspace(&self, request: KsRequest) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_update_keyspace(&request))).await
    }

    async fn try_update_keyspace(&self, request: &KsRequest) -> Result<(), Error> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let old = check.changeable(&request.name)?;
        if !request.column_families.is_empty() {
            return Err(Error::invalid("Keyspace update must not contain any column family definitions."));
        }
        check.strategy_options(request)?;
        let mut keyspace = check.keyspace(request)?;
        keyspace.column_families = old.column_families.clone();
        keyspace.user_types = old.user_types.clone();
        self.change(&catalog, keyspace, Vec::new(), &[]).await
    }

    /// Creates a column family in a keyspace.
    pub async fn add_column_family(&self, request: CfRequest) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_add_family(&request))).await
    }

    async fn try_add_family(&self, request: &CfRequest) -> Result<(), Error> {
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        let cf = CfDef { id: self.database.ids.next(&catalog), ..check.column_family(request, None)? };
        if catalog.keyspace(&request.keyspace).is_none() {
            return Err(Error::invalid(texts::table_without_keyspace(
                self.behaviour,
                &request.keyspace,
                &request.name,
            )));
        }
        let mut keyspace = check.changeable(&request.keyspace)?.clone();
        if keyspace.column_families.insert(cf.name.clone(), Arc::new(cf)).is_some() {
            return Err(already_there(&request.keyspace, &request.name));
        }
        check_families(&catalog, 1)?;
        self.change(&catalog, keyspace, Vec::new(), &[]).await
    }

    /// Changes a column family. Properties that the request omits return to their defaults; types of names do not
    /// change.
    pub async fn update_column_family(&self, request: CfRequest) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_update_family(&request, Unfinished::Avoided))).await
    }

    /// Does the same for a CQL 2 statement, whose new indexes are used by reads at once.
    pub async fn update_column_family_in_cql(&self, request: CfRequest) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_update_family(&request, Unfinished::Asked))).await
    }

    async fn try_update_family(&self, request: &CfRequest, unfinished: Unfinished) -> Result<(), Error> {
        if unfinished == Unfinished::Asked {
            self.database.indexes().until_built().await;
        }
        let catalog = self.database.catalog();
        let check = self.check(&catalog);
        if self.behaviour.schema.update_finds_family_first {
            // Cassandra 2.0 and 2.1 first check the permission to change the column family, and so whether it exists.
            Validation::new(self.database, &catalog, self.behaviour)
                .family(request.keyspace.as_bytes(), request.name.as_bytes())?;
        }
        let Some(old) = catalog.column_family(&request.keyspace, &request.name).cloned() else {
            return Err(Error::invalid("Could not find column family definition to modify."));
        };
        let mut keyspace = check.changeable(&request.keyspace)?.clone();
        if old.table.is_some() {
            return Err(Error::invalid(format!(
                "Cannot modify CQL3 table {} as it may break the schema. You should use cqlsh to modify CQL3 tables \
                 instead.",
                old.name
            )));
        }
        let new = CfDef { id: old.id, names: old.names.clone(), ..check.column_family(request, Some(&old))? };
        check.compatible(&old, &new)?;
        let (added, dropped) = self.own_index_changes(&old, &new);
        let new = Arc::new(new);
        keyspace.column_families.insert(new.name.clone(), new.clone());
        let record = |index: &Arc<CfDef>, value| (build_record(index), value);
        let mut records: Records = dropped.iter().map(|index| record(index, None)).collect();
        records.extend(added.iter().map(|(_, index)| record(index, Some(Bytes::from_static(b"building")))));
        for (_, index) in &added {
            self.database.building.write().insert(build_record(index), unfinished);
        }
        let before = Arc::downgrade(&catalog);
        self.change(&catalog, keyspace, records, &dropped).await?;
        drop(catalog);
        self.drop_indexes(&new, dropped, &before).await?;
        for (column, _) in added {
            start_building(self.database, new.clone(), column, Some(before.clone()), unfinished);
        }
        Ok(())
    }

    /// Records a changed keyspace and publishes it to requests. Indexes that it no longer has stay in the store,
    /// because requests with the previous schema still write to them.
    pub(super) async fn change(
        &self,
        catalog: &Catalog,
        keyspace: KeyspaceDef,
        records: Records,
        dropped: &[Arc<CfDef>],
    ) -> Result<(), Error> {
        if self.stored().is_shared() {
            return self.change_shared(catalog, keyspace, records).await;
        }
        let mut with = catalog.clone();
        let mut records = records;
        let before = catalog.keyspace(&keyspace.name);
        records.extend(changed_records(before, Some(&keyspace)));
        let (before, after) = (before.cloned(), keyspace.clone());
        with.keyspaces.insert(keyspace.name.clone(), keyspace);
        let mut for_store = with.clone();
        for_store.retained.extend(dropped.iter().cloned());
        let with = Arc::new(with);
        self.stored().put_records(records).await?;
        if let Err(error) = self.database.store().alter(Arc::new(for_store)).await {
            if let Err(error) =
                self.database.store().put_records(changed_records(Some(&after), before.as_ref())).await
            {
                tracing::error!(
                    "a schema change has failed, and its metadata records could not be restored: {error}"
                );
            }
            return Err(refusal(error));
        }
        self.stored().publish(with);
        Ok(())
    }

    /// Returns the column families that hold the indexes of a column family, if this server maintains them itself.
    pub(super) fn own_indexes<'c>(&self, cf: &'c CfDef) -> impl Iterator<Item = &'c Arc<CfDef>> {
        cf.index_families.values().filter(|_| !self.stored().is_shared())
    }

    /// Returns the indexes to build and those to drop, among the indexes that this server maintains itself.
    pub(super) fn own_index_changes(&self, old: &CfDef, new: &CfDef) -> (Vec<NamedIndex>, Vec<Arc<CfDef>>) {
        if self.stored().is_shared() { Default::default() } else { index_changes(old, new) }
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

fn already_there(keyspace: &str, name: &str) -> Error {
    Error::invalid(format!("Cannot add already existing column family \"{name}\" to keyspace \"{keyspace}\""))
}

/// Returns the indexes that are new in a definition, and those that it no longer has. An index whose values have a
/// new type is in both lists.
fn index_changes(old: &CfDef, new: &CfDef) -> (Vec<NamedIndex>, Vec<Arc<CfDef>>) {
    let is_in = |cf: &CfDef, column: &Bytes, other: &CfDef| {
        let validator = |cf: &CfDef| cf.value_validator(column).class_name().to_owned();
        other.index_families.contains_key(column) && validator(cf) == validator(other)
    };
    let added = new.index_families.iter().filter(|(column, _)| !is_in(new, column, old));
    let dropped = old.index_families.iter().filter(|(column, _)| !is_in(old, column, new));
    (
        added.map(|(column, index)| (column.clone(), index.clone())).collect(),
        dropped.map(|(_, index)| index.clone()).collect(),
    )
}
