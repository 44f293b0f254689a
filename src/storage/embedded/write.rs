//! Turns mutations into one engine batch. What a row holds is read first, so that only winners are written.

use bytes::Bytes;
use fjall::OwnedWriteBatch;

use super::family::{Family, Trees};
use super::inner::Inner;
use super::key::{self, RowPrefix, SuperPrefix};
use super::row_reader::{Moment, Names, decode_cell};
use super::value::{self, Value};
use crate::marshal::{AbstractType, StoredOrder};
use crate::model::{Behaviour, Cell, CfMutation, DeletionTime, Mutation, SuperColumn, Winner, reconcile};
use crate::schema::CfDef;
use crate::storage::StoreError;
use crate::storage::resolve::resolve;

/// Seconds after which the rows behind a new deletion are tidied up the first time.
const FIRST_TIDY_S: i64 = 600;

/// A batch in the making.
pub struct Writer<'a> {
    inner: &'a Inner,
    behaviour: &'static Behaviour,
    batch: OwnedWriteBatch,
    is_empty: bool,
}

/// The column family of a row that is being written.
struct Place<'a> {
    family: &'a Family,
    trees: &'a Trees,
    cf: &'a CfDef,
}

/// The stored cell that a new one meets.
struct Met {
    /// Where it stands, if that may differ from where the new one will.
    key: Option<Vec<u8>>,
    cell: Cell,
}

