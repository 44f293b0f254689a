//! `thriftstore sstable show` prints names and values by the types of the column family, wherever these are to be had.

use std::path::Path;
use std::process::Command;

use super::fixture::{Fixture, copy_of_table};

/// Returns the lines of a file, without the spaces that align them.
fn shown(file: &Path, options: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.args(["sstable", "show"]).arg(file).args(options).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

const ROW: [&str; 3] = [
    "row key 6c697374 k='list'",
    "(marker) => (name=, value=, timestamp=1409000000000000)",
    "l => (range l to l:! (deleted, timestamp=1408999999999999, deleted_at=1795219807))",
];

#[test]
fn types_are_those_of_the_system_tables_of_the_directory() {
    let fixture = Fixture::of("2.1.22");
    let file = &fixture.files_of("key_space_test", "colls")[0];
    let lines = shown(file, &[]);
    assert_eq!(lines[..3], ROW);
    assert!(
        lines.iter().any(|line| line.starts_with("m['a']=1 => (name=m:61, value=0000000000000001, ")),
        "{lines:?}"
    );
}

#[test]
fn a_file_without_its_directory_has_types_of_a_script_or_of_another_directory() {
    let fixture = Fixture::of("2.1.22");
    let folder = tempfile::tempdir().unwrap();
    let file = copy_of_table(&fixture.files_of("key_space_test", "colls")[0], folder.path());
    assert_eq!(shown(&file, &[])[0], "row key \"list\"");
    let data = fixture.data();
    for from in [data.as_path(), data.parent().unwrap()] {
        assert_eq!(shown(&file, &["--from", from.to_str().unwrap()])[..3], ROW);
    }
    let script = folder.path().join("schema.cql");
    let statements = "CREATE KEYSPACE key_space_test WITH replication = {'class': 'SimpleStrategy', \
        'replication_factor': 1};
        CREATE TABLE key_space_test.colls (k text PRIMARY KEY, l list<text>, m map<text, bigint>, s set<int>);";
    std::fs::write(&script, statements).unwrap();
    assert_eq!(shown(&file, &["--schema", script.to_str().unwrap()])[..3], ROW);
}

#[test]
fn a_file_of_3_x_has_the_types_itself() {
    let fixture = Fixture::of("3.11.19");
    let original = &fixture.files_of("key_space_test", "colls")[0];
    let folder = tempfile::tempdir().unwrap();
    let file = copy_of_table(original, folder.path());
    // Only the names of the columns in keys are not in the file.
    let known: Vec<String> = shown(original, &[]).iter().map(|line| line.replace(" k='", " key='")).collect();
    assert_eq!(shown(&file, &[]), known);
    assert!(known.iter().any(|line| line.starts_with("s {1} => (name=s:00000001, ")), "{known:?}");
}

#[test]
fn a_configuration_of_0_6_has_the_types() {
    let fixture = Fixture::of("0.6.8");
    let file = &fixture.files_of("Cmp", "Del_Sup")[0];
    let raw = "=> (super_column=\"s1\", name=\"x\", value=\"del-super s1/x\", timestamp=1250000000000010)";
    assert_eq!(shown(file, &[])[1], raw);
    let config = fixture.storage_conf();
    let lines = shown(file, &["--config", config.to_str().unwrap()]);
    let typed = "column1='s1' column2='x' => (super_column=s1, name=x, value=64656c2d73757065722073312f78, ";
    assert!(lines[1].starts_with(typed), "{lines:?}");
}

#[test]
fn names_of_super_columns_and_counters_are_texts_of_their_comparators() {
    let fixture = Fixture::of("3.11.19");
    let lines = shown(&fixture.files_of("Cmp", "Ctr_Sup")[0], &[]);
    assert!(
        lines[1].starts_with("column1='s1' column2='x' => (super_column=s1, counter=x, count=3, "),
        "{lines:?}"
    );
}
