//! SSTables that `copy --to sstables:` writes: what they have is what the store has.

use std::path::Path;
use std::sync::Arc;

use base::compat::features::ConsistencyLevel;
use base::marshal::{Types, components};
use base::model::{
    Cell, CellKind, Change, DeletionTime, Mutation, Predicate, RangeTombstone, ReadCommand, RowColumns,
    SliceRange,
};
use base::schema::{CfDef, ColumnType, KeyspaceDef, Layout};
use base::util::Clock;
use bytes::Bytes;
use cluster::ClusterTable;
use proptest::prelude::*;
use sstable::{Atom, TableOptions, TableReader, Unit};
use transfer::copy::{CopyOptions, Exported, Selection, export};
use transfer::endpoint::Endpoint;

use crate::contents::unhex;
use crate::fixture::{Fixture, RELEASES};
use crate::rows::{Merged, NOW_S};

fn export_all(merged: &Merged, directory: &Path, family: Option<&str>) -> Exported {
    let clock = Arc::new(Clock::manual(i64::from(merged.now_s) * 1000));
    let side = Arc::new(Endpoint::of_database("memory", merged.database.clone(), clock));
    let selection =
        Selection { column_family: family.map(str::to_owned), skips_tables: true, ..Selection::default() };
    let options = CopyOptions { selection, ..CopyOptions::default() };
    merged.runtime.block_on(export(&side, directory, &options)).unwrap()
}

/// A live cell: clustering values, value, timestamp, time to live. A counter has only its total.
type Live = (Vec<Bytes>, Bytes, Option<i64>, Option<i32>);

fn live(names: Vec<Bytes>, cell: &Cell) -> Live {
    match cell.kind {
        CellKind::Counter => (names, cell.value.clone(), None, None),
        CellKind::Expiring { ttl_s, .. } => (names, cell.value.clone(), Some(cell.timestamp), Some(ttl_s)),
        _ => (names, cell.value.clone(), Some(cell.timestamp), None),
    }
}

fn read(merged: &Merged, cf: &Arc<CfDef>, key: &Bytes) -> RowColumns {
    let command = ReadCommand {
        cf: cf.clone(),
        super_column: None,
        // 2.1 reads forwards an older tombstone where two touch. What is written has the newest one, as 3.x reads it.
        predicate: Predicate::Range(SliceRange { reversed: true, ..SliceRange::all() }),
        behaviour: base::compat::Behaviour::of(base::util::Release::V2_1),
        with_tombstones: false,
        gc_before: merged.now_s - 864_000,
        now_s: merged.now_s,
    };
    merged
        .runtime
        .block_on(merged.database.store().read(key.clone(), command, ConsistencyLevel::One))
        .unwrap()
}

/// Returns the live cells of a row with the names as clustering values.
fn expected(merged: &Merged, cf: &Arc<CfDef>, key: &Bytes) -> Vec<Live> {
    let table = ClusterTable::of(cf).unwrap();
    let mut found: Vec<Live> = match read(merged, cf, key) {
        RowColumns::Cells(cells) => {
            cells.iter().map(|cell| live(table.clustering(std::slice::from_ref(&cell.name)), cell)).collect()
        }
        RowColumns::Supers(supers) => {
            let cells =
                supers.iter().flat_map(|held| held.cells.iter().map(|cell| (held.name.clone(), cell)));
            cells.map(|(name, cell)| live(table.clustering(&[name, cell.name.clone()]), cell)).collect()
        }
    };
    found.sort();
    found
}

/// The family in which the rows of the files are merged: its names are composites of clustering values.
fn family_of_files(merged: &Merged, cf: &CfDef) -> Arc<CfDef> {
    let class = if cf.is_super() { "CompositeType(BytesType,BytesType)" } else { "CompositeType(BytesType)" };
    let mut read = CfDef::new("Files", &format!("{}_{}", cf.keyspace, cf.name));
    read.comparator = Types::builtin().parse(class).unwrap();
    if cf.is_counter() {
        read.default_validator = Types::builtin().parse("CounterColumnType").unwrap();
    }
    let (keyspace, read) = (KeyspaceDef::new("Files"), Arc::new(read));
    merged
        .runtime
        .block_on(merged.database.restore().define(&keyspace, std::slice::from_ref(&read)))
        .unwrap();
    read
}

