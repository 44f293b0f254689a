//! Converts mutations to one batch of changed entries. The existing cells of a row are read first, so that only cells
//! that win are written.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::Guard;
use bytes::Bytes;
use smallvec::SmallVec;

use super::blocking::BlockingPermit;
use super::families::{FamilySet, OpenFamily};
use super::key::{self, COLUMNS_LEVEL, ROW_MARKER, RowPrefix, SuperPrefix};
use super::locks::HeldRows;
use super::log::ChangeList;
use super::memtable::MemoryView;
use super::read_path::ReadPath;
use super::row_cache::{CachedRow, RowId};
use super::row_reader::{Names, decode_cell};
use super::row_source::RowSource;
use super::tables::Tables;
use super::value::{self, Value};
use super::write_batch::{Cached, WriteBatch};
use super::write_path::WritePath;
use base::compat::Behaviour;
use base::marshal::{AbstractType, StoredOrder};
use base::model::{
    Cell, CellKind, CellView, CfMutation, Change, ChangeView, DeletionTime, LevelRanges, Mutation,
    RangeTombstone, SuperColumn, Winner, reconcile,
};
use base::schema::CfDef;
use store::Result;
use store::collect::Shadows;
use store::resolve::{ResolvedRow, resolve, total_to_store};

/// Seconds after which the sweeper first removes the entries that a new deletion shadows.
const FIRST_SWEEP_S: i64 = 600;

/// Where a write finds the existing cells of its row.
pub(crate) struct RowLocation<'a> {
    family: &'a Arc<OpenFamily>,
    tables: Guard<Arc<Tables>>,
    id: RowId,
    /// The row in the cache, if it is there.
    cached: Option<Arc<CachedRow>>,
    /// Whether tables must be read. Not if the row is cached, there are no tables, or the write is newer than all cells
    /// in them.
    pub must_wait: bool,
}

/// Where the existing cells of some mutations' rows are found.
pub(crate) struct RowLookup<'a> {
    /// One for each column family of each mutation, if it has changes.
    pub found: SmallVec<[RowLocation<'a>; 1]>,
    /// Memtables and tables, seen before `Tables::newest` was read: an entry that is not in these memtables is in
    /// tables that `newest` includes. `None` if all rows are cached.
    pub view: Option<MemoryView>,
}

/// Looks up the rows of some mutations. The rows are locked.
pub(crate) fn look_up<'a>(
    read: &ReadPath,
    families: &'a FamilySet,
    mutations: &[Mutation],
    behaviour: &Behaviour,
    _: &HeldRows<'_>,
) -> Result<RowLookup<'a>> {
    let mut look_up = RowLookup { found: SmallVec::new(), view: None };
    for mutation in mutations {
        for change in mutation.families.iter().filter(|change| !change.changes.is_empty()) {
            let family = families.family(&change.cf)?;
            let tables = family.tables.load();
            let id = RowId { family: tables.number, key: mutation.key.clone() };
            let cached = read.row_cache.get(&id);
            let is_cached = cached.as_ref().is_some_and(|cached| cached.view().is_some());
            if !is_cached {
                look_up.view.get_or_insert_with(|| read.view());
            }
            let beats_tables = is_cached || tables.is_empty() || is_newer(change, tables.newest(), behaviour);
            look_up.found.push(RowLocation { family, tables, id, cached, must_wait: !beats_tables });
        }
    }
    Ok(look_up)
}

/// Returns whether a mutation can be applied without reading tables: all its changes are cells with later timestamps
/// than `newest`. Not so for counters, which are added to the existing value; for deletions, which are merged with the
/// existing one; and for comparators by which different names can be equal, where the existing name is kept.
fn is_newer(change: &CfMutation, newest: i64, behaviour: &Behaviour) -> bool {
    let names = Names::new(&*change.cf.comparator, behaviour.release);
    let is_plain = |timestamp: i64, kind: CellKind| {
        timestamp > newest && !matches!(kind, CellKind::Counter | CellKind::Increment)
    };
    names.view.stored_order() == StoredOrder::Exact
        && change.changes.views().all(|view| match view {
            ChangeView::Cell(cell) => is_plain(cell.timestamp, cell.kind),
            ChangeView::Other(Change::Cell { super_column: Some(name), cell }) => {
                is_plain(cell.timestamp, cell.kind) && is_restored_from_key(name, names.stored)
            }
            ChangeView::Other(_) => false,
        })
}

