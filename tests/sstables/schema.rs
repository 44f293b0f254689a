//! The schemas of directories in which column families and columns were dropped, renamed and changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::marshal::Types;
use base::schema::{CfDef, Layout, TableDef};
use bytes::Bytes;
use sstable::{Atom, TableOptions, TableReader, Unit};
use transfer::import::{Defined, FamilyName, FoundSchema, Inventory, SchemaSource};

use crate::contents::hex;
use crate::rows::Merged;

/// The data directory of a server, with its schema and some rows.
struct Directory(tempfile::TempDir);

impl Directory {
    fn unpack(release: &str) -> Directory {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sstables");
        let directory = tempfile::tempdir().unwrap();
        let archive = folder.join(format!("{release}-schema.tar.gz"));
        let tar = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(directory.path()).status();
        assert!(tar.expect("tar runs").success());
        Directory(directory)
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn inventory(&self) -> Inventory {
        Inventory::of(&[self.data()]).unwrap()
    }

    /// Returns the schema.
    fn schema(&self) -> FoundSchema {
        FoundSchema::of(&self.inventory(), &Types::builtin()).unwrap()
    }

    /// Returns the Data files of `system.Schema` that no compaction has replaced, sorted by their names.
    fn versions(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data().join("system")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_current = |path: &PathBuf| {
            let text = path.to_str().unwrap();
            text.ends_with("-Data.db") && !Path::new(&text.replace("Data.db", "Compacted")).exists()
        };
        let mut found: Vec<PathBuf> = paths.filter(is_current).collect();
        found.sort();
        found
    }
}

fn merged(partitioner: &str) -> Merged {
    Merged::without_schema(&serde_json::json!({"version": "2.1.22", "partitioner": partitioner}))
}

fn names(families: impl IntoIterator<Item = FamilyName>) -> Vec<String> {
    families.into_iter().map(|name| name.to_string()).collect()
}

/// Several migrations: column families and keyspaces were added and dropped, and one was changed.
#[test]
fn the_last_version_of_a_schema_is_read() {
    for release in ["0.7.10", "1.0.12"] {
        let directory = Directory::unpack(release);
        let schema = directory.schema();
        assert_eq!((schema.source, &schema.missing[..]), (Some(SchemaSource::Versioned), &[][..]));
        let later: &[&str] = if release == "0.7.10" { &[] } else { &["Shop.Comp", "Shop.Counts"] };
        let mut expected = ["Before.Y", "Shop.Carts", "Shop.Late", "Shop.Old", "Shop.Supers"].to_vec();
        expected.extend(later);
        expected.sort_unstable();
        assert_eq!(names(schema.families()), expected, "{release}");
        let numbered: BTreeSet<FamilyName> =
            directory.inventory().number_ids.unwrap().into_values().collect();
        assert_eq!(names(numbered), expected, "{release}");
        let merged = merged("RandomPartitioner");
        assert_eq!(merged.runtime.block_on(schema.define(&merged.database)), Defined::default());
        let catalog = merged.database.catalog().clone();
        let carts = catalog.column_family("Shop", "Carts").unwrap();
        assert_eq!((carts.comment.as_deref(), carts.gc_grace_s), (Some("changed"), 777));
        let index = |name: &[u8]| carts.column_metadata[name].index.as_ref().unwrap().name.clone();
        assert_eq!([index(b"age"), index(b"name")], [Some("by_age".to_owned()), Some("by_name".to_owned())]);
        let supers = catalog.column_family("Shop", "Supers").unwrap();
        assert!(supers.subcomparator().unwrap().class_name().ends_with("TimeUUIDType"));
    }
}

/// With a part of the SSTables the last version that is there is read.
#[test]
fn an_earlier_version_is_read_if_later_ones_are_lost() {
    let directory = Directory::unpack("1.0.12");
    let versions = directory.versions();
    assert!(versions.len() > 1, "{versions:?}");
    fs::remove_file(versions.last().unwrap()).unwrap();
    let found = names(directory.schema().families());
    assert!(found.contains(&"Shop.Carts".to_owned()), "{found:?}");
    for path in &versions[..versions.len() - 1] {
        fs::remove_file(path).unwrap();
    }
    assert_eq!(directory.schema().source, None);
    assert!(directory.inventory().number_ids.is_none());
}

/// Damage is an error or leaves a schema, and never a panic.
#[test]
fn a_damaged_schema_is_reported() {
    let directory = Directory::unpack("0.7.10");
    let path = directory.versions().pop().unwrap();
    let whole = fs::read(&path).unwrap();
    let expected = names(directory.schema().families());
    let (mut failed, mut incomplete) = (0, 0);
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5A;
        fs::write(&path, bytes).unwrap();
        match FoundSchema::of(&directory.inventory(), &Types::builtin()) {
            Err(error) => failed += u64::from(error.to_string().contains("damaged")),
            Ok(schema) => incomplete += u64::from(!schema.missing.is_empty()),
        }
    }
    assert!(failed > 5 && incomplete > 5, "{failed} {incomplete}");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    FoundSchema::of(&directory.inventory(), &Types::builtin()).expect_err("half of it");
    fs::write(&path, whole).unwrap();
    assert_eq!(names(directory.schema().families()), expected);
}

