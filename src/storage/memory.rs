//! Stores rows in memory only: the store of `--ephemeral` and of many unit tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use super::collect::{Shadows, collect_cells, collect_supers};
use super::dump::{is_dropped, sort_ranges, weight};
use super::order::{Named, within};
use super::resolve::{met, resolve};
use super::{Dump, DumpCommand, RowPiece, Store, StoreError, StoreFuture, StoreStatus};
use crate::marshal::{self, AbstractType};
use crate::model::{
    Behaviour, Bounds, Cell, CfMutation, Change, ConsistencyLevel, DeletionTime, LevelRanges, Mutation,
    Predicate, RangeCommand, RangeDeletion, RangeRule, ReadCommand, ReadOf, Row, RowColumns, SliceRange,
    SuperColumn,
};
use crate::partitioner::PartitionerRef;
use crate::schema::{Catalog, CfDef};
use crate::util::{Clock, Release};

/// A row as it stands. Names in no order: every read sorts.
#[derive(Debug, Default, Clone)]
struct MemoryRow {
    deletion: Option<DeletionTime>,
    cells: Vec<Cell>,
    supers: Vec<SuperColumn>,
    ranges: Vec<RangeDeletion>,
}

impl MemoryRow {
    /// Whether all that came for it were increments that are hidden, so that there is no such row.
    fn holds_nothing(&self) -> bool {
        self.deletion.is_none() && self.cells.is_empty() && self.supers.is_empty() && self.ranges.is_empty()
    }
}

/// Token and key of a row, in ring order.
type RingKey = (Vec<u8>, Bytes);
type Rows = BTreeMap<RingKey, MemoryRow>;

/// A store that forgets everything when it is dropped.
pub struct MemoryStore {
    partitioner: PartitionerRef,
    families: RwLock<BTreeMap<(String, String), Rows>>,
    notes: RwLock<BTreeMap<String, Bytes>>,
    clock: Arc<Clock>,
}

impl MemoryStore {
    pub fn new(partitioner: PartitionerRef, clock: Arc<Clock>) -> MemoryStore {
        MemoryStore { partitioner, families: RwLock::default(), notes: RwLock::default(), clock }
    }

    fn ring_key(&self, key: &Bytes) -> RingKey {
        let mut token = Vec::new();
        self.partitioner.token(key, &mut token);
        (token, key.clone())
    }

    fn apply_now(&self, mutations: Vec<Mutation>, behaviour: &Behaviour) {
        let mut families = self.families.write();
        let now_s = self.clock.now_s();
        for mutation in mutations {
            let mutation = mutation.joined();
            for family in mutation.families {
                if family.changes.is_empty() {
                    continue;
                }
                let name = (family.cf.keyspace.clone(), family.cf.name.clone());
                let rows = families.entry(name).or_default();
                let key = self.ring_key(&own(&mutation.key));
                let mut row = rows.remove(&key).unwrap_or_default();
                apply_to_row(&mut row, family, now_s, behaviour);
                if !row.holds_nothing() {
                    rows.insert(key, row);
                }
            }
        }
    }

    fn dump_now(&self, command: &DumpCommand) -> Result<Dump, StoreError> {
        let families = self.families.read();
        let Some(rows) = families.get(&(command.cf.keyspace.clone(), command.cf.name.clone())) else {
            return Ok(Dump::default());
        };
        // A place is how many changes were seen of the last row, and its key.
        let begun = match &command.after {
            None => None,
            Some(place) => {
                let (seen, key) = place.split_first_chunk::<8>().ok_or_else(no_place)?;
                Some((Bytes::copy_from_slice(key), u64::from_be_bytes(*seen)))
            }
        };
        let from = begun.as_ref().map_or((Vec::new(), Bytes::new()), |(key, _)| self.ring_key(key));
        let mut dump = Dump::default();
        let mut left = command.max_bytes.max(1);
        for ((_, key), row) in rows.range(from..) {
            let seen = begun.as_ref().filter(|(begun, _)| begun == key).map_or(0, |(_, seen)| *seen);
            let mut piece = RowPiece { key: key.clone(), changes: Vec::new() };
            for change in stored_changes(row, &command.cf).into_iter().skip(seen as usize) {
                left = left.saturating_sub(weight(&change));
                piece.changes.push(change);
                if left == 0 {
                    break;
                }
            }
            let seen = seen + piece.changes.len() as u64;
            dump.rows.extend((!piece.changes.is_empty()).then_some(piece));
            if left == 0 {
                dump.place = Some([&seen.to_be_bytes()[..], key].concat().into());
                break;
            }
        }
        Ok(dump)
    }

