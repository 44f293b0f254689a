//! The law of the embedded store: whatever is done to it, it answers as the naive twin in memory does, across
//! compactions and restarts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod store_support;

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use store_support as support;
use thriftstore::marshal;
use thriftstore::model::{
    Behaviour, Bounds, Cell, CfMutation, Change, ConsistencyLevel, DeletionTime, Mutation, Predicate,
    RangeCommand, ReadCommand, SliceRange,
};
use thriftstore::partitioner::{PARTITIONERS, PartitionerRef};
use thriftstore::schema::{Catalog, CfDef};
use thriftstore::storage::{EmbeddedStore, MemoryStore, Store};
use thriftstore::util::Release;

const COMPARATORS: [&str; 9] = [
    "AsciiType",
    "BytesType",
    "LexicalUUIDType",
    "LongType",
    "TimeUUIDType",
    "UTF8Type",
    "com.example.AnyCaseType",
    "com.example.FoldedType",
    "com.example.BackwardsType",
];
const RELEASES: [Release; 4] = [Release::V0_4, Release::V0_5, Release::V0_6, Release::V0_7];
const CONSISTENCY: ConsistencyLevel = ConsistencyLevel::One;

/// A name or key is a number that picks from the case's pool.
type Pick = prop::sample::Index;

#[derive(Debug, Clone)]
enum Op {
    Apply(Vec<MutationOp>),
    Read { key: Pick, read: ReadOp },
    Scan { bounds: BoundsOp, rows: usize, skip_empty: bool, read: ReadOp },
    Splits { start: Pick, end: Pick, keys: usize },
    Truncate { is_super: bool },
    Compact,
    Restart,
}

#[derive(Debug, Clone)]
struct MutationOp {
    key: Pick,
    standard: Vec<ChangeOp>,
    supers: Vec<ChangeOp>,
}

/// A change; a Standard column family takes the cell out of its super column.
#[derive(Debug, Clone)]
enum ChangeOp {
    Put { holder: Pick, name: Pick, value: Bytes, timestamp: i64 },
    Delete { holder: Pick, name: Pick, timestamp: i64, at: i32 },
    DeleteSuper { holder: Pick, timestamp: i64, at: i32 },
    DeleteRow { timestamp: i64, at: i32 },
}

#[derive(Debug, Clone)]
struct ReadOp {
    is_super: bool,
    holder: Option<Pick>,
    predicate: PredicateOp,
    with_tombstones: bool,
    gc_before: i32,
}

#[derive(Debug, Clone)]
enum PredicateOp {
    Names(Vec<Pick>),
    Range { start: Option<Pick>, finish: Option<Pick>, reversed: bool, count: usize },
}

#[derive(Debug, Clone)]
enum BoundsOp {
    Keys(Option<Pick>, Option<Pick>),
    /// Tokens of keys; `None` is the ring's minimum.
    Tokens(Option<Pick>, Option<Pick>),
    /// The first and the last tokens that there can be.
    Edges(Option<bool>, Option<bool>),
}

fn timestamp() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => 0i64..4,
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 1 << 62, i64::MAX - 1, i64::MAX]),
    ]
}

fn second() -> impl Strategy<Value = i32> {
    prop_oneof![8 => 1i32..4, 1 => Just(i32::MAX)]
}

fn value() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(prop::sample::select(vec![0u8, b'a', 0x7f, 0x80, 0xff]), 0..3).prop_map(Bytes::from)
}

fn change(is_super: bool) -> BoxedStrategy<ChangeOp> {
    let put = (any::<Pick>(), any::<Pick>(), value(), timestamp())
        .prop_map(|(holder, name, value, timestamp)| ChangeOp::Put { holder, name, value, timestamp });
    let delete = (any::<Pick>(), any::<Pick>(), timestamp(), second())
        .prop_map(|(holder, name, timestamp, at)| ChangeOp::Delete { holder, name, timestamp, at });
    let delete_row =
        (timestamp(), second()).prop_map(|(timestamp, at)| ChangeOp::DeleteRow { timestamp, at });
    if !is_super {
        return prop_oneof![12 => put, 4 => delete, 1 => delete_row].boxed();
    }
    let delete_super = (any::<Pick>(), timestamp(), second())
        .prop_map(|(holder, timestamp, at)| ChangeOp::DeleteSuper { holder, timestamp, at });
    prop_oneof![12 => put, 4 => delete, 1 => delete_row, 3 => delete_super].boxed()
}

