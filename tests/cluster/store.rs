//! Compares the store on a ring with the reference model: random writes, deletions and reads get the same answers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::collections::HashSet;
use std::sync::Arc;

use crate::{cluster_support, reference_model};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal::Types;
use base::model::{
    Bounds, Cell, CellKind, Change, DeletionTime, Mutation, Predicate, RangeCommand, RangeTombstone,
    ReadCommand, RowColumns, SliceRange,
};
use base::partitioner::Murmur3Partitioner;
use base::schema::{CfDef, ColumnType};
use base::util::{Clock, Release};
use bytes::Bytes;
use cluster_support::{SchemaCalls, catalog, cql, options, own_name, runtime, store, tables};
use reference_model::ReferenceModel;
use store::{Store, StoreError};

/// Pseudo-random numbers, the same in every run with a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}

fn behaviour() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

fn family(keyspace: &str, name: &str, comparator: &str, subcomparator: Option<&str>) -> CfDef {
    let types = Types::builtin();
    let column_type = match subcomparator {
        Some(of) => ColumnType::Super { subcomparator: types.parse(of).unwrap() },
        None => ColumnType::Standard,
    };
    CfDef { column_type, comparator: types.parse(comparator).unwrap(), ..CfDef::new(keyspace, name) }
}

/// Returns one of eight names of a type. Numbers are negative and positive.
fn name_of(comparator: &str, number: u64) -> Bytes {
    let signed = i64::try_from(number).unwrap() - 4;
    match comparator {
        "LongType" | "ReversedType(LongType)" => signed.to_be_bytes().to_vec().into(),
        "IntegerType" => vec![u8::try_from(signed.rem_euclid(256)).unwrap()].into(),
        "LexicalUUIDType" => [[u8::try_from(number * 36).unwrap(); 8], [7; 8]].concat().into(),
        "TimeUUIDType" => {
            let mut uuid = *uuid::Uuid::from_fields(7, 1, 0x1000, &[0x80; 8]).as_bytes();
            uuid[3] = u8::try_from(number).unwrap();
            uuid.to_vec().into()
        }
        "CompositeType(UTF8Type,LongType)" => {
            let text = ["", "a", "a\0b", "b"][usize::try_from(number % 4).unwrap()];
            let mut name = u16::try_from(text.len()).unwrap().to_be_bytes().to_vec();
            name.extend(text.bytes());
            name.push(0);
            name.extend([0, 8]);
            name.extend(signed.to_be_bytes());
            name.push(0);
            name.into()
        }
        _ => Bytes::from(format!("n{number}")),
    }
}

/// A generator of the changes and reads for both stores.
struct Requests<'a> {
    cf: Arc<CfDef>,
    types: (&'a str, Option<&'a str>),
    dice: Dice,
    /// The number of timestamps so far.
    stamps: i64,
    /// Rows that have a range tombstone.
    ranged: HashSet<Bytes>,
    now_s: i32,
}