/// Builds a batch. The caller holds the locks of all rows of the batch.
pub(crate) struct RowWriter<'a, 'l> {
    pub path: &'a WritePath,
    pub behaviour: &'static Behaviour,
    pub rows: &'a HeldRows<'l>,
    /// Required to add a row whose `must_wait` is set.
    pub may_wait: Option<&'a BlockingPermit>,
    /// Memtables and tables. `Some` if a row is not in the cache.
    pub view: Option<MemoryView>,
    pub batch: WriteBatch,
}

/// The cells of a row or of a super column.
struct CellLevel<'a> {
    /// The beginning of their keys.
    prefix: &'a [u8],
    names: Names<'a>,
    shadows: Shadows<'a>,
}

/// The existing cell of the same name as a new one.
struct OldCell {
    /// Its key, if that may differ from the new cell's key.
    key: Option<Vec<u8>>,
    cell: Cell,
}

impl RowWriter<'_, '_> {
    /// Adds the changes of a mutation to one column family. A row of a column family must not be added twice.
    pub(crate) fn add(&mut self, key: &Bytes, change: CfMutation, found: RowLocation<'_>) -> Result<()> {
        let cf = change.cf.clone();
        let read = &*self.path.read;
        let RowLocation { family, tables, id, cached: in_cache, must_wait } = found;
        debug_assert!(id.key == key, "the changes would be reconciled with another row");
        debug_assert!(
            family.definition.load().name == cf.name,
            "the changes would go to another column family"
        );
        debug_assert!(read.locks.are_held(self.rows, key), "a concurrent write of the row would be lost");
        let resolved = resolve(change, self.behaviour);
        let row = match &in_cache {
            Some(cached) => Cow::Borrowed(cached.prefix()),
            None => Cow::Owned(read.prefix_of(key)),
        };
        let may_wait = if must_wait { self.may_wait } else { None };
        assert!(
            !must_wait || may_wait.is_some(),
            "a write that needs the disk was given to a thread that may not wait"
        );
        let loaded = match &self.view {
            Some(view)
                if must_wait
                    && in_cache.is_none()
                    // A bulk load does not come back to a row.
                    && !self.path.ahead.is_loading()
                    && read.row_cache.is_worth_loading(&id) =>
            {
                let source = RowSource::stored(&tables, view, &row, may_wait);
                Some(read.load_row(&id, &row, &source, self.rows)?)
            }
            _ => None,
        };
        let cached = in_cache.as_ref().or(loaded.as_ref());
        let source = match cached.and_then(|cached| cached.view()) {
            Some(view) => RowSource::cached(view),
            None => {
                let view = self.view.get_or_insert_with(|| read.view());
                RowSource::stored(&tables, view, &row, may_wait)
            }
        };
        let (count, bytes) = (resolved.cells.count, resolved.cells.bytes);
        let mut changes = RowChanges {
            path: self.path,
            behaviour: self.behaviour,
            now_s: OnceCell::new(),
            cf: &cf,
            family,
            row: &row,
            source: &source,
            batch: &mut self.batch,
            changes: ChangeList::with_room_for(count, bytes),
            // Most keys fit in it.
            key: Vec::with_capacity(64),
        };
        changes.add_all(resolved)?;
        let changes = changes.changes;
        drop(source);
        let cached = cached.map(|cached| Cached { id, row: cached.clone() });
        self.batch.add(tables.number, &row, changes, cached);
        Ok(())
    }
}

