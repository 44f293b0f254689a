//! SSTables that cannot be of the column family that a script or a configuration defines are not imported without a
//! word.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::fixture::Fixture;

/// A release, a column family, its definition in a file, and what is said.
type Case = (&'static str, [&'static str; 2], &'static str, &'static str);

/// Definitions that are not those of the files.
const WRONG: [Case; 8] = [
    ("2.1.22", ["Cmp", "Std_LongType"], "create column family {} with comparator = UTF8Type;", "is not of "),
    ("2.1.22", ["Cmp", "Std_IntegerType"], "create column family {} with comparator = BytesType;", "order"),
    (
        "1.1.12",
        ["Cmp", "Del_Sup"],
        "create column family {} with comparator = UTF8Type;",
        "has super columns",
    ),
    ("0.7.10", ["Cmp", "Std_UTF8Type"], "create column family {} with comparator = LongType;", "is not of "),
    (
        "3.11.19",
        ["key_space_test", "colls"],
        "CREATE TABLE {} (k text PRIMARY KEY, l list<text>, m map<text, text>, s set<int>);",
        "its column m is of the type map<text, bigint>, and the definition has map<text, text>",
    ),
    (
        "3.11.19",
        ["key_space_test", "wide"],
        "CREATE TABLE {} (k text, c text, v text, PRIMARY KEY (k, c));",
        "it has the clustering columns (int), and the definition has the clustering columns (text)",
    ),
    (
        "3.0.29",
        ["key_space_test", "wide"],
        "CREATE TABLE {} (k int, c int, v text, PRIMARY KEY (k, c));",
        "its row keys are (text), and those of the definition (int)",
    ),
    (
        "3.11.19",
        ["Cmp", "Std_LongType"],
        "create column family {} with comparator = UTF8Type;",
        "its column names are of org.apache.cassandra.db.marshal.LongType, and the definition has",
    ),
];

/// Definitions with which clients can read the files: wider types.
const WIDER: [Case; 2] = [
    ("2.1.22", ["Cmp", "Std_UTF8Type"], "create column family {} with comparator = BytesType;", ""),
    (
        "3.11.19",
        ["key_space_test", "colls"],
        "CREATE TABLE {} (k blob PRIMARY KEY, l list<blob>, m map<blob, bigint>, s set<int>);",
        "",
    ),
];

/// Writes the script of a case. Returns the name of its file.
fn script(folder: &Path, [keyspace, family]: [&str; 2], definition: &str) -> String {
    let (name, before, quote) = match definition.starts_with("create") {
        true => ("schema.cli", format!("create keyspace {keyspace}; use {keyspace};"), ""),
        false => (
            "schema.cql",
            format!(
                "CREATE KEYSPACE \"{keyspace}\" WITH replication = {{'class': 'SimpleStrategy', \
                 'replication_factor': 1}};\nUSE \"{keyspace}\";"
            ),
            "\"",
        ),
    };
    let text = format!("{before}\n{}\n", definition.replace("{}", &format!("{quote}{family}{quote}")));
    fs::write(folder.join(name), text).unwrap();
    name.to_owned()
}

/// Imports the column family of a case. Returns whether that succeeds, and what is printed.
fn import((release, place, definition, _): Case, options: &[&str]) -> (bool, String) {
    let fixture = Fixture::of(release);
    let folder = tempfile::tempdir().unwrap();
    let schema = script(folder.path(), place, definition);
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    command.arg("import").arg("--from").arg(fixture.data()).args(["--schema", &schema]).args(options);
    command.args(["--keyspace", place[0], "--column-family", place[1]]).stdin(Stdio::null());
    if !options.contains(&"--dry-run") {
        command.args(["--to", "data:to"]);
    }
    let output = command.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    if !output.status.success() && !options.contains(&"--skip-damaged") {
        assert!(!folder.path().join("to").exists(), "a refused import leaves no directory: {said}");
    }
    (output.status.success(), said)
}

#[test]
fn wrong_definitions_are_refused() {
    for case in WRONG {
        for options in [&[][..], &["--dry-run"]] {
            let (is_success, said) = import(case, options);
            assert!(!is_success && said.contains(case.3), "{}: {said}", case.2);
            assert!(said.contains("with a wrong definition of "), "{said}");
        }
    }
}

#[test]
fn they_are_imported_with_a_report_if_damage_is_skipped() {
    let (is_success, said) = import(WRONG[0], &["--skip-damaged"]);
    assert!(!is_success && said.contains("imported:") && said.contains("with a wrong definition"), "{said}");
}

#[test]
fn definitions_with_wider_types_are_accepted() {
    for case in WIDER {
        let (is_success, said) = import(case, &["--verify"]);
        assert!(is_success, "{}: {said}", case.2);
    }
}