    fn rows_in_ring_order(&self, command: &RangeCommand) -> Vec<(Bytes, MemoryRow)> {
        let families = self.families.read();
        let name = (command.read.cf.keyspace.clone(), command.read.cf.name.clone());
        let Some(rows) = families.get(&name) else { return Vec::new() };
        let pick = |is_in: &dyn Fn(&[u8]) -> bool| -> Vec<(Bytes, MemoryRow)> {
            let inside = rows.iter().filter(|((token, _), _)| is_in(token));
            inside.map(|((_, key), row)| (key.clone(), row.clone())).collect()
        };
        match &command.bounds {
            Bounds::Keys { start, end } => {
                let (low, high) = (self.ring_key(start).0, self.ring_key(end).0);
                pick(&|token| {
                    (start.is_empty() || token >= &low[..]) && (end.is_empty() || token <= &high[..])
                })
            }
            Bounds::KeyToToken { start, end } => {
                let low = self.ring_key(start).0;
                pick(&|token| {
                    (start.is_empty() || token >= &low[..])
                        && end.as_ref().is_none_or(|end| token <= &end[..])
                })
            }
            Bounds::Tokens { start, end } => {
                let minimum = self.partitioner.minimum_token(command.read.behaviour.release);
                if *end == minimum {
                    pick(&|token| token > &start[..])
                } else if start < end {
                    pick(&|token| token > &start[..] && token <= &end[..])
                } else {
                    let mut wrapped = pick(&|token| token > &start[..]);
                    wrapped.extend(pick(&|token| token <= &end[..]));
                    wrapped
                }
            }
        }
    }
}

fn no_place() -> StoreError {
    StoreError::Invalid("this is no place in the store's rows".to_owned())
}

/// All of a row that nothing shadows, in the order of a dump.
fn stored_changes(row: &MemoryRow, cf: &CfDef) -> Vec<Change> {
    let names = marshal::at(&*cf.comparator, Release::V2_1);
    let deletion = row.deletion.unwrap_or(DeletionTime::LIVE);
    let mut ranges = row.ranges.clone();
    sort_ranges(&mut ranges);
    let mut changes = Vec::new();
    changes.extend((deletion != DeletionTime::LIVE).then_some(Change::DeleteRow { deletion }));
    changes.extend(ranges.iter().cloned().map(Change::DeleteRange));
    let over_row = LevelRanges::of_row(&ranges, names);
    for cell in in_stored_order(&row.cells, &*cf.comparator) {
        let over = deletion.merged(over_row.over(&cell.name));
        if !over.shadows(cell.timestamp) && !is_dropped(cf, &cell) {
            changes.push(Change::Cell { super_column: None, cell });
        }
    }
    let Some(subcomparator) = cf.subcomparator() else { return changes };
    for held in in_stored_order(&row.supers, &*cf.comparator) {
        let name = held.name;
        if held.deletion.is_deleted() {
            changes.push(Change::DeleteSuper { name: name.clone(), deletion: held.deletion });
        }
        let whole = held.deletion.merged(LevelRanges::of_supers(&ranges, names).over(&name));
        let subnames = marshal::at(&**subcomparator, Release::V2_1);
        let inside = LevelRanges::of_super(&ranges, (&name, whole), names, subnames);
        for cell in in_stored_order(&held.cells, &**subcomparator) {
            if !whole.merged(deletion).merged(inside.over(&cell.name)).shadows(cell.timestamp) {
                changes.push(Change::Cell { super_column: Some(name.clone()), cell });
            }
        }
    }
    changes
}

/// Copies in the order in which an embedded store would have them.
fn in_stored_order<T: Named + Clone>(items: &[T], comparator: &dyn AbstractType) -> Vec<T> {
    let mut sorted = items.to_vec();
    sorted.sort_by_cached_key(|item| {
        let mut ordered = Vec::new();
        comparator.ordered(item.name(), &mut ordered);
        ordered
    });
    sorted
}