/// Reads all SSTables of a family into the store.
fn load(merged: &Merged, directory: &Path, cf: &CfDef, into: &Arc<CfDef>) -> usize {
    let mut tables = 0;
    // Without rows there is no folder.
    let entries = std::fs::read_dir(directory.join(&cf.keyspace).join(&cf.name));
    for entry in entries.into_iter().flatten() {
        let path = entry.unwrap().path();
        if !path.to_str().unwrap().ends_with("-Data.db") {
            continue;
        }
        tables += 1;
        let options = TableOptions { layout: Some(Layout::CompositeDense), partitioner: None };
        let mut table = TableReader::open(&path, &options).unwrap();
        table.check_digest().unwrap();
        assert!(table.descriptor().missing().is_empty());
        let mut row: Option<(Bytes, Vec<Change>)> = None;
        while let Some(unit) = table.next_unit().unwrap() {
            match unit {
                Unit::Row { key, deletion } => {
                    let changes =
                        if deletion.is_deleted() { vec![Change::DeleteRow { deletion }] } else { vec![] };
                    row = Some((key, changes));
                }
                Unit::Atom(Atom::Counter { counter, .. }) => {
                    let cell = Cell { kind: CellKind::Increment, ..counter.to_cell() };
                    row.as_mut().unwrap().1.push(Change::Cell { super_column: None, cell });
                }
                Unit::Atom(atom) => row.as_mut().unwrap().1.extend(atom.into_change()),
                Unit::EndOfRow => {
                    let (key, changes) = row.take().unwrap();
                    if !changes.is_empty() {
                        merged.apply(vec![Mutation::of(key, into.clone(), changes)]);
                    }
                }
            }
        }
    }
    tables
}

