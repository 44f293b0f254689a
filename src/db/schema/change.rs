//! Changes of the schema by clients (0.7 and later).
//!
//! What clients make is kept in the store, in metadata records (`notes.rs`). The keyspaces of the configuration file are not
//! among it: those are changed there. A change is noted first, then the store gets ready for it, then requests
//! see it; what is dropped is hidden first. Where servers share a store the order is another (`shared_change.rs`).

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::check::SchemaCheck;
use super::limits::{check_families, check_keyspaces};
use super::notes::{KeyspaceRecord, changed_notes, noted_in_full};
use super::request::{CfRequest, KsRequest};
use crate::compat::{Behaviour, texts};
use crate::db::index::{Unfinished, build_note, start_building};
use crate::db::login::Resource;
use crate::db::reserved::SYSTEM_KEYSPACE;
use crate::db::{Database, Error};
use crate::partitioner::TokenForm;
use crate::schema::{Catalog, CfDef, KeyspaceDef, keyspace_to_json};
use crate::storage::StoreError;

/// How long a change waits for requests that have the schema from before, and how often it asks.
pub(in crate::db) const PATIENCE: Duration = Duration::from_secs(5);
pub(in crate::db) const ASK_EVERY: Duration = Duration::from_millis(1);

/// What the note of a keyspace begins with; its name follows.
pub(in crate::db) const KEYSPACE_NOTE: &str = "keyspace/";

/// An indexed column's name, and what holds the index.
pub(in crate::db) type NamedIndex = (Bytes, Arc<CfDef>);

/// Which names the entries of CQL tables' indexes have.
const ENTRIES_NOTE: &str = "cql index entries";

pub(in crate::db) type Notes = Vec<(String, Option<Bytes>)>;

impl Database {
    /// Takes up the keyspaces that clients have made in an earlier run, and goes on building their indexes.
    pub async fn load_schema(self: &Arc<Self>) -> Result<(), Error> {
        let version = self.shared_version().await?;
        let notes = self.store().notes().await?;
        let mut catalog = Catalog::clone(&self.catalog());
        let mut renewed = Notes::new();
        for KeyspaceRecord { name, read } in noted_in_full(&notes, &self.parts.types) {
            let (keyspace, is_one_record) = match read {
                Ok(read) => read,
                // A newer server has made it, and serves it.
                Err(error) if self.shares_schema() => {
                    tracing::error!("keyspace {name} is not served: {error}");
                    continue;
                }
                Err(error) => return Err(Error::Internal(error.to_string())),
            };
            if catalog.keyspaces.contains_key(name) {
                tracing::warn!(
                    "keyspace {name}: clients have made one of this name, and the configuration file now defines \
                     another, which is served"
                );
                continue;
            }
            if is_one_record && !self.shares_schema() {
                renewed.extend(changed_notes(None, Some(&keyspace)));
            }
            catalog.keyspaces.insert(name.to_owned(), keyspace);
        }
        let catalog = Arc::new(catalog);
        if !renewed.is_empty() {
            self.store().note(renewed).await?;
        }
        self.store().alter(own_copy(&catalog)).await?;
        // Only now: it may read newer notes, and tables are made by those that the catalog is of.
        self.load_roles(&notes).await?;
        self.catalog.store(catalog.clone());
        self.has_loaded(version, &notes);
        if self.shares_schema() {
            // The cluster keeps the indexes.
            return Ok(());
        }
        let notes = self.with_renewed_indexes(&catalog, notes).await?;
        for cf in catalog.column_families() {
            for (column, index) in &cf.index_families {
                let note = build_note(index);
                if notes.iter().any(|(name, _)| *name == note) {
                    start_building(self, cf.clone(), column.clone(), None, Unfinished::Avoided);
                }
            }
        }
        Ok(())
    }