impl Requests<'_> {
    fn key(&mut self) -> Bytes {
        Bytes::from(format!("row{}", self.dice.below(6)))
    }

    fn outer(&mut self) -> Bytes {
        name_of(self.types.0, self.dice.below(8))
    }

    fn inner(&mut self) -> Bytes {
        let of = self.types.1.unwrap_or(self.types.0);
        name_of(of, self.dice.below(8))
    }

    /// Returns a new timestamp. No two changes have the same one, because ties are resolved differently on the two
    /// stores.
    fn timestamp(&mut self, step: i64) -> i64 {
        let late = i64::try_from(self.dice.below(40)).unwrap();
        self.stamps += 1;
        (step - late) * 10_000 + self.stamps
    }

    fn deletion(&mut self, step: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at: self.timestamp(step), local_deletion_time: self.now_s }
    }

    fn change(&mut self, step: i64) -> Change {
        let super_column = self.types.1.is_some().then(|| self.outer());
        match self.dice.below(20) {
            0 => Change::DeleteRow { deletion: self.deletion(step) },
            1 if super_column.is_some() => {
                Change::DeleteSuper { name: self.outer(), deletion: self.deletion(step) }
            }
            2 => {
                let within = super_column.filter(|_| self.dice.one_in(2));
                let bound = |requests: &mut Self| match requests.dice.below(4) {
                    0 => Bytes::new(),
                    _ if within.is_some() => requests.inner(),
                    _ => requests.outer(),
                };
                let (start, finish) = (bound(self), bound(self));
                let deletion = self.deletion(step);
                Change::DeleteRange(RangeTombstone { super_column: within, start, finish, deletion })
            }
            3..6 => {
                let cell = Cell::tombstone(self.inner(), self.timestamp(step), self.now_s);
                Change::Cell { super_column, cell }
            }
            6 => {
                let (name, timestamp) = (self.inner(), self.timestamp(step));
                let cell = Cell::expiring(name, format!("e{step}").into(), timestamp, 3600, self.now_s);
                Change::Cell { super_column, cell }
            }
            _ => {
                let cell = Cell::live(self.inner(), format!("v{step}").into(), self.timestamp(step));
                Change::Cell { super_column, cell }
            }
        }
    }

    /// Returns whether the old servers, and therefore the model, treat changes differently from a ring: deletions of a
    /// row in one mutation replace each other, and where several range tombstones meet, reversed slices see other
    /// bounds.
    fn has_quirks(&mut self, key: &Bytes, changes: &[Change]) -> bool {
        let deletions = changes.iter().filter(|change| matches!(change, Change::DeleteRow { .. })).count();
        let ranges = changes.iter().filter(|change| matches!(change, Change::DeleteRange(_))).count();
        deletions > 1 || ranges > 1 || ranges == 1 && !self.ranged.insert(key.clone())
    }

    fn command(&mut self) -> ReadCommand {
        let super_column = (self.types.1.is_some() && self.dice.one_in(2)).then(|| self.outer());
        let is_inner = super_column.is_some() || self.types.1.is_none();
        let name = |requests: &mut Self| if is_inner { requests.inner() } else { requests.outer() };
        let predicate = if self.dice.one_in(4) {
            let count = 1 + self.dice.below(4);
            Predicate::Names((0..count).map(|_| name(self)).collect())
        } else {
            let bound =
                |requests: &mut Self| if requests.dice.one_in(2) { Bytes::new() } else { name(requests) };
            let (start, finish) = (bound(self), bound(self));
            let (reversed, count) = (self.dice.one_in(2), usize::try_from(1 + self.dice.below(6)).unwrap());
            Predicate::Range(SliceRange { start, finish, reversed, count })
        };
        ReadCommand {
            cf: self.cf.clone(),
            super_column,
            predicate,
            behaviour: behaviour(),
            with_tombstones: false,
            gc_before: i32::MIN,
            now_s: self.now_s,
        }
    }
}

/// Returns what a client sees. A ring returns the remaining TTL, which may differ by seconds, so TTLs are not compared.
fn seen(columns: RowColumns) -> RowColumns {
    let plain = |cell: &mut Cell| {
        if let CellKind::Expiring { ttl_s, expires_at_s } = &mut cell.kind {
            assert!((3500..=3600).contains(ttl_s), "{ttl_s}");
            (*ttl_s, *expires_at_s) = (0, 0);
        }
    };
    match columns {
        RowColumns::Cells(mut cells) => {
            cells.iter_mut().for_each(plain);
            RowColumns::Cells(cells)
        }
        RowColumns::Supers(mut supers) => {
            for found in &mut supers {
                found.deletion = DeletionTime::LIVE;
                found.cells.iter_mut().for_each(plain);
            }
            RowColumns::Supers(supers)
        }
    }
}

/// Applies changes to both stores and compares reads.
async fn compare(requests: &mut Requests<'_>, ring: &dyn Store, model: &dyn Store) {
    for step in 1..=250 {
        let changes = (0..1 + requests.dice.below(3)).map(|_| requests.change(step)).collect::<Vec<_>>();
        let key = requests.key();
        if !requests.has_quirks(&key, &changes) {
            let mutation = Mutation::of(key, requests.cf.clone(), changes);
            for store in [ring, model] {
                let applied = store.apply(vec![mutation.clone()], behaviour(), ConsistencyLevel::Quorum);
                applied.await.unwrap();
            }
        }
        for _ in 0..2 {
            let (key, command) = (requests.key(), requests.command());
            let read = async |store: &dyn Store| {
                seen(store.read(key.clone(), command.clone(), ConsistencyLevel::Quorum).await.unwrap())
            };
            let (found, expected) = (read(ring).await, read(model).await);
            assert_eq!(found, expected, "step {step}, row {key:?}, {:?}", command.predicate);
        }
        if step % 25 == 0 {
            compare_scans(requests, ring, model).await;
        }
    }
}