fn mutation() -> impl Strategy<Value = MutationOp> {
    let changes = |is_super| prop::collection::vec(change(is_super), 0..5);
    (any::<Pick>(), changes(false), changes(true)).prop_map(|(key, standard, supers)| MutationOp {
        key,
        standard,
        supers,
    })
}

fn read() -> impl Strategy<Value = ReadOp> {
    let names = prop::collection::vec(any::<Pick>(), 0..4).prop_map(PredicateOp::Names);
    let bound = || prop::option::of(any::<Pick>());
    let count = prop_oneof![1 => Just(0usize), 4 => 1usize..5, 2 => Just(usize::MAX)];
    let range = (bound(), bound(), any::<bool>(), count)
        .prop_map(|(start, finish, reversed, count)| PredicateOp::Range { start, finish, reversed, count });
    let gc_before = prop::sample::select(vec![i32::MIN, 0, 2, i32::MAX]);
    let predicate = prop_oneof![1 => names, 3 => range];
    (any::<bool>(), bound(), predicate, any::<bool>(), gc_before).prop_map(
        |(is_super, holder, predicate, with_tombstones, gc_before)| ReadOp {
            is_super,
            holder,
            predicate,
            with_tombstones,
            gc_before,
        },
    )
}

fn scan() -> impl Strategy<Value = Op> {
    let pick = || prop::option::weighted(0.7, any::<Pick>());
    let edge = || prop::option::of(any::<bool>());
    let bounds = prop_oneof![
        (pick(), pick()).prop_map(|(start, end)| BoundsOp::Keys(start, end)),
        (pick(), pick()).prop_map(|(start, end)| BoundsOp::Tokens(start, end)),
        (edge(), edge()).prop_map(|(start, end)| BoundsOp::Edges(start, end)),
    ];
    let rows = prop_oneof![1 => 0usize..4, 1 => Just(usize::MAX)];
    (bounds, rows, any::<bool>(), read()).prop_map(|(bounds, rows, skip_empty, read)| Op::Scan {
        bounds,
        rows,
        skip_empty,
        read,
    })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => prop::collection::vec(mutation(), 1..3).prop_map(Op::Apply),
        20 => (any::<Pick>(), read()).prop_map(|(key, read)| Op::Read { key, read }),
        12 => scan(),
        2 => (any::<Pick>(), any::<Pick>(), 0usize..3)
            .prop_map(|(start, end, keys)| Op::Splits { start, end, keys }),
        1 => any::<bool>().prop_map(|is_super| Op::Truncate { is_super }),
        2 => Just(Op::Compact),
        2 => Just(Op::Restart),
    ]
}

/// The names and keys of a case.
#[derive(Debug, Clone)]
struct Pools {
    keys: Vec<Bytes>,
    /// By comparator: of the Standard family, of the super columns, of the columns in them.
    names: [Vec<Bytes>; 3],
}

/// Both stores, and what is needed to make calls of numbers.
struct Case {
    directory: tempfile::TempDir,
    catalog: Catalog,
    standard: Arc<CfDef>,
    supers: Arc<CfDef>,
    partitioner: PartitionerRef,
    behaviour: &'static Behaviour,
    pools: Pools,
    memory: MemoryStore,
    embedded: Option<EmbeddedStore>,
}