impl<'a> Writer<'a> {
    pub fn new(inner: &'a Inner, behaviour: &'static Behaviour) -> Writer<'a> {
        Writer { inner, behaviour, batch: inner.database.batch(), is_empty: true }
    }

    /// The batch; `None` when nothing won.
    pub fn finish(self) -> Option<OwnedWriteBatch> {
        (!self.is_empty).then_some(self.batch)
    }

    /// Adds one mutation. The caller holds its row's lock, and adds no second one of the same row.
    pub fn add(&mut self, mutation: Mutation) -> Result<(), StoreError> {
        let row = RowPrefix::of(&mutation.key, &*self.inner.partitioner);
        for change in mutation.families {
            if !change.changes.is_empty() {
                self.add_family(&row, change)?;
            }
        }
        Ok(())
    }

    fn add_family(&mut self, row: &RowPrefix, change: CfMutation) -> Result<(), StoreError> {
        let family = self.inner.family(&change.cf)?;
        let cf = change.cf.clone();
        let trees = family.trees.read().clone();
        let place = Place { family: &family, trees: &trees, cf: &cf };
        let resolved = resolve(change, self.behaviour);
        if let Some(deletion) = resolved.deletion {
            self.add_deletion(&place, row.marker(), deletion, None)?;
        }
        let columns = row.columns();
        let names = Names::new(&*cf.comparator, self.behaviour.release);
        for cell in resolved.cells {
            self.add_cell(&place, &columns, cell, names)?;
        }
        for super_column in resolved.supers {
            self.add_super(&place, &columns, super_column, names)?;
        }
        Ok(())
    }

    fn add_super(
        &mut self,
        place: &Place<'_>,
        columns: &[u8],
        change: SuperColumn,
        names: Names<'_>,
    ) -> Result<(), StoreError> {
        let Some(subcomparator) = place.cf.subcomparator() else { return Ok(()) };
        let subnames = Names::new(&**subcomparator, self.behaviour.release);
        let name = self.stored_super_name(place, columns, change.name, names)?;
        let holder = SuperPrefix::of(columns, &name, names.stored);
        let kept_name = (!is_told_by_key(&name, names.stored)).then_some(&name[..]);
        if change.deletion != DeletionTime::LIVE || kept_name.is_some() {
            self.add_deletion(place, holder.marker(), change.deletion, kept_name)?;
        }
        let level = holder.cells();
        for cell in change.cells {
            self.add_cell(place, &level, cell, subnames)?;
        }
        Ok(())
    }

    /// The name that the super column already goes by, if the caller's release holds it for the same.
    fn stored_super_name(
        &self,
        place: &Place<'_>,
        columns: &[u8],
        name: Bytes,
        names: Names<'_>,
    ) -> Result<Bytes, StoreError> {
        if names.view.stored_order() == StoredOrder::Exact {
            return Ok(name);
        }
        let snapshot = self.inner.database.snapshot();
        let moment = Moment { trees: place.trees, snapshot: &snapshot };
        Ok(moment.stored_super_name(columns, &name, names)?.unwrap_or(name))
    }

    fn add_cell(
        &mut self,
        place: &Place<'_>,
        level: &[u8],
        cell: Cell,
        names: Names<'_>,
    ) -> Result<(), StoreError> {
        let key = key::cell(level, &cell.name, names.stored);
        if let Some(old) = self.stored_cell(place, level, &key, &cell, names)? {
            if reconcile(&old.cell, &cell, self.behaviour) == Winner::Old {
                return Ok(());
            }
            if let Some(old_key) = old.key.filter(|old_key| *old_key != key) {
                place.trees.remove(&mut self.batch, old_key)?;
            }
        }
        let kept_name = (!is_told_by_key(&cell.name, names.stored)).then_some(&cell.name[..]);
        let value = value::encode_cell(&cell, kept_name);
        self.put(place, key, value)
    }

    fn stored_cell(
        &self,
        place: &Place<'_>,
        level: &[u8],
        key: &[u8],
        cell: &Cell,
        names: Names<'_>,
    ) -> Result<Option<Met>, StoreError> {
        if names.view.stored_order() == StoredOrder::Exact {
            let Some(value) = place.trees.get_latest(key)? else { return Ok(None) };
            let ordered = Bytes::copy_from_slice(&key[level.len()..]);
            return Ok(decode_cell(ordered, &value, names.stored)?.map(|cell| Met { key: None, cell }));
        }
        let snapshot = self.inner.database.snapshot();
        let moment = Moment { trees: place.trees, snapshot: &snapshot };
        let found = moment.find_cell(level, &cell.name, names)?;
        Ok(found.map(|(key, cell)| Met { key: Some(key), cell }))
    }

    fn add_deletion(
        &mut self,
        place: &Place<'_>,
        marker: Vec<u8>,
        deletion: DeletionTime,
        kept_name: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let (old, old_name) =
            match place.trees.get_latest(&marker)?.map(|value| value::decode(&value)).transpose()? {
                Some(Value::Deletion { deletion, name }) => (Some(deletion), name),
                _ => (None, None),
            };
        let merged = old.map_or(deletion, |old| old.merged(deletion));
        if old == Some(merged) {
            return Ok(());
        }
        let was_queued = old.is_some_and(|old| old != DeletionTime::LIVE);
        if !was_queued && deletion != DeletionTime::LIVE {
            let due = i64::from(self.inner.clock.now_s()) + FIRST_TIDY_S;
            self.inner.ledger.queue_deletion(&mut self.batch, due, place.family.id, &marker);
        }
        // A super column keeps the name that it was first written under, whatever is equal to it.
        let kept_name = old_name.as_deref().or(kept_name);
        self.put(place, marker, value::encode_deletion(merged, kept_name))
    }

    fn put(&mut self, place: &Place<'_>, key: Vec<u8>, value: Vec<u8>) -> Result<(), StoreError> {
        self.is_empty = false;
        place.trees.put(&mut self.batch, key, value)
    }
}

/// Whether the key under which a name is stored gives just this name back, so that it need not be kept beside it.
fn is_told_by_key(name: &[u8], stored: &dyn AbstractType) -> bool {
    if stored.ordered_is_name() {
        return true;
    }
    let mut ordered = Vec::with_capacity(name.len() + 9);
    stored.ordered(name, &mut ordered);
    stored.restore(&ordered).as_deref() == Some(name)
}