async fn compare_scans(requests: &mut Requests<'_>, ring: &dyn Store, model: &dyn Store) {
    for _ in 0..4 {
        let (start, end) = (requests.key(), requests.key());
        let bounds = match requests.dice.below(3) {
            0 => Bounds::Keys { start: Bytes::new(), end: Bytes::new() },
            1 => Bounds::Keys { start, end: Bytes::new() },
            _ => {
                let token = |key: &Bytes| {
                    let mut token = Vec::new();
                    base::partitioner::Partitioner::token(&Murmur3Partitioner, key, &mut token);
                    token
                };
                Bounds::Tokens { start: token(&start), end: token(&end) }
            }
        };
        let mut read = requests.command();
        if requests.dice.one_in(2) {
            let count = if requests.dice.one_in(2) { 2 } else { usize::MAX };
            read.super_column = None;
            read.predicate = Predicate::Range(SliceRange { count, ..SliceRange::all() });
        }
        // The model returns rows without live cells, the ring does not.
        let command = RangeCommand { bounds, max_rows: 4, read, skip_empty: true };
        let scan = async |store: &dyn Store| {
            let rows = store.scan(command.clone(), ConsistencyLevel::Quorum).await.unwrap();
            rows.into_iter().map(|row| (row.key, seen(row.columns))).collect::<Vec<_>>()
        };
        assert_eq!(scan(ring).await, scan(model).await, "{command:?}");
    }
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_recorded_table_that_is_missing_is_created() {
    let keyspace = own_name("followed");
    let schema = catalog(&keyspace, [family(&keyspace, "Cf", "UTF8Type", None)]);
    runtime().block_on(async {
        let one = store(&options()).await;
        one.alter(schema.clone()).await.unwrap();
        cql(&format!("DROP TABLE \"{keyspace}\".\"Cf\"")).await;
        let other = store(&options()).await;
        other.capabilities().shared_schema.unwrap().follow(schema).await.unwrap();
        cql(&format!("SELECT key, column1, value FROM \"{keyspace}\".\"Cf\"")).await;
        cql(&format!("DROP KEYSPACE \"{keyspace}\"")).await;
    });
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_store_that_has_not_read_the_newest_records_cannot_change_tables() {
    let keyspace = own_name("missed");
    runtime().block_on(async {
        let (one, other) = (store(&options()).await, store(&options()).await);
        let schema = catalog(&keyspace, [CfDef::new(&keyspace, "Cf"), CfDef::new(&keyspace, "More")]);
        one.alter(schema.clone()).await.unwrap();
        let mark = |value: Option<Bytes>| vec![(format!("test/{keyspace}"), value)];
        one.put_records(mark(Some(Bytes::new()))).await.unwrap();
        let cf = schema.column_family(&keyspace, "Cf").unwrap();
        one.drop_family(cf.clone()).await.unwrap();

        let more = schema.column_family(&keyspace, "More").unwrap();
        let refused = |outcome: Result<(), StoreError>| {
            assert!(matches!(outcome, Err(StoreError::SchemaDisagreement(_))), "{outcome:?}");
        };
        refused(other.alter(schema.clone()).await);
        refused(other.drop_family(more.clone()).await);
        refused(other.capabilities().shared_schema.unwrap().drop_keyspace(&keyspace).await);
        assert_eq!(tables(&keyspace).await, ["More"]);

        other.records().await.unwrap();
        other.put_records(mark(None)).await.unwrap();
        other.drop_family(more.clone()).await.unwrap();
        other.capabilities().shared_schema.unwrap().drop_keyspace(&keyspace).await.unwrap();
    });
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_ring_answers_like_the_reference_model() {
    let keyspace = own_name("twin");
    let kinds: &[(&str, &str, Option<&str>)] = &[
        ("Texts", "UTF8Type", None),
        ("Longs", "LongType", None),
        ("Turned", "ReversedType(LongType)", None),
        ("Integers", "IntegerType", None),
        ("Uuids", "LexicalUUIDType", None),
        ("Times", "TimeUUIDType", None),
        ("Composites", "CompositeType(UTF8Type,LongType)", None),
        ("Supers", "UTF8Type", Some("LongType")),
        ("TurnedSupers", "ReversedType(LongType)", Some("LexicalUUIDType")),
    ];
    let families = kinds.iter().map(|(name, of, inner)| family(&keyspace, name, of, *inner));
    let schema = catalog(&keyspace, families);
    runtime().block_on(async {
        let ring = store(&options()).await;
        ring.alter(schema.clone()).await.unwrap();
        let clock = Arc::new(Clock::system());
        for (seed, (name, comparator, inner)) in (1..).zip(kinds) {
            let cf = schema.column_family(&keyspace, name).unwrap().clone();
            let model = ReferenceModel::new(Arc::new(Murmur3Partitioner), clock.clone());
            let types = (*comparator, *inner);
            let mut requests = Requests {
                cf,
                types,
                dice: Dice(seed),
                stamps: 0,
                ranged: HashSet::new(),
                now_s: clock.now_s(),
            };
            compare(&mut requests, &ring, &model).await;
            println!("{name}: no differences");
        }
        for cf in schema.column_families() {
            ring.drop_family(cf.clone()).await.unwrap();
        }
        ring.alter(catalog("unused", []).clone()).await.unwrap();
    });
}