    /// Empties the indexes of CQL tables whose entries an earlier version has named so that they do not sort in ring order,
    /// and notes that they are to be built; answers with the notes as they are then. Where tokens come first in the
    /// names, they do sort so.
    async fn with_renewed_indexes(
        &self,
        catalog: &Catalog,
        notes: Vec<(String, Bytes)>,
    ) -> Result<Vec<(String, Bytes)>, Error> {
        if notes.iter().any(|(name, _)| name == ENTRIES_NOTE) {
            return Ok(notes);
        }
        let mut changed: Notes = vec![(ENTRIES_NOTE.to_owned(), Some(Bytes::from_static(b"2")))];
        if matches!(self.parts.partitioner.token_form(), TokenForm::IsKey) {
            for cf in catalog.column_families().filter(|cf| cf.table.is_some()) {
                for index in cf.index_families.values() {
                    self.store().truncate(index.clone()).await?;
                    changed.push((build_note(index), Some(Bytes::from_static(b"building"))));
                }
            }
        }
        self.store().note(changed).await?;
        Ok(self.store().notes().await?)
    }

    pub(in crate::db) fn schema_check<'a>(
        &'a self,
        catalog: &'a Catalog,
        behaviour: &Behaviour,
    ) -> SchemaCheck<'a> {
        SchemaCheck {
            catalog,
            types: &self.parts.types,
            release: behaviour.release,
            store: self.store().capabilities(),
        }
    }

    /// Makes a keyspace with its column families.
    pub async fn add_keyspace(&self, request: KsRequest, behaviour: &Behaviour) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_add_keyspace(&request, behaviour))).await
    }

    async fn try_add_keyspace(&self, request: &KsRequest, behaviour: &Behaviour) -> Result<(), Error> {
        let catalog = self.catalog();
        let check = self.schema_check(&catalog, behaviour);
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
        for (id, family) in (self.ids.next(&catalog)..).zip(&request.column_families) {
            let cf = CfDef { id, ..check.column_family(family, None)? };
            if keyspace.column_families.insert(cf.name.clone(), Arc::new(cf)).is_some() {
                return Err(already_there(&request.name, &family.name));
            }
        }
        self.change(&catalog, keyspace, Vec::new(), &[]).await
    }

    /// Changes a keyspace's replication. Its column families stay.
    pub async fn update_keyspace(&self, request: KsRequest, behaviour: &Behaviour) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_update_keyspace(&request, behaviour))).await
    }

    async fn try_update_keyspace(&self, request: &KsRequest, behaviour: &Behaviour) -> Result<(), Error> {
        let catalog = self.catalog();
        let check = self.schema_check(&catalog, behaviour);
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

    /// Drops a keyspace with all its data.
    pub async fn drop_keyspace(&self, name: &str, behaviour: &Behaviour) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_drop_keyspace(name, behaviour))).await
    }

    async fn try_drop_keyspace(&self, name: &str, behaviour: &Behaviour) -> Result<(), Error> {
        let catalog = self.catalog();
        let check = self.schema_check(&catalog, behaviour);
        if behaviour.schema.drop_refuses_system && name.eq_ignore_ascii_case(SYSTEM_KEYSPACE) {
            check.changeable(name)?;
        }
        if catalog.keyspace(name).is_none() && check.changeable(name).is_err() {
            return Err(Error::invalid(texts::unknown_keyspace_to_drop(behaviour, name)));
        }
        let keyspace = check.changeable(name)?.clone();
        let mut without = Catalog::clone(&catalog);
        without.keyspaces.remove(name);
        let families: Vec<Arc<CfDef>> = keyspace.column_families.values().cloned().collect();
        let notes = match self.shares_schema() {
            true => vec![(format!("{KEYSPACE_NOTE}{name}"), None)],
            false => changed_notes(Some(&keyspace), None),
        };
        drop(catalog);
        self.drop_families(without, families, notes, Resource::Keyspace(name.to_owned())).await
    }

    /// Makes a column family in a keyspace.
    pub async fn add_column_family(&self, request: CfRequest, behaviour: &Behaviour) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_add_family(&request, behaviour))).await
    }

    async fn try_add_family(&self, request: &CfRequest, behaviour: &Behaviour) -> Result<(), Error> {
        let catalog = self.catalog();
        let check = self.schema_check(&catalog, behaviour);
        let cf = CfDef { id: self.ids.next(&catalog), ..check.column_family(request, None)? };
        if catalog.keyspace(&request.keyspace).is_none() {
            return Err(Error::invalid(texts::table_without_keyspace(
                behaviour,
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

    /// Changes a column family: what the request does not say is back at its default. Types of names stay.
    pub async fn update_column_family(
        self: &Arc<Self>,
        request: CfRequest,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_update_family(&request, behaviour, Unfinished::Avoided)))
            .await
    }

    /// The same for a statement of CQL 2, whose indexes are asked at once.
    pub async fn update_column_family_in_cql(
        self: &Arc<Self>,
        request: CfRequest,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_update_family(&request, behaviour, Unfinished::Asked))).await
    }

    async fn try_update_family(
        self: &Arc<Self>,
        request: &CfRequest,
        behaviour: &'static Behaviour,
        unfinished: Unfinished,
    ) -> Result<(), Error> {
        if unfinished == Unfinished::Asked {
            self.until_built().await;
        }
        let catalog = self.catalog();
        let check = self.schema_check(&catalog, behaviour);
        if behaviour.schema.update_finds_family_first {
            // Cassandra 2.1 asks for the right to change it first, and so whether it is there.
            self.validation(&catalog, behaviour)
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
        let note = |index: &Arc<CfDef>, value| (build_note(index), value);
        let mut notes: Notes = dropped.iter().map(|index| note(index, None)).collect();
        notes.extend(added.iter().map(|(_, index)| note(index, Some(Bytes::from_static(b"building")))));
        for (_, index) in &added {
            self.building.write().insert(build_note(index), unfinished);
        }
        let before = Arc::downgrade(&catalog);
        self.change(&catalog, keyspace, notes, &dropped).await?;
        drop(catalog);
        self.drop_indexes(&new, dropped, &before).await?;
        for (column, _) in added {
            start_building(self, new.clone(), column, Some(before.clone()), unfinished);
        }
        Ok(())
    }

    /// Forgets indexes that are no longer defined, once nobody writes to them.
    pub(in crate::db) async fn drop_indexes(
        &self,
        cf: &CfDef,
        dropped: Vec<Arc<CfDef>>,
        before: &Weak<Catalog>,
    ) -> Result<(), Error> {
        if dropped.is_empty() {
            return Ok(());
        }
        until_unused(before).await;
        for index in dropped {
            if cf.index_families.values().any(|other| other.name == index.name) {
                self.store().truncate(index).await?;
            } else {
                self.store().drop_family(index).await?;
            }
        }
        Ok(self.store().alter(own_copy(&self.catalog())).await?)
    }

    /// Drops a column family with all its data.
    pub async fn drop_column_family(
        &self,
        keyspace: &str,
        name: &str,
        behaviour: &Behaviour,
    ) -> Result<(), Error> {
        self.change_newest(|| Box::pin(self.try_drop_family(keyspace, name, behaviour))).await
    }

    async fn try_drop_family(&self, keyspace: &str, name: &str, behaviour: &Behaviour) -> Result<(), Error> {
        let catalog = self.catalog();
        let check = self.schema_check(&catalog, behaviour);
        let Some(cf) = catalog.column_family(keyspace, name).cloned() else {
            return Err(Error::invalid(texts::unknown_table_to_drop(behaviour, name)));
        };
        let before = check.changeable(keyspace)?;
        let mut changed = before.clone();
        changed.column_families.remove(name);
        let notes = match self.shares_schema() {
            true => vec![keyspace_note(&changed)],
            false => changed_notes(Some(before), Some(&changed)),
        };
        let mut without = Catalog::clone(&catalog);
        without.keyspaces.insert(keyspace.to_owned(), changed);
        drop(catalog);
        let dropped = Resource::Table(keyspace.to_owned(), name.to_owned());
        self.drop_families(without, vec![cf], notes, dropped).await
    }

    /// Notes and serves a keyspace as it is now. Indexes that it no longer has stay in the store: requests that
    /// have the schema from before still write to them.
    pub(in crate::db) async fn change(
        &self,
        catalog: &Catalog,
        keyspace: KeyspaceDef,
        notes: Notes,
        dropped: &[Arc<CfDef>],
    ) -> Result<(), Error> {
        if self.shares_schema() {
            return self.change_shared(catalog, keyspace, notes).await;
        }
        let mut with = catalog.clone();
        let mut notes = notes;
        let before = catalog.keyspace(&keyspace.name);
        notes.extend(changed_notes(before, Some(&keyspace)));
        let (before, after) = (before.cloned(), keyspace.clone());
        with.keyspaces.insert(keyspace.name.clone(), keyspace);
        let mut for_store = with.clone();
        for_store.retained.extend(dropped.iter().cloned());
        let with = Arc::new(with);
        self.note(notes).await?;
        if let Err(error) = self.store().alter(Arc::new(for_store)).await {
            if let Err(error) = self.store().note(changed_notes(Some(&after), before.as_ref())).await {
                tracing::error!("a change of the schema has failed, and the note of it stays: {error}");
            }
            return Err(refusal(error));
        }
        self.publish(with);
        Ok(())
    }

    /// Hides column families, then forgets what was granted on them, then their data: should the server end in
    /// between, what comes back is nobody's rather than everybody's who had it.
    async fn drop_families(
        &self,
        without: Catalog,
        families: Vec<Arc<CfDef>>,
        mut notes: Notes,
        dropped: Resource,
    ) -> Result<(), Error> {
        if self.shares_schema() {
            return self.drop_shared(without, &families, notes, &dropped).await;
        }
        let without = Arc::new(without);
        let before = self.publish(without.clone());
        self.forget_grants(&dropped).await?;
        until_unused(&before).await;
        for cf in families {
            for index in self.own_indexes(&cf) {
                self.store().drop_family(index.clone()).await?;
                notes.push((build_note(index), None));
            }
            self.store().drop_family(cf).await?;
        }
        self.note(notes).await?;
        Ok(self.store().alter(own_copy(&without)).await?)
    }
}

impl Database {
    /// The column families that hold the indexes of one, where we keep them ourselves.
    pub(in crate::db) fn own_indexes<'a>(&self, cf: &'a CfDef) -> impl Iterator<Item = &'a Arc<CfDef>> {
        cf.index_families.values().filter(|_| !self.shares_schema())
    }

    /// What is to be built and to be dropped of the indexes that we keep ourselves.
    pub(in crate::db) fn own_index_changes(
        &self,
        old: &CfDef,
        new: &CfDef,
    ) -> (Vec<NamedIndex>, Vec<Arc<CfDef>>) {
        if self.shares_schema() { Default::default() } else { index_changes(old, new) }
    }
}

