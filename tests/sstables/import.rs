//! Data directories of real servers, imported, are what the servers answered.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base::marshal::Types;
use base::partitioner;
use base::schema::{CfDef, TableColumn, TableDef};
use base::util::{Clock, Release};
use transfer::endpoint::Endpoint;
use transfer::import::{Defined, FoundSchema, ImportError, ImportOptions, Inventory, Summary, import};

use crate::contents::{Differences, all_rows, rows_in_tables, selected, unhex};
use crate::fixture::{Fixture, RELEASES, releases_with_logs};
use crate::rows::{Merged, now_s};

fn import_into(
    merged: &Merged,
    contents: &serde_json::Value,
    directories: &[PathBuf],
) -> Result<Summary, ImportError> {
    import_in_order(contents["partitioner"].as_str().unwrap(), merged, contents, directories, false)
}

/// Imports files whose rows are in the order of a partitioner, unless they name their own.
pub fn import_in_order(
    partitioner: &str,
    merged: &Merged,
    contents: &serde_json::Value,
    directories: &[PathBuf],
    skips_damage: bool,
) -> Result<Summary, ImportError> {
    let inventory = Inventory::of(directories)?;
    let clock = Arc::new(Clock::manual(i64::from(now_s(contents)) * 1000));
    let partitioner = partitioner::resolve(partitioner).unwrap();
    let options = ImportOptions { skips_damage, ..ImportOptions::new(partitioner) };
    let to = Arc::new(Endpoint::of_database("memory", merged.database.clone(), clock.clone()));
    merged.runtime.block_on(import(&inventory, Some(to), clock, &options))
}

/// The schema comes from the tables in which the server kept it.
#[test]
fn the_schema_of_a_server_is_found() {
    // Up to 0.6 storage-conf.xml has it.
    for release in RELEASES.into_iter().filter(|release| *release != "0.6.8") {
        let fixture = Fixture::of(release);
        let contents = fixture.contents;
        let merged = Merged::without_schema(contents);
        let inventory = Inventory::of(&[fixture.data()]).unwrap();
        let found = FoundSchema::of(&inventory, &Types::builtin()).unwrap();
        assert_eq!(found.missing, [""; 0], "{release}");
        assert_eq!(merged.runtime.block_on(found.define(&merged.database)), Defined::default(), "{release}");
        let described = Merged::new(contents);
        for name in inventory.families.keys() {
            let cf = |of: &Merged| {
                of.database.catalog().column_family(&name.keyspace, &name.name).unwrap().clone()
            };
            let (found, expected) = (cf(&merged), cf(&described));
            assert_eq!(found.comparator.class_name(), expected.comparator.class_name(), "{release} {name}");
            let subcomparator = |cf: &CfDef| cf.subcomparator().map(|sub| sub.class_name().to_owned());
            assert_eq!(subcomparator(&found), subcomparator(&expected), "{release} {name}");
            assert_eq!(found.is_counter(), expected.is_counter(), "{release} {name}");
            assert_eq!(found.table.is_some(), expected.table.is_some(), "{release} {name}");
            if name.keyspace == "key_space_test" {
                assert_eq!(column_names(&found), column_names(&expected), "{release} {name}");
            }
        }
        check_rows(release, &merged, contents, &[fixture.data()]);
    }
}

/// Returns the names of the columns of a table: the partition key, the clustering and the others.
fn column_names(cf: &CfDef) -> [Vec<String>; 3] {
    let table = TableDef::of(cf, Release::V2_1);
    let names = |columns: &[TableColumn]| columns.iter().map(|column| column.name.clone()).collect();
    [names(&table.partition_key), names(&table.clustering), table.others.keys().cloned().collect()]
}

fn check(release: &'static str, directories: impl Fn(&Fixture) -> Vec<PathBuf>) {
    let fixture = Fixture::of(release);
    check_rows(release, &Merged::new(fixture.contents), fixture.contents, &directories(&fixture));
}

/// Imports directories, and compares the rows with what the server answered.
fn check_rows(release: &str, merged: &Merged, contents: &serde_json::Value, directories: &[PathBuf]) {
    let summary = import_into(merged, contents, directories).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((summary.losses.count(), &summary.undefined[..]), (0, &[][..]), "{release}");
    let catalog = merged.database.catalog().clone();
    let (mut families, mut differences) = (0, Differences::default());
    for (keyspace, described) in contents["rows"].as_object().unwrap() {
        for family in described.as_object().unwrap().keys() {
            let cf = catalog.column_family(keyspace, family).unwrap();
            for (key, columns) in &rows_in_tables(contents, keyspace, family) {
                let place = format!("{release} {keyspace}.{family} {key}");
                differences.compare(&place, &merged.read(cf, key), columns);
            }
            families += 1;
        }
    }
    check_selected(release, merged, contents, false, &mut differences);
    differences.assert_none();
    assert!(families > 10 && summary.total().rows > 200, "{release}: {families}, {:?}", summary.total());
}

