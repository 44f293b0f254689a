//! Runs random operations on the embedded store and on the reference model, and compares the results.

use std::fmt::Debug;
use std::sync::Arc;

use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal;
use base::model::{
    Bounds, Cell, CellKind, CfMutation, Change, DeletionTime, Mutation, Predicate, RangeCommand,
    RangeTombstone, ReadCommand, SliceRange,
};
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef};
use base::util::{Clock, Release};
use bytes::Bytes;
use embedded::EmbeddedStore;
use proptest::prelude::*;
use store::Store;

use super::ops::{BoundsOp, ChangeOp, DropOp, MutationOp, Op, Pick, PredicateOp, RangeOp, ReadOp};
use super::reference_model::ReferenceModel;
use super::stored_slices::StoredRow;
use super::support;
use super::support::SchemaCalls as _;

const CONSISTENCY: ConsistencyLevel = ConsistencyLevel::One;

/// The pools from which a case picks keys and names.
#[derive(Debug, Clone)]
pub struct Pools {
    pub keys: Vec<Bytes>,
    /// The names of each of the case's comparators.
    pub names: [Vec<Bytes>; 3],
}

/// The two stores, and what is needed to turn random operations into calls.
pub struct Case {
    directory: tempfile::TempDir,
    catalog: Catalog,
    standard: Arc<CfDef>,
    supers: Arc<CfDef>,
    partitioner: PartitionerRef,
    behaviour: &'static Behaviour,
    /// Whether all cells are counters.
    pub counts: bool,
    types: [&'static str; 3],
    /// Indexes into `types`: the comparators of the Standard column family, of super columns, and of the columns in
    /// them.
    layout: [usize; 3],
    pools: Pools,
    clock: Arc<Clock>,
    model: ReferenceModel,
    embedded: Option<EmbeddedStore>,
}

impl Case {
    pub fn new(
        types: [&'static str; 3],
        partitioner: PartitionerRef,
        release: Release,
        pools: Pools,
    ) -> Case {
        let clock = support::manual_clock();
        let layout = [0, 1, 2];
        let catalog = support::catalog(families(types, layout));
        let mut case = Case {
            directory: tempfile::tempdir().unwrap(),
            standard: support::cf_of(&catalog, "Standard"),
            supers: support::cf_of(&catalog, "Super"),
            catalog,
            model: ReferenceModel::new(partitioner.clone(), clock.clone()),
            partitioner,
            behaviour: Behaviour::of(release),
            counts: false,
            types,
            layout,
            pools,
            clock,
            embedded: None,
        };
        case.reopen();
        case
    }

    fn reopen(&mut self) {
        if let Some(store) = self.embedded.take() {
            support::close(store);
        }
        let options = support::options(self.directory.path());
        let (partitioner, clock) = (self.partitioner.clone(), self.clock.clone());
        let store = EmbeddedStore::open(options, partitioner, &self.catalog, clock);
        self.embedded = Some(store.unwrap());
    }

    fn alter(&mut self, catalog: Catalog) {
        self.catalog = catalog;
        self.both(|store| support::wait(store.alter(Arc::new(self.catalog.clone()))).unwrap());
    }

    /// Drops a column family and creates it with other comparators.
    fn make_again(&mut self, op: &DropOp) {
        let dropped = if op.is_super { self.supers.clone() } else { self.standard.clone() };
        self.both(|store| support::wait(store.drop_family(dropped.clone())).unwrap());
        self.alter(self.catalog.without(&dropped));
        if op.restarts {
            self.reopen();
        }
        if op.is_super {
            [self.layout[1], self.layout[2]] = op.types;
        } else {
            self.layout[0] = op.types[0];
        }
        self.alter(support::catalog(families(self.types, self.layout)));
        self.standard = support::cf_of(&self.catalog, "Standard");
        self.supers = support::cf_of(&self.catalog, "Super");
        assert_eq!(self.embedded().status().undefined, Vec::<String>::new());
    }

    fn embedded(&self) -> &EmbeddedStore {
        self.embedded.as_ref().unwrap()
    }

    pub fn run(&mut self, ops: Vec<Op>) -> Result<(), TestCaseError> {
        for op in ops {
            self.step(op)?;
        }
        // At the end both stores have the same content, before and after a restart.
        self.compare_everything()?;
        self.reopen();
        self.compare_everything()
    }

    fn step(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Apply(ops) => {
                let mutations: Vec<Mutation> = ops.iter().map(|op| self.mutation(op)).collect();
                let answers = self
                    .both(|store| support::wait(store.apply(mutations.clone(), self.behaviour, CONSISTENCY)));
                same(answers)
            }
            Op::Read { key, read } => {
                let (key, command) = (self.key(&key), self.command(&read));
                same(self.both(|store| support::wait(store.read(key.clone(), command.clone(), CONSISTENCY))))
            }
            Op::Scan { bounds, rows, skip_empty, read } => {
                let bounds = self.bounds(&bounds);
                let command = RangeCommand { bounds, max_rows: rows, read: self.command(&read), skip_empty };
                same(self.both(|store| support::wait(store.scan(command.clone(), CONSISTENCY))))
            }
            Op::Splits { start, end, keys } => {
                let (start, end) = (self.token(Some(&start)), self.token(Some(&end)));
                same(self.both(|store| support::wait(store.splits(start.clone(), end.clone(), keys))))
            }
            Op::Truncate { is_super } => {
                let cf = if is_super { &self.supers } else { &self.standard };
                same(self.both(|store| support::wait(store.truncate(cf.clone()))))
            }
            Op::Drop(op) => {
                self.make_again(&op);
                Ok(())
            }
            Op::Tick => {
                self.clock.advance_ms(1000);
                Ok(())
            }
            Op::Compact => {
                self.embedded().compact().unwrap();
                Ok(())
            }
            Op::Restart => {
                self.reopen();
                Ok(())
            }
            Op::Upgrade(release) => {
                if self.names_stay_alike(release) {
                    self.behaviour = Behaviour::of(release);
                }
                Ok(())
            }
        }
    }