/// Returns the columns of a table of which each row key has cells that were not dropped.
fn visible_columns(directory: &Directory, cf: &CfDef) -> BTreeMap<String, BTreeSet<String>> {
    let table = TableDef::of(cf, base::util::Release::V2_1);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &directory.inventory().families[&FamilyName::of(cf)] {
        let options = TableOptions { layout: Some(Layout::Sparse), partitioner: None };
        let mut reader = TableReader::open(&file.path, &options).unwrap();
        let mut key = Bytes::new();
        while let Some(unit) = reader.next_unit().unwrap() {
            let (name, timestamp) = match unit {
                Unit::Row { key: of, .. } => {
                    key = of;
                    continue;
                }
                Unit::Atom(Atom::Cell { cell, .. }) => (cell.name.clone(), cell.timestamp),
                Unit::Atom(Atom::Counter { counter, .. }) => (counter.name.clone(), counter.timestamp),
                _ => continue,
            };
            if !table.is_dropped(&name, timestamp) {
                let column = table.place_of(&name).unwrap().column.unwrap();
                let text = String::from_utf8(column.to_vec()).unwrap();
                found.entry(hex(&key)).or_default().insert(text);
            }
        }
    }
    found
}

/// Cells of a dropped column are not visible, also after one of its name was added again. The visible ones are those that
/// the servers answered.
#[test]
fn dropped_columns_do_not_come_back() {
    for release in ["2.2.19", "3.11.19"] {
        let directory = Directory::unpack(release);
        let schema = directory.schema();
        let merged = merged("Murmur3Partitioner");
        let defined = merged.runtime.block_on(schema.define(&merged.database));
        assert_eq!(defined.failed, [""; 0], "{release}");
        let catalog = merged.database.catalog().clone();
        let visible = |family: &str| {
            let cf = catalog.column_family("drops", family).unwrap();
            let rows = visible_columns(&directory, cf).into_values();
            rows.map(|columns| columns.into_iter().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        // The first is that of the markers of rows. 2.2.19 had later rows in its commit log only.
        let rows: &[&str] = if release == "2.2.19" { &[" b", " b"] } else { &[" b", " b m s", "b"] };
        assert_eq!(visible("t"), rows, "{release}");
        assert_eq!(visible("plain"), [" b", " b"], "{release}");
        assert_eq!(visible("u"), ["", ""], "{release}");
        assert_eq!(visible("cnt"), ["a", "a"], "{release}");
        let table = catalog.column_family("drops", "t").unwrap().table.clone().unwrap();
        assert_eq!(table.others.keys().collect::<Vec<_>>(), ["a", "b", "m", "s"], "{release}");
        let dropped: Vec<&[u8]> = table.dropped.keys().map(|name| &name[..]).collect();
        assert_eq!(dropped, [&b"a"[..], b"l", b"m", b"s", b"sm", b"z"], "{release}");
        assert_eq!(catalog.column_family("drops", "t").unwrap().comment.as_deref(), Some("with drops"));
    }
}

/// What the target has nothing for is listed.
#[test]
fn views_and_indexes_of_other_classes_are_listed() {
    let directory = Directory::unpack("3.11.19");
    let schema = directory.schema();
    let has = |what: &str| schema.left_out.iter().any(|sentence| sentence.contains(what));
    assert!(has("the materialized view drops.by_b") && has("the index idx_sasi"), "{:?}", schema.left_out);
    assert_eq!(names(schema.views.clone()), ["drops.by_b"]);
    let merged = merged("Murmur3Partitioner");
    let defined = merged.runtime.block_on(schema.define(&merged.database));
    assert!(defined.left_out.iter().any(|what| what.contains("TimeWindow")), "{:?}", defined.left_out);
    let indexed = merged.database.catalog().column_family("drops", "idx").unwrap().clone();
    assert_eq!(indexed.indexed_columns().count(), 1);
}