impl Case {
    fn new(types: [&str; 3], partitioner: PartitionerRef, release: Release, pools: Pools) -> Case {
        let [standard, supers, subs] = types;
        let families =
            [support::family("Standard", standard, None), support::family("Super", supers, Some(subs))];
        let catalog = support::catalog(families);
        let mut case = Case {
            directory: tempfile::tempdir().unwrap(),
            standard: support::cf_of(&catalog, "Standard"),
            supers: support::cf_of(&catalog, "Super"),
            catalog,
            memory: MemoryStore::new(partitioner.clone(), support::manual_clock()),
            partitioner,
            behaviour: Behaviour::of(release),
            pools,
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
        let clock = support::manual_clock();
        let store = EmbeddedStore::open(options, self.partitioner.clone(), &self.catalog, clock);
        self.embedded = Some(store.unwrap());
    }

    fn embedded(&self) -> &EmbeddedStore {
        self.embedded.as_ref().unwrap()
    }

    fn run(&mut self, ops: Vec<Op>) -> Result<(), TestCaseError> {
        for op in ops {
            self.step(op)?;
        }
        // At the end both hold the same, before and after a restart.
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
            Op::Compact => {
                self.embedded().compact().unwrap();
                Ok(())
            }
            Op::Restart => {
                self.reopen();
                Ok(())
            }
        }
    }

    fn compare_everything(&self) -> Result<(), TestCaseError> {
        for is_super in [false, true] {
            let predicate =
                PredicateOp::Range { start: None, finish: None, reversed: false, count: usize::MAX };
            let all =
                ReadOp { is_super, holder: None, predicate, with_tombstones: true, gc_before: i32::MIN };
            let command = RangeCommand {
                bounds: Bounds::Keys { start: Bytes::new(), end: Bytes::new() },
                max_rows: usize::MAX,
                read: self.command(&all),
                skip_empty: false,
            };
            same(self.both(|store| support::wait(store.scan(command.clone(), CONSISTENCY))))?;
        }
        Ok(())
    }

    fn both<T>(&self, call: impl Fn(&dyn Store) -> T) -> (T, T) {
        (call(self.embedded()), call(&self.memory))
    }

    fn key(&self, pick: &Pick) -> Bytes {
        self.pools.keys[pick.index(self.pools.keys.len())].clone()
    }

    fn name(&self, pool: usize, pick: &Pick) -> Bytes {
        self.pools.names[pool][pick.index(self.pools.names[pool].len())].clone()
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
            BoundsOp::Tokens(start, end) => {
                Bounds::Tokens { start: self.token(start.as_ref()), end: self.token(end.as_ref()) }
            }
            BoundsOp::Edges(start, end) => Bounds::Tokens { start: self.edge(*start), end: self.edge(*end) },
        }
    }

    fn mutation(&self, op: &MutationOp) -> Mutation {
        let changes = |cf: &Arc<CfDef>, ops: &[ChangeOp]| CfMutation {
            cf: cf.clone(),
            changes: ops.iter().map(|op| self.change(cf.is_super(), op)).collect(),
        };
        let families = vec![changes(&self.standard, &op.standard), changes(&self.supers, &op.supers)];
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
            ChangeOp::Put { holder, name, value, timestamp } => {
                let (super_column, name) = place(holder, name);
                Change::Cell { super_column, cell: Cell::live(name, value.clone(), *timestamp) }
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
        }
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
            now_s: i32::MIN,
        }
    }
}

/// A pick that needs no dice.
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
    (embedded, memory): (Result<T, E>, Result<T, E>),
) -> Result<(), TestCaseError> {
    let (embedded, memory) = (embedded.unwrap(), memory.unwrap());
    prop_assert_eq!(embedded, memory, "embedded (left) and memory (right)");
    Ok(())
}

/// Short keys and names that are beginnings of one another, or sort by sign and by case.
const SHORT: [&[u8]; 16] = [
    b"a",
    b"A",
    b"ab",
    b"aB",
    b"b",
    b"\0",
    b"\0\0",
    b"a\0",
    b"a\0b",
    b"a\xff",
    b"\xff",
    b"\xff\xff",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"a\0\xff",
];