/// The store's own copy of a schema: it keeps it, and whether requests still use theirs must be told.
pub(in crate::db) fn own_copy(catalog: &Catalog) -> Arc<Catalog> {
    Arc::new(catalog.clone())
}

/// Waits until no request uses a schema any more, but not for ever: one may wait for its client.
async fn until_unused(schema: &Weak<Catalog>) {
    let started = Instant::now();
    while schema.strong_count() > 0 && started.elapsed() < PATIENCE {
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// What a client is told of tables that cannot be made: what passes by itself, or what is wrong with its definition.
pub(in crate::db) fn refusal(error: StoreError) -> Error {
    match error {
        StoreError::Unavailable { .. }
        | StoreError::TimedOut(_)
        | StoreError::Overloaded(_)
        | StoreError::SchemaDisagreement(_) => error.into(),
        _ => Error::invalid(error.to_string()),
    }
}

pub(in crate::db) fn keyspace_note(keyspace: &KeyspaceDef) -> (String, Option<Bytes>) {
    (format!("{KEYSPACE_NOTE}{}", keyspace.name), Some(keyspace_to_json(keyspace).into()))
}

fn already_there(keyspace: &str, name: &str) -> Error {
    Error::invalid(format!("Cannot add already existing column family \"{name}\" to keyspace \"{keyspace}\""))
}

/// The indexes that one definition has and another has not: those that are new, and those that are gone. An
/// index whose values are of another type now is both.
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