    /// Returns whether another release accepts the names of the case and compares them as equal in the same cases.
    /// Otherwise two stored names may be one cell for the other release, and its result is not defined.
    fn names_stay_alike(&self, release: Release) -> bool {
        self.types.iter().zip(&self.pools.names).all(|(compare_with, names)| {
            let comparator = support::comparator(compare_with);
            let [now, then] = [self.behaviour.release, release].map(|at| marshal::at(&*comparator, at));
            let is_alike = |one: &Bytes, other: &Bytes| {
                now.compare(one, other).is_eq() == then.compare(one, other).is_eq()
            };
            names
                .iter()
                .all(|one| then.validate(one).is_ok() && names.iter().all(|other| is_alike(one, other)))
        })
    }

    fn compare_everything(&self) -> Result<(), TestCaseError> {
        for is_super in [false, true] {
            let predicate =
                PredicateOp::Range { start: None, finish: None, reversed: false, count: usize::MAX };
            let all = ReadOp {
                is_super,
                holder: None,
                predicate,
                with_tombstones: true,
                gc_before: i32::MIN,
                skew_s: 0,
            };
            // Reads all stored cells, expired ones too.
            let read = ReadCommand { now_s: i32::MIN, ..self.command(&all) };
            let command = RangeCommand {
                bounds: Bounds::Keys { start: Bytes::new(), end: Bytes::new() },
                max_rows: usize::MAX,
                read,
                skip_empty: false,
            };
            same(self.both(|store| support::wait(store.scan(command.clone(), CONSISTENCY))))?;
            let cf = if is_super { &self.supers } else { &self.standard };
            // Dumps everything in one page, and each change in its own page.
            let [whole, pieces] =
                [usize::MAX, 1].map(|bytes| self.both(|store| support::dumped(store, cf, bytes)));
            prop_assert_eq!(&whole.0, &whole.1, "embedded store (left) and reference model (right)");
            prop_assert_eq!(&whole, &pieces);
            for row in &whole.0 {
                let stored = StoredRow { store: self.embedded(), cf, key: &row.key };
                for (count, reversed) in [(1, false), (2, true), (usize::MAX, false)] {
                    prop_assert_eq!(&stored.read(count, reversed), row, "{} a slice, {}", count, reversed);
                }
            }
        }
        Ok(())
    }