/// Names that the comparator takes.
fn names_for(compare_with: &str, release: Release) -> Vec<Bytes> {
    let mut names: Vec<Vec<u8>> = SHORT.iter().map(|name| name.to_vec()).collect();
    let edges = [0x00u8, 0x01, 0x7f, 0x80, 0xff];
    names.extend(edges.iter().map(|byte| vec![*byte, 0, 0, 0, 0, 0, 0, 1]));
    for (high, low) in edges.iter().flat_map(|high| edges.map(|low| (*high, low))) {
        let mut uuid = vec![0; 16];
        (uuid[0], uuid[6], uuid[8], uuid[15]) = (high & 1, 0x10, low, high);
        names.push(uuid);
    }
    names.extend(["\u{e000}", "\u{ffff}", "\u{10000}", "é"].map(|text| text.as_bytes().to_vec()));
    let comparator = support::comparator(compare_with);
    let comparator = marshal::at(&*comparator, release);
    names.retain(|name| comparator.validate(name).is_ok());
    names.into_iter().map(Bytes::from).collect()
}

/// Names around every length at which something changes.
fn long_names() -> Vec<Bytes> {
    let mut names =
        vec![Bytes::from_static(b"a"), Bytes::from_static(b"\0"), Bytes::from_static(b"\xff\xff")];
    for length in [29_990, 59_990, 59_999, 60_000, 60_001, 65_534, 65_535] {
        names.push(Bytes::from(vec![b'a'; length]));
        names.push(Bytes::from([&vec![b'a'; length - 1][..], b"b"].concat()));
    }
    for byte in [0, 0xff] {
        names.push(Bytes::from(vec![byte; 30_000]));
        names.push(Bytes::from(vec![byte; 65_535]));
        names.push(Bytes::from([&vec![byte; 65_534][..], b"\x01"].concat()));
    }
    names
}

fn some_of(names: Vec<Bytes>, most: usize) -> impl Strategy<Value = Vec<Bytes>> {
    let most = most.min(names.len());
    prop::sample::subsequence(names, 1..=most)
}

fn any_types() -> impl Strategy<Value = [&'static str; 3]> {
    [0..COMPARATORS.len(), 0..COMPARATORS.len(), 0..COMPARATORS.len()]
        .prop_map(|picked| picked.map(|at| COMPARATORS[at]))
}

fn case() -> impl Strategy<Value = ([&'static str; 3], usize, Release, Pools)> {
    let release = prop::sample::select(RELEASES.to_vec());
    (any_types(), 0..PARTITIONERS.len(), release).prop_flat_map(|(types, partitioner, release)| {
        let keys = some_of(SHORT.iter().map(|key| Bytes::from_static(key)).collect(), 4);
        let names = types.map(|name| some_of(names_for(name, release), 6));
        (Just(types), Just(partitioner), Just(release), (keys, names)).prop_map(
            |(types, partitioner, release, (keys, names))| {
                (types, partitioner, release, Pools { keys, names })
            },
        )
    })
}

/// Cases of each law; more with `PROPTEST_CASES`.
fn cases(usual: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(usual), max_shrink_iters: 2000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn both_stores_answer_alike(
        (types, partitioner, release, pools) in case(),
        ops in prop::collection::vec(op(), 1..60),
    ) {
        Case::new(types, PARTITIONERS[partitioner].1(), release, pools).run(ops)?;
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn keys_and_names_of_any_length_are_kept(
        keys in some_of(long_names(), 3),
        names in [some_of(long_names(), 4), some_of(long_names(), 3), some_of(long_names(), 4)],
        partitioner in 0..PARTITIONERS.len(),
        release in prop::sample::select(RELEASES.to_vec()),
        compare_with in prop::sample::select(vec!["BytesType", "com.example.BackwardsType"]),
        ops in prop::collection::vec(op(), 1..25),
    ) {
        let make = PARTITIONERS[partitioner].1;
        Case::new([compare_with; 3], make(), release, Pools { keys, names }).run(ops)?;
    }
}
