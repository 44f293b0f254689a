//! Turns mutations into one batch of entries. What a row holds is read first, so that only winners are written.

use std::sync::Arc;

use bytes::Bytes;

use super::family::{Family, Trees};
use super::inner::Inner;
use super::key::{self, COLUMNS_LEVEL, ROW_MARKER, RowPrefix, SuperPrefix};
use super::memtable::View;
use super::row_cache::{CachedRow, EntryChange, RowId};
use super::row_reader::{Names, decode_cell};
use super::row_source::RowSource;
use super::value::{self, Value};
use super::write_batch::{BatchBuilder, WriteBatch};
use crate::marshal::{AbstractType, StoredOrder};
use crate::model::{
    Behaviour, Cell, CellKind, CfMutation, DeletionTime, LevelRanges, Mutation, RangeDeletion, SuperColumn,
};
use crate::schema::CfDef;
use crate::storage::StoreError;
use crate::storage::collect::Shadows;
use crate::storage::resolve::{met, resolve};

/// Seconds after which the rows behind a new deletion are tidied up the first time.
const FIRST_TIDY_S: i64 = 600;

/// A batch in the making. It is made under the locks of all rows that it will hold.
pub struct Writer<'a> {
    inner: &'a Inner,
    behaviour: &'static Behaviour,
    /// What the store holds now; made when a row is not in the cache.
    view: Option<View>,
    batch: BatchBuilder,
}

/// The stored cell that a new one meets.
struct Met {
    /// Where it stands, if that may differ from where the new one will.
    key: Option<Vec<u8>>,
    cell: Cell,
}

impl<'a> Writer<'a> {
    pub fn new(inner: &'a Inner, behaviour: &'static Behaviour) -> Writer<'a> {
        Writer { inner, behaviour, view: None, batch: BatchBuilder::default() }
    }

    /// What has been prepared: good until the rows' locks are opened.
    pub fn finish(self) -> Result<Option<WriteBatch>, StoreError> {
        self.batch.finish()
    }

    /// Adds one mutation. The caller holds its row's lock, and adds no second one of the same row.
    pub fn add(&mut self, mutation: Mutation) -> Result<(), StoreError> {
        let row = RowPrefix::of(&mutation.key, &*self.inner.partitioner);
        let mutation = mutation.joined();
        for change in mutation.families {
            if !change.changes.is_empty() {
                self.add_family(&mutation.key, &row, change)?;
            }
        }
        Ok(())
    }

    fn add_family(&mut self, key: &Bytes, row: &RowPrefix, change: CfMutation) -> Result<(), StoreError> {
        let cf = change.cf.clone();
        let family = self.inner.family(&cf)?;
        let trees = family.trees.read().clone();
        let resolved = resolve(change, self.behaviour);
        let id = RowId { family: trees.number, key: key.clone() };
        let cached = self.cached_row(&id, &trees, row)?;
        let view = cached.as_ref().and_then(|cached| cached.view());
        let source = match view {
            Some(view) => RowSource::cached(view),
            None => {
                let view = self.view.get_or_insert_with(|| self.inner.view());
                RowSource::stored(&trees, view, row)
            }
        };
        let mut changes = RowChanges {
            inner: self.inner,
            behaviour: self.behaviour,
            now_s: self.inner.clock.now_s(),
            cf: &cf,
            family: &family,
            row,
            source: &source,
            batch: &mut self.batch,
            changes: Vec::with_capacity(resolved.cells.len() + 1),
        };
        if let Some(deletion) = resolved.deletion {
            changes.add_deletion(ROW_MARKER.to_vec(), deletion, None)?;
        }
        let names = Names::new(&*cf.comparator, self.behaviour.release);
        for range in &resolved.ranges {
            changes.add_range(range)?;
        }
        // What is shadowed matters to counters only: they begin anew.
        let (outer, ranges) =
            if resolved.counts() { changes.row_deletions()? } else { (DeletionTime::LIVE, Vec::new()) };
        let row_ranges = LevelRanges::of_row(&ranges, names.view);
        for cell in resolved.cells {
            let shadows = Shadows::of_row(outer, Some(row_ranges));
            changes.add_cell(COLUMNS_LEVEL, cell, names, shadows)?;
        }
        for super_column in resolved.supers {
            changes.add_super(super_column, names, outer, &ranges)?;
        }
        let changes = changes.changes;
        drop(source);
        let cached = cached.clone().map(|cached| (id, cached));
        self.batch.add(trees.number, row, &changes, cached);
        Ok(())
    }

    /// The row in the cache; loaded there when it is touched often enough.
    fn cached_row(
        &self,
        id: &RowId,
        trees: &Trees,
        row: &RowPrefix,
    ) -> Result<Option<Arc<CachedRow>>, StoreError> {
        match self.inner.row_cache.get(id) {
            Some(cached) => Ok(Some(cached)),
            None if self.inner.row_cache.is_worth_loading(id) => {
                self.inner.load_row(id, trees, row).map(Some)
            }
            None => Ok(None),
        }
    }
}