/// Compares the rows of CQL tables with what SELECT returned.
fn check_selected(
    release: &str,
    merged: &Merged,
    contents: &serde_json::Value,
    has_commit_logs: bool,
    differences: &mut Differences,
) {
    let tables = selected(contents, has_commit_logs);
    let count: usize = tables.values().map(Vec::len).sum();
    assert!(tables.is_empty() || count > 40, "{release}: {count} rows");
    for (table, rows) in tables {
        let found = merged.selected(contents, &table);
        differences.compare_selected(&format!("{release} SELECT {table}"), &found, &rows);
    }
}

#[test]
fn imported_rows_are_those_that_the_server_answered() {
    for release in RELEASES {
        check(release, |fixture| vec![fixture.data()]);
    }
}

/// Two nodes with the same replicas: everything is merged, and counters count once.
#[test]
fn replicas_of_several_nodes_are_merged() {
    for release in ["0.8.10", "1.0.12", "1.1.12", "1.2.15", "2.0.17", "2.1.22", "2.2.19", "3.0.29"] {
        let other = Fixture::unpack(release);
        check(release, |fixture| vec![fixture.data(), other.data()]);
    }
}

/// What was not in SSTables is in the commit logs. What is in both counts once.
#[test]
fn commit_logs_have_what_was_not_flushed() {
    for release in releases_with_logs() {
        let fixture = Fixture::with_commit_logs(release);
        let contents = fixture.contents;
        let merged = Merged::new(contents);
        let summary =
            import_into(&merged, contents, &[fixture.data()]).unwrap_or_else(|error| panic!("{error}"));
        assert!(summary.commit_logs >= 1, "{release}");
        assert_eq!(summary.losses.first(), [], "{release}");
        assert_eq!(summary.doubts.first(), [], "{release}");
        assert_eq!(summary.unfound.missing(), 0, "{release}: {:?}", summary.unfound);
        let catalog = merged.database.catalog().clone();
        for (keyspace, described) in contents["rows"].as_object().unwrap() {
            for family in described.as_object().unwrap().keys() {
                let cf = catalog.column_family(keyspace, family).unwrap();
                for (key, columns) in &all_rows(contents, keyspace, family) {
                    // A deletion from a name to the end of the row: 2.2 leaves the names after the first one.
                    if release == "2.2.19" && unhex(key) == b"del-range-log" {
                        continue;
                    }
                    assert_eq!(&merged.read(cf, key), columns, "{release} {keyspace}.{family} row {key}");
                }
            }
        }
        let mut differences = Differences::default();
        check_selected(release, &merged, contents, true, &mut differences);
        differences.assert_none();
    }
}

/// Counters of several SSTables are merged row by row, in the order that the files have.
#[test]
fn a_wrong_partitioner_does_not_separate_the_shards_of_a_counter() {
    let fixture = Fixture::of("2.1.22");
    let merged = Merged::new(fixture.contents);
    import_in_order("RandomPartitioner", &merged, fixture.contents, &[fixture.data()], false).unwrap();
    let catalog = merged.database.catalog().clone();
    let mut counters = 0;
    for (keyspace, described) in fixture.contents["rows"].as_object().unwrap() {
        for family in described.as_object().unwrap().keys() {
            let cf = catalog.column_family(keyspace, family).unwrap();
            for (key, columns) in &rows_in_tables(fixture.contents, keyspace, family) {
                assert_eq!(&merged.read(cf, key), columns, "{keyspace}.{family} row {key}");
                counters += usize::from(cf.is_counter());
            }
        }
    }
    assert!(counters > 1);

    // Files of 1.2 do not name it.
    let fixture = Fixture::of("1.2.15");
    let merged = Merged::new(fixture.contents);
    let error =
        import_in_order("ByteOrderedPartitioner", &merged, fixture.contents, &[fixture.data()], false)
            .unwrap_err();
    assert!(
        error.to_string().contains("order of org.apache.cassandra.dht.ByteOrderedPartitioner"),
        "{error}"
    );
}

