//! The difference between two catalogs, as events for clients.

use std::sync::Arc;

use super::{Catalog, KeyspaceDef};
use crate::util::SharedMap;

/// One change of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    /// Whether it was created, updated or dropped.
    pub change: ChangeKind,
    /// The keyspace that changed, or that has what changed.
    pub keyspace: String,
    /// The changed table or type. `None` if the keyspace itself has changed.
    pub target: Option<ChangedTarget>,
}

/// The kinds of changes, in the words of the native protocol's SCHEMA_CHANGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It did not exist before.
    Created,
    /// It existed before and has other properties now.
    Updated,
    /// It no longer exists.
    Dropped,
}

/// A part of a keyspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedTarget {
    /// A column family, by its name.
    Table(String),
    /// A user type, by its name.
    Type(String),
}

impl SchemaChange {
    /// Returns all changes between two catalogs: keyspaces first, then types and tables. If a keyspace was dropped, the
    /// changes do not list its contents.
    pub fn between(old: &Catalog, new: &Catalog) -> Vec<SchemaChange> {
        let mut changes = Vec::new();
        // Keyspaces are not compared, but their contents are.
        let keyspaces = new.keyspaces.changes_since(&old.keyspaces, |_, _| false);
        for (name, _, _) in keyspaces.iter().filter(|(_, _, after)| after.is_none()) {
            changes.push(of(ChangeKind::Dropped, name, None));
        }
        let nothing = KeyspaceDef::new("");
        for (name, before, keyspace) in keyspaces {
            match (before, keyspace) {
                (_, None) => {}
                (None, Some(keyspace)) => {
                    changes.push(of(ChangeKind::Created, name, None));
                    add_parts(&nothing, keyspace, &mut changes);
                }
                (Some(before), Some(keyspace)) => {
                    if !has_same_replication(before, keyspace) {
                        changes.push(of(ChangeKind::Updated, name, None));
                    }
                    add_parts(before, keyspace, &mut changes);
                }
            }
        }
        changes
    }
}

fn of(change: ChangeKind, keyspace: &str, target: Option<ChangedTarget>) -> SchemaChange {
    SchemaChange { change, keyspace: keyspace.to_owned(), target }
}

fn has_same_replication(old: &KeyspaceDef, new: &KeyspaceDef) -> bool {
    old.strategy_class == new.strategy_class
        && old.strategy_options == new.strategy_options
        && old.replication_factor == new.replication_factor
        && old.durable_writes == new.durable_writes
}

fn add_parts(old: &KeyspaceDef, new: &KeyspaceDef, changes: &mut Vec<SchemaChange>) {
    let types = differences(&old.user_types, &new.user_types);
    let types = types.into_iter().map(|(change, name)| (change, ChangedTarget::Type(name)));
    let tables = differences(&old.column_families, &new.column_families);
    let tables = tables.into_iter().map(|(change, name)| (change, ChangedTarget::Table(name)));
    changes.extend(types.chain(tables).map(|(change, target)| of(change, &new.name, Some(target))));
}

/// Returns the differences between two maps. Unchanged definitions are shared between catalogs, so pointers are
/// compared.
fn differences<T>(
    old: &SharedMap<String, Arc<T>>,
    new: &SharedMap<String, Arc<T>>,
) -> Vec<(ChangeKind, String)> {
    let all = new.changes_since(old, Arc::ptr_eq);
    let gone = all.iter().filter(|(_, _, after)| after.is_none());
    let mut found: Vec<(ChangeKind, String)> =
        gone.map(|(name, ..)| (ChangeKind::Dropped, (*name).clone())).collect();
    for (name, before, _) in all.iter().filter(|(_, _, after)| after.is_some()) {
        let change = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Created };
        found.push((change, (*name).clone()));
    }
    found
}