fn apply_to_row(row: &mut MemoryRow, family: CfMutation, now_s: i32, behaviour: &Behaviour) {
    let cf = family.cf.clone();
    let comparator = marshal::at(&*cf.comparator, behaviour.release);
    let changes = resolve(family, behaviour);
    if let Some(deletion) = changes.deletion {
        row.deletion = Some(row.deletion.map_or(deletion, |old| old.merged(deletion)));
    }
    for range in changes.ranges {
        match row.ranges.iter_mut().find(|old| old.is_of_same_names(&range)) {
            Some(old) => old.deletion = old.deletion.merged(range.deletion),
            None => row.ranges.push(range),
        }
    }
    let deletion = row.deletion.unwrap_or(DeletionTime::LIVE);
    let shadows = Shadows::of_row(deletion, Some(LevelRanges::of_row(&row.ranges, comparator)));
    apply_cells(&mut row.cells, changes.cells, comparator, (now_s, behaviour), shadows);
    let Some(subcomparator) = cf.subcomparator() else { return };
    let subcomparator = marshal::at(&**subcomparator, behaviour.release);
    for change in changes.supers {
        let at = row.supers.iter().position(|old| comparator.compare(&old.name, &change.name).is_eq());
        let at = at.unwrap_or_else(|| {
            let empty =
                SuperColumn { name: own(&change.name), deletion: DeletionTime::LIVE, cells: Vec::new() };
            row.supers.push(empty);
            row.supers.len() - 1
        });
        let old = &mut row.supers[at];
        old.deletion = old.deletion.merged(change.deletion);
        let over = LevelRanges::of_supers(&row.ranges, comparator).over(&old.name);
        // An increment is hidden by what begins just at its name too.
        let held = (&change.name[..], DeletionTime::LIVE);
        let inside = LevelRanges::of_super(&row.ranges, held, comparator, subcomparator);
        let shadows = Shadows { container: old.deletion.merged(over), outer: deletion, ranges: Some(inside) };
        apply_cells(&mut old.cells, change.cells, subcomparator, (now_s, behaviour), shadows);
        if old.cells.is_empty() && old.deletion == DeletionTime::LIVE {
            row.supers.swap_remove(at);
        }
    }
}

