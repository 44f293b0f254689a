//! The indexes that a change of a keyspace adds and drops.
//!
//! An index is dropped in the same change of the store as its definition. Until then every write adds its entries, so
//! that the index is complete if the change fails; but no read may use it when its entries disappear:
//!
//! ```text
//!   1  mark the index as unfinished        new reads check every row instead
//!   2  publish a copy of the schema, and   requests that may still read the index have ended
//!      wait until the former is unused
//!   3  change the store                    definition and entries are gone; writes need no entries from here on
//!   4  publish the new schema              if step 3 fails, the mark is removed instead
//! ```

use std::sync::Arc;

use bytes::Bytes;

use super::change::SchemaChanges;
use super::copies::{own_copy, until_unused};
use crate::index::{Build, build_record};
use base::schema::{CfDef, KeyspaceDef};
use store::StoreChange;

/// An index that a change adds.
pub(super) struct AddedIndex {
    /// The column family that is indexed, and the column.
    pub cf: Arc<CfDef>,
    pub column: Bytes,
    /// The column family of the entries.
    index: Arc<CfDef>,
}

/// The indexes that a change adds and drops.
#[derive(Default)]
pub(super) struct IndexChanges {
    pub added: Vec<AddedIndex>,
    dropped: Vec<Arc<CfDef>>,
    /// Indexes whose values have a new type. They are emptied, and are in `added` too.
    emptied: Vec<Arc<CfDef>>,
}

/// The marks that unfinished indexes had before a change, by the names of their records.
pub(super) type FormerMarks = Vec<(String, Option<Build>)>;

impl IndexChanges {
    /// Returns the changes of the column families that a keyspace has before and after a change.
    pub(super) fn between(before: Option<&KeyspaceDef>, after: &KeyspaceDef) -> IndexChanges {
        let mut changes = IndexChanges::default();
        let Some(before) = before else { return changes };
        for (_, old, new) in after.column_families.changes_since(&before.column_families, Arc::ptr_eq) {
            if let (Some(old), Some(new)) = (old, new) {
                changes.compare(old, new);
            }
        }
        changes
    }

    fn compare(&mut self, old: &CfDef, new: &Arc<CfDef>) {
        let is_in = |cf: &CfDef, column: &Bytes, other: &CfDef| {
            let [own, others] = [cf, other].map(|cf| cf.value_validator(column).class_name());
            other.index_families.contains_key(column) && own == others
        };
        for (column, index) in old.index_families.iter().filter(|(column, _)| !is_in(old, column, new)) {
            let is_there = new.index_families.contains_key(column);
            let changed = if is_there { &mut self.emptied } else { &mut self.dropped };
            changed.push(index.clone());
        }
        let added = new.index_families.iter().filter(|(column, _)| !is_in(new, column, old));
        self.added.extend(added.map(|(column, index)| AddedIndex {
            cf: new.clone(),
            column: column.clone(),
            index: index.clone(),
        }));
    }

    /// Adds the records and the entries of the indexes to a change of the store.
    pub(super) fn add_to(&self, change: &mut StoreChange) {
        change.truncated.clone_from(&self.emptied);
        change.dropped.clone_from(&self.dropped);
        change.records.extend(self.dropped.iter().map(|index| (build_record(index), None)));
        let building =
            |added: &AddedIndex| (build_record(&added.index), Some(Bytes::from_static(b"building")));
        change.records.extend(self.added.iter().map(building));
    }
}

impl SchemaChanges<'_> {
    /// Makes reads check every row instead of using the indexes of a change, and waits until no request reads those that
    /// it drops. No builder completes an index while schema changes are locked.
    pub(super) async fn hide_indexes(&self, changes: &IndexChanges) -> FormerMarks {
        let added = changes.added.iter().map(|added| &added.index);
        let records = added.chain(&changes.dropped).map(|index| build_record(index));
        let former = {
            let mut building = self.database.building.write();
            records.map(|record| (record.clone(), building.insert(record, Build::default()))).collect()
        };
        if !changes.dropped.is_empty() || !changes.emptied.is_empty() {
            let copy = own_copy(&self.database.catalog());
            until_unused(&self.stored().publish(copy)).await;
        }
        former
    }

    /// Returns to the marks before a change that has failed.
    pub(super) fn restore_marks(&self, former: FormerMarks) {
        let mut building = self.database.building.write();
        for (record, mark) in former {
            match mark {
                Some(mark) => building.insert(record, mark),
                None => building.remove(&record),
            };
        }
    }

    /// Removes the marks of indexes that are dropped. The marks of new indexes stay until they are complete.
    pub(super) fn remove_marks(&self, changes: &IndexChanges) {
        let mut building = self.database.building.write();
        changes.dropped.iter().for_each(|index| drop(building.remove(&build_record(index))));
    }
}