    fn both<T>(&self, call: impl Fn(&dyn Store) -> T) -> (T, T) {
        (call(self.embedded()), call(&self.model))
    }

    fn key(&self, pick: &Pick) -> Bytes {
        self.pools.keys[pick.index(self.pools.keys.len())].clone()
    }

    /// Returns a name for a level: a column of the Standard column family, a super column, or a column in one.
    fn name(&self, level: usize, pick: &Pick) -> Bytes {
        let names = &self.pools.names[self.layout[level]];
        names[pick.index(names.len())].clone()
    }

    fn token(&self, pick: Option<&Pick>) -> Vec<u8> {
        let Some(pick) = pick else { return self.partitioner.minimum_token(self.behaviour.release) };
        let mut token = Vec::new();
        self.partitioner.token(&self.key(pick), &mut token);
        token
    }

    fn edge(&self, is_last: Option<bool>) -> Vec<u8> {
        let width = self.token(Some(&Pick::default_for_edges())).len();
        match is_last {
            None => self.token(None),
            Some(false) => vec![0; width],
            Some(true) => vec![0xff; width],
        }
    }

    fn bounds(&self, op: &BoundsOp) -> Bounds {
        let key = |pick: &Option<Pick>| pick.as_ref().map(|pick| self.key(pick)).unwrap_or_default();
        match op {
            BoundsOp::Keys(start, end) => Bounds::Keys { start: key(start), end: key(end) },
            BoundsOp::KeyToToken(start, end) => {
                let end = end.as_ref().map(|end| self.token(Some(end)));
                Bounds::KeyToToken { start: key(start), end }
            }
            BoundsOp::Tokens(start, end) => {
                Bounds::Tokens { start: self.token(start.as_ref()), end: self.token(end.as_ref()) }
            }
            BoundsOp::Edges(start, end) => Bounds::Tokens { start: self.edge(*start), end: self.edge(*end) },
        }
    }

    fn mutation(&self, op: &MutationOp) -> Mutation {
        let changes = |cf: &Arc<CfDef>, ops: &[ChangeOp]| CfMutation {
            cf: cf.clone(),
            changes: ops.iter().map(|op| self.change(cf.is_super(), op)).collect::<Vec<_>>().into(),
        };
        // Mutations with index entries may name a column family more than once, so this one does too.
        let (first, rest) = op.standard.split_at(op.standard.len() / 2);
        let families = vec![
            changes(&self.standard, first),
            changes(&self.supers, &op.supers),
            changes(&self.standard, rest),
        ];
        Mutation { key: self.key(&op.key), families }
    }

    fn change(&self, is_super: bool, op: &ChangeOp) -> Change {
        let place = |holder: &Pick, name: &Pick| {
            if is_super {
                (Some(self.name(1, holder)), self.name(2, name))
            } else {
                (None, self.name(0, name))
            }
        };
        match op {
            ChangeOp::Put { holder, name, value, timestamp, expires } => {
                let (super_column, name) = place(holder, name);
                Change::Cell { super_column, cell: self.cell(name, value, *timestamp, *expires) }
            }
            ChangeOp::Delete { holder, name, timestamp, at } => {
                let (super_column, name) = place(holder, name);
                Change::Cell { super_column, cell: Cell::tombstone(name, *timestamp, *at) }
            }
            ChangeOp::DeleteSuper { holder, timestamp, at } => {
                Change::DeleteSuper { name: self.name(1, holder), deletion: deletion(*timestamp, *at) }
            }
            ChangeOp::DeleteRow { timestamp, at } => {
                Change::DeleteRow { deletion: deletion(*timestamp, *at) }
            }
            ChangeOp::DeleteRange(op) => Change::DeleteRange(self.range(is_super, op)),
        }
    }