fn found(merged: &Merged, cf: &Arc<CfDef>, key: &Bytes) -> Vec<Live> {
    let RowColumns::Cells(cells) = read(merged, cf, key) else { panic!("the names are composites") };
    let mut found: Vec<Live> = cells
        .iter()
        .map(|cell| {
            let names = components(&cell.name).unwrap().into_iter().map(|name| cell.name.slice_ref(name));
            live(names.collect(), cell)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_written_of_every_fixture_is_what_the_store_has() {
    for release in RELEASES {
        let fixture = Fixture::of(release);
        let merged = Merged::new(fixture.contents);
        crate::import::import_in_order(
            fixture.contents["partitioner"].as_str().unwrap(),
            &merged,
            fixture.contents,
            &[fixture.data()],
            false,
        )
        .unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("out");
        let exported = export_all(&merged, &directory, None);
        assert!(exported.families > 10 && exported.cells > 500, "{release}: {exported:?}");
        let script = std::fs::read_to_string(directory.join("schema.cql")).unwrap();
        let files = Merged::new(fixture.contents);
        let catalog = merged.database.catalog().clone();
        let mut rows = 0;
        for (keyspace, described) in fixture.contents["rows"].as_object().unwrap() {
            for (family, of_family) in described.as_object().unwrap() {
                let cf = catalog.column_family(keyspace, family).unwrap();
                if cf.table.is_some() {
                    continue;
                }
                assert!(
                    script.contains(&format!("\"{keyspace}\".\"{family}\" (key ")),
                    "{release}: {script}"
                );
                let into = family_of_files(&files, cf);
                load(&files, &directory, cf, &into);
                for row in of_family.as_array().unwrap() {
                    let key = Bytes::from(unhex(row["key"].as_str().unwrap()));
                    let expected = expected(&merged, cf, &key);
                    assert_eq!(found(&files, &into, &key), expected, "{release} {keyspace}.{family} {key:?}");
                    rows += usize::from(!expected.is_empty());
                }
            }
        }
        assert!(rows > 50, "{release}: {rows}");
    }
}

/// A change of a row, from small numbers.
fn change(is_super: bool, kind: u8, numbers: (u8, u8, u8), timestamp: i64) -> Change {
    let (holder, one, two) = numbers;
    let super_column = is_super.then(|| Bytes::from(vec![holder]));
    let deletion = DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: NOW_S - 10 };
    let name = Bytes::from(vec![one]);
    match kind {
        0..=4 => {
            let cell = Cell::live(name, vec![two; usize::from(two)].into(), timestamp);
            Change::Cell { super_column, cell }
        }
        5 => {
            let kind = CellKind::Expiring { ttl_s: 100, expires_at_s: NOW_S - 5 + i32::from(two) };
            Change::Cell { super_column, cell: Cell { kind, ..Cell::live(name, name_of(two), timestamp) } }
        }
        6 => Change::Cell { super_column, cell: Cell::tombstone(name, timestamp, NOW_S - 20) },
        7 => Change::DeleteRow { deletion },
        8 if is_super => Change::DeleteSuper { name: Bytes::from(vec![holder]), deletion },
        _ => {
            let (start, finish) = (one.min(two), one.max(two));
            Change::DeleteRange(RangeTombstone {
                super_column,
                start: name_of(start),
                finish: if finish > 6 { Bytes::new() } else { name_of(finish) },
                deletion,
            })
        }
    }
}

fn name_of(number: u8) -> Bytes {
    if number == 0 { Bytes::new() } else { Bytes::from(vec![number]) }
}

fn family(is_super: bool) -> Arc<CfDef> {
    let mut cf = CfDef::new("Ks", if is_super { "Super" } else { "Standard" });
    if is_super {
        cf.column_type = ColumnType::Super { subcomparator: Types::builtin().parse("BytesType").unwrap() };
    }
    Arc::new(cf)
}

fn empty(families: &[Arc<CfDef>]) -> Merged {
    let contents = serde_json::json!({
        "version": "2.1.22",
        "partitioner": "org.apache.cassandra.dht.RandomPartitioner",
    });
    let merged = Merged::without_schema(&contents);
    let keyspace = KeyspaceDef::new("Ks");
    merged.runtime.block_on(merged.database.restore().define(&keyspace, families)).unwrap();
    merged
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Rows with cells, tombstones and range tombstones of all kinds are read as they were written.
    #[test]
    fn rows_are_read_as_they_were_written(
        changes in prop::collection::vec(
            (any::<bool>(), 0u8..4, 0u8..12, (1u8..4, 1u8..8, 0u8..8), 1i64..20), 1..80
        ),
    ) {
        let families = [family(false), family(true)];
        let merged = empty(&families);
        for (is_super, key, kind, numbers, timestamp) in changes {
            let cf = families[usize::from(is_super)].clone();
            let change = change(is_super, kind, numbers, timestamp);
            merged.apply(vec![Mutation::of(Bytes::from(vec![key]), cf, vec![change])]);
        }
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("out");
        export_all(&merged, &directory, None);
        let files = empty(&families);
        for cf in &families {
            let into = family_of_files(&files, cf);
            load(&files, &directory, cf, &into);
            for key in 0u8..4 {
                let key = Bytes::from(vec![key]);
                prop_assert_eq!(found(&files, &into, &key), expected(&merged, cf, &key));
            }
        }
    }
}

/// A row of several blocks, and more rows than an SSTable has.
#[test]
fn wide_rows_and_several_tables_are_written() {
    let cf = family(false);
    let merged = empty(std::slice::from_ref(&cf));
    let value = Bytes::from(vec![7; 20_000]);
    for row in 0..4u8 {
        for first in 0..10u16 {
            let cells = (first * 100..first * 100 + 100).map(|name| {
                let name = Bytes::copy_from_slice(&name.to_be_bytes());
                Change::Cell { super_column: None, cell: Cell::live(name, value.clone(), 5) }
            });
            merged.apply(vec![Mutation::of(Bytes::from(vec![row]), cf.clone(), cells.collect())]);
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("out");
    let exported = export_all(&merged, &directory, Some("Standard"));
    assert_eq!((exported.rows, exported.cells), (4, 4000));
    let files = empty(std::slice::from_ref(&cf));
    let into = family_of_files(&files, &cf);
    assert_eq!(load(&files, &directory, &cf, &into), 2);
    for row in 0..4u8 {
        let key = Bytes::from(vec![row]);
        assert_eq!(found(&files, &into, &key).len(), 1000);
        assert_eq!(found(&files, &into, &key), expected(&merged, &cf, &key));
    }
    // Another export does not mix with this one.
    let clock = Arc::new(Clock::manual(0));
    let side = Arc::new(Endpoint::of_database("memory", merged.database.clone(), clock));
    let options = CopyOptions { rows_at_a_time: 2, ..CopyOptions::default() };
    let error = merged.runtime.block_on(export(&side, &directory, &options)).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
}