/// A copy of the bytes, which are part of a message: that would be kept whole for their sake.
fn own(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

fn apply_cells(
    cells: &mut Vec<Cell>,
    changes: Vec<Cell>,
    comparator: &dyn AbstractType,
    (now_s, behaviour): (i32, &Behaviour),
    shadows: Shadows<'_>,
) {
    for change in changes {
        let at = cells.iter().position(|old| comparator.compare(&old.name, &change.name).is_eq());
        let old = at.map(|at| cells[at].clone().at(now_s, behaviour));
        let Some(new) = met(old, change, behaviour, shadows) else { continue };
        let new = Cell { name: own(&new.name), value: own(&new.value), ..new };
        match at {
            None => cells.push(new),
            Some(at) => cells[at] = new,
        }
    }
}

/// The named or ranged items in the order of the read.
fn select<T: Named + Clone>(items: &[T], predicate: &Predicate, comparator: &dyn AbstractType) -> Vec<T> {
    let is_picked = |item: &T| match predicate {
        Predicate::Names(names) => names.iter().any(|name| comparator.compare(name, item.name()).is_eq()),
        Predicate::Range(range) => within(item.name(), range, comparator),
    };
    let mut picked: Vec<T> = items.iter().filter(|item| is_picked(item)).cloned().collect();
    picked.sort_by(|a, b| comparator.compare(a.name(), b.name()));
    if matches!(predicate, Predicate::Range(SliceRange { reversed: true, .. })) {
        picked.reverse();
    }
    picked
}

fn count_of(predicate: &Predicate) -> usize {
    match predicate {
        Predicate::Names(_) => usize::MAX,
        Predicate::Range(range) => range.count,
    }
}

fn read_row(row: &MemoryRow, command: &ReadCommand, read_of: ReadOf) -> Result<RowColumns, StoreError> {
    let release = command.behaviour.release;
    let comparator = marshal::at(&*command.cf.comparator, release);
    let deletion = row.deletion.unwrap_or(DeletionTime::LIVE);
    let count = count_of(&command.predicate);
    match (&command.super_column, command.cf.subcomparator()) {
        (Some(name), Some(subcomparator)) => {
            let subcomparator = marshal::at(&**subcomparator, release);
            let found = row.supers.iter().find(|old| comparator.compare(&old.name, name).is_eq());
            let Some(found) = found else { return Ok(RowColumns::Cells(Vec::new())) };
            let over = LevelRanges::of_supers(&row.ranges, comparator).over(&found.name);
            let container = found.deletion.merged(over);
            let inside =
                LevelRanges::of_super(&row.ranges, (&found.name, container), comparator, subcomparator);
            let reached = inside.reached(command, read_of);
            let inside = inside.read_by(RangeRule::of_cells(command, read_of, &reached));
            let shadows = Shadows { container, outer: deletion, ranges: Some(inside) };
            let cells = select(&found.cells, &command.predicate, subcomparator);
            collect_cells(cells.into_iter().map(Ok), shadows, count, command).map(RowColumns::Cells)
        }
        (None, Some(subcomparator)) => {
            let subcomparator = marshal::at(&**subcomparator, release);
            let mut supers = select(&row.supers, &command.predicate, comparator);
            for super_column in &mut supers {
                super_column.cells.sort_by(|a, b| subcomparator.compare(&a.name, &b.name));
            }
            collect_supers(supers.into_iter().map(Ok), deletion, &row.ranges, count, command)
                .map(RowColumns::Supers)
        }
        (_, None) => {
            let cells = select(&row.cells, &command.predicate, comparator);
            let ranges = LevelRanges::of_row(&row.ranges, comparator);
            let reached = ranges.reached(command, read_of);
            let ranges = ranges.read_by(RangeRule::of_cells(command, read_of, &reached));
            let shadows = Shadows::of_row(deletion, Some(ranges));
            collect_cells(cells.into_iter().map(Ok), shadows, count, command).map(RowColumns::Cells)
        }
    }
}

impl Store for MemoryStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        self.apply_now(mutations, behaviour);
        Box::pin(async { Ok(()) })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        let families = self.families.read();
        let rows = families.get(&(command.cf.keyspace.clone(), command.cf.name.clone()));
        let row = rows.and_then(|rows| rows.get(&self.ring_key(&key))).cloned().unwrap_or_default();
        Box::pin(async move { read_row(&row, &command, ReadOf::Row) })
    }

    fn scan(&self, command: RangeCommand, _consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        let rows = self.rows_in_ring_order(&command);
        Box::pin(async move {
            let mut found = Vec::new();
            for (key, row) in rows {
                if found.len() >= command.max_rows {
                    break;
                }
                let columns = read_row(&row, &command.read, ReadOf::Scan)?;
                if !(command.skip_empty && columns.is_empty()) {
                    found.push(Row { key, columns });
                }
            }
            Ok(found)
        })
    }

    fn dump(&self, command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        let dump = self.dump_now(&command);
        Some(Box::pin(async move { dump }))
    }

    fn can_dump(&self) -> bool {
        true
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        let families = self.families.read();
        let mut tokens: Vec<Vec<u8>> =
            families.values().flat_map(|rows| rows.keys().map(|(token, _)| token.clone())).collect();
        tokens.sort();
        tokens.dedup();
        let inner = super::split_points(tokens, &start, &end, keys_per_split);
        Box::pin(async move { Ok(inner) })
    }

    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        self.families.write().remove(&(cf.keyspace.clone(), cf.name.clone()));
        Box::pin(async { Ok(()) })
    }

    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        self.truncate(cf)
    }

    fn notes(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        let notes = self.notes.read().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Box::pin(async { Ok(notes) })
    }

    fn note(&self, notes: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()> {
        let mut kept = self.notes.write();
        for (name, value) in notes {
            match value {
                Some(value) => kept.insert(name, value),
                None => kept.remove(&name),
            };
        }
        Box::pin(async { Ok(()) })
    }

    fn alter(&self, _catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