/// Builds the changes to a row of one column family. Keys are relative to the row.
struct RowChanges<'a> {
    path: &'a WritePath,
    behaviour: &'static Behaviour,
    /// The second of the write, once something depends on it.
    now_s: OnceCell<i32>,
    cf: &'a CfDef,
    family: &'a OpenFamily,
    row: &'a RowPrefix,
    /// The existing entries of the row.
    source: &'a RowSource<'a>,
    /// Gets the queue entries of new deletions, for the sweeper.
    batch: &'a mut WriteBatch,
    changes: ChangeList,
    /// Buffer for the key of the cell that is being added, reused between cells.
    key: Vec<u8>,
}

impl RowChanges<'_> {
    /// Adds all changes of a mutation to the row.
    fn add_all(&mut self, resolved: ResolvedRow) -> Result<()> {
        // Deletions are only looked up for counters: an addition must not continue from a deleted total.
        let counts = resolved.counts();
        if let Some(deletion) = resolved.deletion {
            self.add_deletion(ROW_MARKER.to_vec(), deletion, None)?;
        }
        let cf = self.cf;
        let names = Names::new(&*cf.comparator, self.behaviour.release);
        if !resolved.ranges.is_empty() {
            self.add_ranges(&resolved.ranges)?;
        }
        let (outer, ranges) = if counts { self.row_deletions()? } else { (DeletionTime::LIVE, Vec::new()) };
        let row_ranges = LevelRanges::of_row(&ranges, names.view);
        let shadows = Shadows::of_row(outer, Some(row_ranges));
        let level = CellLevel { prefix: COLUMNS_LEVEL, names, shadows };
        resolved.cells.try_take(|cell| self.add_cell(&level, cell))?;
        for super_column in resolved.supers {
            self.add_super(super_column, names, outer, &ranges)?;
        }
        Ok(())
    }

    fn now_s(&self) -> i32 {
        *self.now_s.get_or_init(|| self.path.clock.now_s())
    }

    /// Returns the row's deletion and range tombstones, with the changes so far.
    fn row_deletions(&self) -> Result<(DeletionTime, Vec<RangeTombstone>)> {
        let (stored, mut ranges) = self.source.row_deletions()?;
        let mut deletion = stored;
        for (key, value) in self.changes.iter() {
            match value.map(value::decode_slice).transpose()? {
                Some(Value::Deletion { deletion: new, .. }) if key == ROW_MARKER => deletion = new,
                Some(Value::Range(new)) => {
                    ranges.retain(|old| !old.has_same_range(&new));
                    ranges.push(new);
                }
                _ => {}
            }
        }
        Ok((deletion, ranges))
    }

    /// Returns the deletion of a super column, with the changes so far.
    fn deletion(&self, marker: &[u8]) -> Result<DeletionTime> {
        match self.changes.get(marker) {
            Some(Some(value)) => match value::decode_slice(value)? {
                Value::Deletion { deletion, .. } => Ok(deletion),
                _ => Ok(DeletionTime::LIVE),
            },
            _ => self.source.deletion_at(marker),
        }
    }

    /// Adds range tombstones, and sets the flag in the row's deletion that there are some.
    fn add_ranges(&mut self, ranges: &[RangeTombstone]) -> Result<()> {
        // Several tombstones may have the same range.
        let mut by_key: BTreeMap<Vec<u8>, RangeTombstone> = BTreeMap::new();
        for range in ranges {
            let merged = by_key.entry(key::range(range)).or_insert_with(|| range.clone());
            merged.deletion = merged.deletion.merged(range.deletion);
        }
        let mut is_changed = false;
        for (key, mut merged) in by_key {
            let old = self.source.get(&key)?;
            if let Some(Value::Range(old)) = old.map(value::decode).transpose()? {
                merged.deletion = old.deletion.merged(merged.deletion);
                if merged.deletion == old.deletion {
                    continue;
                }
            } else {
                let due = i64::from(self.now_s()) + FIRST_SWEEP_S;
                self.path.queue.add(self.batch, due, self.family.id, &self.row.entry(&key));
            }
            self.changes.add(&key, Some(&value::encode_range(&merged)));
            is_changed = true;
        }
        if is_changed {
            let deletion = self.deletion(ROW_MARKER)?;
            self.changes.set(ROW_MARKER, Some(&value::encode_deletion_with_ranges(deletion)));
        }
        Ok(())
    }

    fn add_super(
        &mut self,
        change: SuperColumn,
        names: Names<'_>,
        outer: DeletionTime,
        ranges: &[RangeTombstone],
    ) -> Result<()> {
        let Some(subcomparator) = self.cf.subcomparator() else { return Ok(()) };
        let subnames = Names::new(&**subcomparator, self.behaviour.release);
        let name = self.source.stored_super_name(COLUMNS_LEVEL, &change.name, names)?.unwrap_or(change.name);
        let holder = SuperPrefix::of(COLUMNS_LEVEL, &name, names.stored);
        let is_restored = is_restored_from_key(&name, names.stored) || self.is_named_by_key(&holder)?;
        let kept_name = (!is_restored).then_some(&name[..]);
        if change.deletion != DeletionTime::LIVE {
            self.add_deletion(holder.marker(), change.deletion, kept_name)?;
        }
        let counts = change.cells.iter().any(|cell| cell.kind == CellKind::Increment);
        let container = if counts { self.deletion(&holder.marker())? } else { DeletionTime::LIVE };
        let container = container.merged(LevelRanges::of_supers(ranges, names.view).over(&name));
        // A range tombstone that begins exactly at an increment's name shadows it too.
        let inside = LevelRanges::of_super(ranges, &name, DeletionTime::LIVE, names.view, subnames.view);
        let unchanged = self.changes.len();
        let shadows = Shadows { container, outer, ranges: Some(inside) };
        let level = CellLevel { prefix: &holder.cells(), names: subnames, shadows };
        change.cells.iter().try_for_each(|cell| self.add_cell(&level, cell.into()))?;
        // A super column that stays empty, since all its increments are shadowed, stores no name either.
        if change.deletion == DeletionTime::LIVE && kept_name.is_some() && self.changes.len() > unchanged {
            self.add_deletion(holder.marker(), change.deletion, kept_name)?;
        }
        Ok(())
    }

    /// Returns whether a super column has columns but no deletion entry: then its name is the one that is restored from
    /// its key.
    fn is_named_by_key(&self, holder: &SuperPrefix) -> Result<bool> {
        if self.source.get(&holder.marker())?.is_some() {
            return Ok(false);
        }
        let first = self.source.entries(&holder.cells(), &holder.end(), false).next();
        first.transpose().map(|first| first.is_some())
    }

    fn add_cell(&mut self, level: &CellLevel<'_>, cell: CellView<'_>) -> Result<()> {
        let mut key = std::mem::take(&mut self.key);
        key::write_cell(level.prefix, cell.name, level.names.stored, &mut key);
        let added = self.add_cell_at(&key, level, cell);
        self.key = key;
        added
    }

    fn add_cell_at(&mut self, key: &[u8], level: &CellLevel<'_>, new: CellView<'_>) -> Result<()> {
        let old = self.stored_cell(key, level, new)?;
        if self.changes.is_empty() {
            self.changes.likely = self.source.likely();
        }
        let mut cell = new;
        let total;
        if new.kind == CellKind::Increment {
            let (old, increment) = (old.as_ref().map(|old| &old.cell), new.cell(Bytes::copy_from_slice));
            total = total_to_store(old, increment, self.behaviour, level.shadows);
            let Some(total) = &total else { return Ok(()) };
            cell = total.into();
        } else if old.as_ref().is_some_and(|old| reconcile(&old.cell, new, self.behaviour) == Winner::Old) {
            return Ok(());
        }
        if let Some(old_key) = old.and_then(|old| old.key).filter(|old_key| *old_key != key) {
            self.changes.add(&old_key, None);
        }
        let kept_name = (!is_restored_from_key(cell.name, level.names.stored)).then_some(cell.name);
        let about = value::HEAD + kept_name.map_or(0, <[u8]>::len) + cell.value.len();
        self.changes.add_written(key, about, |out| value::encode_cell(cell, kept_name, out));
        Ok(())
    }

    /// Returns the existing cell of the same name. A tombstone past gc_grace is treated as absent.
    fn stored_cell(&self, key: &[u8], level: &CellLevel<'_>, cell: CellView<'_>) -> Result<Option<OldCell>> {
        let CellLevel { prefix, names, .. } = *level;
        let existing = if names.view.stored_order() == StoredOrder::Exact {
            if cell.kind != CellKind::Increment {
                if cell.kind != CellKind::Counter && self.source.loses_to(cell.timestamp) {
                    return Ok(None);
                }
                let timestamp =
                    match self.source.look_at(key, |value| value::plain_timestamp(value.as_slice()))? {
                        None => return Ok(None),
                        Some(timestamp) => timestamp.filter(|timestamp| *timestamp != cell.timestamp),
                    };
                if let Some(timestamp) = timestamp {
                    // If timestamps differ, the values are not compared, so they are not read.
                    let cell = Cell::live(Bytes::new(), Bytes::new(), timestamp);
                    return Ok(Some(OldCell { key: None, cell }));
                }
            }
            let Some(value) = self.source.get(key)? else { return Ok(None) };
            let ordered = Bytes::copy_from_slice(&key[prefix.len()..]);
            decode_cell(ordered, value, names.stored)?.map(|cell| OldCell { key: None, cell })
        } else {
            let found = self.source.find_cell(prefix, cell.name, names)?;
            found.map(|(key, cell)| OldCell { key: Some(key), cell })
        };
        let Some(OldCell { key, cell }) = existing else { return Ok(None) };
        let cell = cell.at(self.now_s(), self.behaviour);
        let is_purged = key.is_none() && cell.is_purgeable(self.now_s().saturating_sub(self.cf.gc_grace_s));
        Ok((!is_purged).then_some(OldCell { key, cell }))
    }

    fn add_deletion(
        &mut self,
        marker: Vec<u8>,
        deletion: DeletionTime,
        kept_name: Option<&[u8]>,
    ) -> Result<()> {
        let (old, old_name, has_ranges) = match self.source.get(&marker)?.map(value::decode).transpose()? {
            Some(Value::Deletion { deletion, name, has_ranges }) => (Some(deletion), name, has_ranges),
            _ => (None, None, false),
        };
        let merged = old.map_or(deletion, |old| old.merged(deletion));
        debug_assert!(
            merged.marked_for_delete_at >= deletion.marked_for_delete_at,
            "cells that were deleted would come back"
        );
        if old == Some(merged) {
            return Ok(());
        }
        let was_queued = old.is_some_and(|old| old != DeletionTime::LIVE);
        if !was_queued && deletion != DeletionTime::LIVE {
            let due = i64::from(self.now_s()) + FIRST_SWEEP_S;
            let whole_key = self.row.entry(&marker);
            self.path.queue.add(self.batch, due, self.family.id, &whole_key);
        }
        // A super column keeps the name under which it was first written, even if a later equal name has other bytes.
        // If no name is stored, it is the one that is restored from the key.
        let kept_name = if old.is_some() { old_name.as_deref() } else { kept_name };
        let value = if has_ranges {
            value::encode_deletion_with_ranges(merged)
        } else {
            value::encode_deletion(merged, kept_name)
        };
        self.changes.add(&marker, Some(&value));
        Ok(())
    }
}

/// Returns whether exactly this name can be restored from its key, so that the value need not store it.
fn is_restored_from_key(name: &[u8], stored: &dyn AbstractType) -> bool {
    if stored.ordered_is_name() {
        return true;
    }
    let mut ordered = Vec::with_capacity(name.len() + 9);
    stored.ordered(name, &mut ordered);
    stored.restore(&ordered).as_deref() == Some(name)
}