/// Changes to a row of one column family, by keys relative to the row.
struct RowChanges<'a> {
    inner: &'a Inner,
    behaviour: &'static Behaviour,
    now_s: i32,
    cf: &'a CfDef,
    family: &'a Family,
    row: &'a RowPrefix,
    /// The row as it stands.
    source: &'a RowSource<'a>,
    /// Takes notes of new deletions for the sweeper.
    batch: &'a mut BatchBuilder,
    changes: Vec<EntryChange>,
}

impl RowChanges<'_> {
    /// The row's deletion and tombstones of runs of names as they will be.
    fn row_deletions(&self) -> Result<(DeletionTime, Vec<RangeDeletion>), StoreError> {
        let (stored, mut ranges) = self.source.row_deletions()?;
        let mut deletion = stored;
        for (key, value) in &self.changes {
            match value.as_ref().map(value::decode).transpose()? {
                Some(Value::Deletion { deletion: new, .. }) if key[..] == *ROW_MARKER => deletion = new,
                Some(Value::Range(new)) => {
                    ranges.retain(|old| !old.is_of_same_names(&new));
                    ranges.push(new);
                }
                _ => {}
            }
        }
        Ok((deletion, ranges))
    }

    /// The deletion of a super column as it will be.
    fn deletion(&self, marker: &[u8]) -> Result<DeletionTime, StoreError> {
        let changed = self.changes.iter().rev().find(|(key, _)| key[..] == *marker);
        match changed {
            Some((_, Some(value))) => match value::decode(value)? {
                Value::Deletion { deletion, .. } => Ok(deletion),
                _ => Ok(DeletionTime::LIVE),
            },
            _ => self.source.deletion_at(marker),
        }
    }

    /// Adds the tombstone of a run of names, and notes at the row's deletion that there is one.
    fn add_range(&mut self, new: &RangeDeletion) -> Result<(), StoreError> {
        let key = key::range(new);
        let changed = self.changes.iter().rev().find(|(other, _)| other[..] == key[..]);
        let old = match changed {
            Some((_, value)) => value.clone(),
            None => self.source.get(&key)?,
        };
        let mut merged = new.clone();
        if let Some(Value::Range(old)) = old.as_ref().map(value::decode).transpose()? {
            merged.deletion = old.deletion.merged(new.deletion);
            if merged.deletion == old.deletion {
                return Ok(());
            }
        } else {
            let due = i64::from(self.now_s) + FIRST_TIDY_S;
            self.inner.queue.add(self.batch, due, self.family.id, &self.row.entry(&key));
        }
        let deletion = self.deletion(ROW_MARKER)?;
        self.set(&key, value::encode_range(&merged));
        self.set(ROW_MARKER, value::encode_deletion_with_ranges(deletion));
        Ok(())
    }

    /// Changes an entry that may have been changed before: none may stand twice in a batch.
    fn set(&mut self, key: &[u8], value: Vec<u8>) {
        match self.changes.iter_mut().find(|(other, _)| other[..] == *key) {
            Some((_, old)) => *old = Some(value.into()),
            None => self.changes.push((Bytes::copy_from_slice(key), Some(value.into()))),
        }
    }

    fn add_super(
        &mut self,
        change: SuperColumn,
        names: Names<'_>,
        outer: DeletionTime,
        ranges: &[RangeDeletion],
    ) -> Result<(), StoreError> {
        let Some(subcomparator) = self.cf.subcomparator() else { return Ok(()) };
        let subnames = Names::new(&**subcomparator, self.behaviour.release);
        let name = self.source.stored_super_name(COLUMNS_LEVEL, &change.name, names)?.unwrap_or(change.name);
        let holder = SuperPrefix::of(COLUMNS_LEVEL, &name, names.stored);
        let kept_name = (!is_told_by_key(&name, names.stored)).then_some(&name[..]);
        if change.deletion != DeletionTime::LIVE {
            self.add_deletion(holder.marker(), change.deletion, kept_name)?;
        }
        let level = holder.cells();
        let counts = change.cells.iter().any(|cell| cell.kind == CellKind::Increment);
        let container = if counts { self.deletion(&holder.marker())? } else { DeletionTime::LIVE };
        let container = container.merged(LevelRanges::of_supers(ranges, names.view).over(&name));
        let inside = LevelRanges::of_super(ranges, &name, names.view, subnames.view);
        let unchanged = self.changes.len();
        for cell in change.cells {
            self.add_cell(&level, cell, subnames, Shadows { container, outer, ranges: Some(inside) })?;
        }
        // A super column that stays empty, since its increments are hidden, keeps no name either.
        if change.deletion == DeletionTime::LIVE && kept_name.is_some() && self.changes.len() > unchanged {
            self.add_deletion(holder.marker(), change.deletion, kept_name)?;
        }
        Ok(())
    }

    fn add_cell(
        &mut self,
        level: &[u8],
        cell: Cell,
        names: Names<'_>,
        shadows: Shadows<'_>,
    ) -> Result<(), StoreError> {
        let key = key::cell(level, &cell.name, names.stored);
        let old = self.stored_cell(level, &key, &cell, names)?;
        let (old_key, old) = old.map_or((None, None), |old| (old.key, Some(old.cell)));
        let Some(cell) = met(old, cell, self.behaviour, shadows) else { return Ok(()) };
        if let Some(old_key) = old_key.filter(|old_key| *old_key != key) {
            self.changes.push((old_key.into(), None));
        }
        let kept_name = (!is_told_by_key(&cell.name, names.stored)).then_some(&cell.name[..]);
        let value = value::encode_cell(&cell, kept_name);
        self.changes.push((key.into(), Some(value.into())));
        Ok(())
    }

    /// The cell that a new one meets. A tombstone that gc_grace no longer keeps is none.
    fn stored_cell(
        &self,
        level: &[u8],
        key: &[u8],
        cell: &Cell,
        names: Names<'_>,
    ) -> Result<Option<Met>, StoreError> {
        let met = if names.view.stored_order() == StoredOrder::Exact {
            let Some(value) = self.source.get(key)? else { return Ok(None) };
            // Where the key is the name, the new cell's own name spares a copy.
            let is_name = names.stored.ordered_is_name();
            let ordered =
                if is_name { cell.name.clone() } else { Bytes::copy_from_slice(&key[level.len()..]) };
            decode_cell(ordered, &value, names.stored)?.map(|cell| Met { key: None, cell })
        } else {
            let found = self.source.find_cell(level, &cell.name, names)?;
            found.map(|(key, cell)| Met { key: Some(key), cell })
        };
        let now_s = self.now_s;
        let gc_before = now_s.saturating_sub(self.cf.gc_grace_s);
        let met = met.map(|met| Met { key: met.key, cell: met.cell.at(now_s, self.behaviour) });
        Ok(met.filter(|met| met.key.is_some() || !met.cell.is_purgeable(gc_before)))
    }

    fn add_deletion(
        &mut self,
        marker: Vec<u8>,
        deletion: DeletionTime,
        kept_name: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let (old, old_name, has_ranges) =
            match self.source.get(&marker)?.map(|value| value::decode(&value)).transpose()? {
                Some(Value::Deletion { deletion, name, has_ranges }) => (Some(deletion), name, has_ranges),
                _ => (None, None, false),
            };
        let merged = old.map_or(deletion, |old| old.merged(deletion));
        if old == Some(merged) {
            return Ok(());
        }
        let was_queued = old.is_some_and(|old| old != DeletionTime::LIVE);
        if !was_queued && deletion != DeletionTime::LIVE {
            let due = i64::from(self.now_s) + FIRST_TIDY_S;
            let whole_key = self.row.entry(&marker);
            self.inner.queue.add(self.batch, due, self.family.id, &whole_key);
        }
        // A super column keeps the name that it was first written under, whatever is equal to it.
        let kept_name = old_name.as_deref().or(kept_name);
        let value = if has_ranges {
            value::encode_deletion_with_ranges(merged)
        } else {
            value::encode_deletion(merged, kept_name)
        };
        self.changes.push((marker.into(), Some(value.into())));
        Ok(())
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