fn thriftstore(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn import_command(fixture: &Fixture, target: &Path, more: &[&str]) -> Command {
    let mut command = thriftstore(&["import", "--from", fixture.data().to_str().unwrap()]);
    command.arg("--config").arg(fixture.storage_conf());
    command.arg("--to").arg(format!("data:{}", target.display())).args(more);
    command
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Compares two data directories, with their tombstones.
fn assert_same(fixture: &Fixture, one: &Path, other: &Path) {
    let (from, to) = (format!("data:{}", one.display()), format!("data:{}", other.display()));
    let mut command = thriftstore(&["copy", "--verify-only", "--from", &from, "--to", &to, "--config"]);
    let output = command.arg(fixture.storage_conf()).output().unwrap();
    assert!(output.status.success(), "{:?}", texts(&output));
}

#[test]
fn an_import_that_is_killed_goes_on() {
    let fixture = Fixture::of("0.6.8");
    let scratch = tempfile::tempdir().unwrap();
    let (whole, target) = (scratch.path().join("whole"), scratch.path().join("target"));
    let output = import_command(&fixture, &whole, &[]).output().unwrap();
    assert!(output.status.success(), "{:?}", texts(&output));
    let (said, _) = texts(&output);
    assert!(said.contains("imported: 15 column families") && said.contains("214 rows"), "{said}");
    let file = scratch.path().join("import.json");
    let progress = ["--progress-file", file.to_str().unwrap()];
    let mut is_done = false;
    for moment in 0..20 {
        let mut child = import_command(&fixture, &target, &progress)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(5 + 7 * moment));
        child.kill().unwrap();
        is_done |= child.wait().unwrap().success();
    }
    let output = import_command(&fixture, &target, &progress).output().unwrap();
    assert!(output.status.success(), "{:?}", texts(&output));
    assert_same(&fixture, &whole, &target);
    assert_same(&fixture, &target, &whole);
    // Nothing is left to import, whether or not an earlier run came to its end.
    let again = import_command(&fixture, &target, &progress).output().unwrap();
    assert!(texts(&again).0.contains("0 rows"), "{is_done}: {:?}", texts(&again));
}

#[test]
fn damage_ends_an_import_or_is_reported() {
    let fixture = Fixture::unpack("0.6.8");
    let scratch = tempfile::tempdir().unwrap();
    let file = &fixture.files_of("BloggyAppy", "Authors")[0];
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(file, bytes).unwrap();
    let output = import_command(&fixture, &scratch.path().join("a"), &[]).output().unwrap();
    let (_, errors) = texts(&output);
    assert!(!output.status.success() && errors.contains("is damaged at byte"), "{errors}");
    assert!(errors.contains("--skip-damaged"), "{errors}");
    let output = import_command(&fixture, &scratch.path().join("b"), &["--skip-damaged"]).output().unwrap();
    let (said, errors) = texts(&output);
    assert!(!output.status.success() && errors.contains("; lost: "), "{errors}");
    assert!(said.contains("imported: 15 column families"), "{said}");
}

#[test]
fn what_the_target_lacks_is_said_before_anything_is_written() {
    let fixture = Fixture::unpack("0.6.8");
    std::fs::remove_file(fixture.storage_conf()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let target = format!("data:{}", scratch.path().join("target").display());
    let from = fixture.data();
    let base = ["import", "--from", from.to_str().unwrap()];
    let run = |more: &[&str]| {
        let output = thriftstore(&base).args(more).current_dir(scratch.path()).output().unwrap();
        (output.status.success(), texts(&output))
    };
    let (is_success, (_, errors)) = run(&["--to", &target]);
    assert!(
        !is_success && errors.contains("define BloggyAppy.Authors") && errors.contains("--schema"),
        "{errors}"
    );
    let (is_success, (said, _)) = run(&["--dry-run"]);
    assert!(is_success && said.contains("found: 15 column families"), "{said}");
    let (is_success, (_, errors)) = run(&["--dry-run", "--keyspace", "Nowhere"]);
    assert!(!is_success && errors.contains("there are BloggyAppy.Authors"), "{errors}");
    let script = scratch.path().join("schema.cli");
    std::fs::write(
        &script,
        "create keyspace BloggyAppy;\nuse BloggyAppy;\ncreate column family Authors with comparator = BytesType;\n",
    )
    .unwrap();
    let only = [
        "--to",
        &target,
        "--keyspace",
        "BloggyAppy",
        "--column-family",
        "Authors",
        "--partitioner",
        "RandomPartitioner",
    ];
    let (is_success, texts) = run(&[&only[..], &["--schema", script.to_str().unwrap()]].concat());
    assert!(is_success && texts.0.contains("4 rows, 12 cells"), "{texts:?}");
}