    fn range(&self, is_super: bool, op: &RangeOp) -> RangeTombstone {
        let super_column = op.holder.as_ref().filter(|_| is_super).map(|holder| self.name(1, holder));
        let level = usize::from(is_super) + usize::from(super_column.is_some());
        let mut bounds = [&op.start, &op.finish]
            .map(|pick| pick.as_ref().map(|pick| self.name(level, pick)).unwrap_or_default());
        // The API refuses ranges from a larger name to a smaller one.
        let comparator = support::comparator(self.types[self.layout[level]]);
        let comparator = marshal::at(&*comparator, self.behaviour.release);
        if bounds.iter().all(|bound| !bound.is_empty()) {
            bounds.sort_by(|a, b| comparator.compare(a, b));
        }
        let [start, finish] = bounds;
        RangeTombstone { super_column, start, finish, deletion: deletion(op.timestamp, op.at) }
    }

    fn cell(&self, name: Bytes, value: &Bytes, timestamp: i64, expires: Option<(i32, i32)>) -> Cell {
        if self.counts {
            let number = match &value[..] {
                // Large enough for the total to overflow.
                [0xff, 0xff] => i64::MAX,
                bytes => bytes.iter().map(|byte| i64::from(*byte)).sum::<i64>() - 100,
            };
            // `thriftstore copy` writes totals.
            let kind = if expires.is_some() { CellKind::Counter } else { CellKind::Increment };
            return Cell { kind, ..Cell::increment(name, number, timestamp) };
        }
        let cell = Cell::live(name, value.clone(), timestamp);
        let Some((after_s, ttl_s)) = expires else { return cell };
        let expires_at_s = i32::try_from(support::START_S).unwrap().saturating_add(after_s);
        Cell { kind: CellKind::Expiring { ttl_s, expires_at_s }, ..cell }
    }

    fn command(&self, op: &ReadOp) -> ReadCommand {
        let holder = op.holder.as_ref().filter(|_| op.is_super);
        let pool = match (op.is_super, holder) {
            (false, _) => 0,
            (true, None) => 1,
            (true, Some(_)) => 2,
        };
        let bound = |pick: &Option<Pick>| pick.as_ref().map(|pick| self.name(pool, pick)).unwrap_or_default();
        let predicate = match &op.predicate {
            PredicateOp::Names(names) => {
                Predicate::Names(names.iter().map(|name| self.name(pool, name)).collect())
            }
            PredicateOp::Range { start, finish, reversed, count } => Predicate::Range(SliceRange {
                start: bound(start),
                finish: bound(finish),
                reversed: *reversed,
                count: *count,
            }),
        };
        ReadCommand {
            cf: if op.is_super { self.supers.clone() } else { self.standard.clone() },
            super_column: holder.map(|pick| self.name(1, pick)),
            predicate,
            behaviour: self.behaviour,
            with_tombstones: op.with_tombstones,
            gc_before: op.gc_before,
            now_s: self.clock.now_s() + op.skew_s,
        }
    }
}

/// Returns the column families of a case, with the comparators that the layout selects.
fn families(types: [&str; 3], layout: [usize; 3]) -> [CfDef; 2] {
    let [standard, supers, subs] = layout.map(|at| types[at]);
    [support::family("Standard", standard, None), support::family("Super", supers, Some(subs))]
}

/// A pick that is not random.
trait EdgePick {
    fn default_for_edges() -> Self;
}

impl EdgePick for Pick {
    fn default_for_edges() -> Pick {
        use proptest::strategy::{Strategy, ValueTree};
        any::<Pick>().new_tree(&mut proptest::test_runner::TestRunner::deterministic()).unwrap().current()
    }
}

fn deletion(marked_for_delete_at: i64, local_deletion_time: i32) -> DeletionTime {
    DeletionTime { marked_for_delete_at, local_deletion_time }
}

fn same<T: Debug + PartialEq, E: Debug>(
    (embedded, model): (Result<T, E>, Result<T, E>),
) -> Result<(), TestCaseError> {
    let (embedded, model) = (embedded.unwrap(), model.unwrap());
    prop_assert_eq!(embedded, model, "embedded store (left) and reference model (right)");
    Ok(())
}
