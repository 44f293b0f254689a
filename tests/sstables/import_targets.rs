//! The targets of `thriftstore import`: new directories, progress files that do not belong to them, and what is missing in
//! the source.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::Fixture;

/// Runs `thriftstore import` in a directory. Returns whether it succeeds, and what it prints.
fn import(scratch: &Path, from: &Path, more: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    command.arg("import").arg("--from").arg(from).args(more).stdin(Stdio::null()).current_dir(scratch);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_new_directory_gets_the_partitioner_of_the_files() {
    let fixture = Fixture::unpack("2.1.22");
    let scratch = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| import(scratch.path(), &fixture.data(), more);
    let (is_success, said) = run(&["--to", "data:new", "--verify"]);
    assert!(is_success && said.contains("compared: "), "{said}");
    assert!(
        said.contains("note: new gets the partitioner org.apache.cassandra.dht.Murmur3Partitioner"),
        "{said}"
    );
    // It keeps it.
    let (is_success, said) = run(&["--to", "data:new", "--verify-only"]);
    assert!(is_success && said.contains("compared: ") && !said.contains("gets the partitioner"), "{said}");
}

/// A copy of an imported directory needs no configuration, and has nothing that was not imported.
#[test]
fn a_directory_is_copied_with_its_own_partitioner() {
    let fixture = Fixture::of("2.1.22");
    let scratch = tempfile::tempdir().unwrap();
    let (is_success, said) = import(scratch.path(), &fixture.data(), &["--to", "data:new"]);
    assert!(is_success, "{said}");
    let copy = |to: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args(["copy", "--from", "data:new", "--to", to]).args(more).stdin(Stdio::null());
        let output = command.current_dir(scratch.path()).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{said}");
    };
    copy("sstables:out", &["--skip-cql-tables"]);
    let schema = fs::read_to_string(scratch.path().join("out/schema.cql")).unwrap();
    assert!(schema.contains("BloggyAppy") && !schema.contains("Keyspace1"), "{schema}");
    copy("data:same", &["--verify"]);
    copy("data:other", &["--verify", "--partitioner", "RandomPartitioner"]);
    copy("data:other", &["--verify-only"]);
}

#[test]
fn the_partitioner_that_all_files_name_is_theirs() {
    let fixture = Fixture::of("2.1.22");
    let scratch = tempfile::tempdir().unwrap();
    let more = ["--dry-run", "--partitioner", "RandomPartitioner"];
    let (is_success, said) = import(scratch.path(), &fixture.data(), &more);
    assert!(is_success && said.contains("partitioner  Murmur3Partitioner: the SSTables name it"), "{said}");
}

#[test]
fn a_progress_file_belongs_to_a_target_and_to_files() {
    let fixture = Fixture::unpack("2.1.22");
    let scratch = tempfile::tempdir().unwrap();
    let run = || import(scratch.path(), &fixture.data(), &["--to", "data:to", "--progress-file", "progress"]);
    let (is_success, said) = run();
    assert!(is_success, "{said}");
    let (is_success, said) = run();
    assert!(is_success && said.contains("imported before: "), "{said}");
    fs::rename(scratch.path().join("to"), scratch.path().join("elsewhere")).unwrap();
    let (is_success, said) = run();
    assert!(!is_success && said.contains("parts are imported into to, where nothing is"), "{said}");
    assert!(!scratch.path().join("to").exists());
    fs::rename(scratch.path().join("elsewhere"), scratch.path().join("to")).unwrap();
    let data = &fixture.files_of("Cmp", "Std_UTF8Type")[0];
    let longer = [fs::read(data).unwrap(), vec![0]].concat();
    fs::write(data, longer).unwrap();
    let (is_success, said) = run();
    assert!(!is_success && said.contains("when the import began, and has"), "{said}");
}

#[test]
fn a_storage_conf_near_the_files_defines_their_column_families() {
    let fixture = Fixture::of("0.6.8");
    let scratch = tempfile::tempdir().unwrap();
    let (is_success, said) = import(scratch.path(), &fixture.data(), &["--to", "data:to", "--verify"]);
    assert!(is_success && said.contains("storage-conf.xml defines the column families"), "{said}");
    assert!(said.contains("BloggyAppy.Authors "), "{said}");
}

#[test]
fn a_refused_import_leaves_no_directory() {
    let fixture = Fixture::unpack("0.6.8");
    fs::remove_file(fixture.storage_conf()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let (is_success, said) = import(scratch.path(), &fixture.data(), &["--to", "data:to"]);
    assert!(!is_success && said.contains("define"), "{said}");
    assert!(!scratch.path().join("to").exists(), "{said}");
    // A directory that was there stays, and is empty again.
    fs::create_dir(scratch.path().join("there")).unwrap();
    let (is_success, said) = import(scratch.path(), &fixture.data(), &["--to", "data:there"]);
    assert!(!is_success && said.contains("define"), "{said}");
    assert_eq!(fs::read_dir(scratch.path().join("there")).unwrap().count(), 0, "{said}");
}

#[test]
fn a_missing_data_file_ends_an_import() {
    let fixture = Fixture::unpack("2.1.22");
    let scratch = tempfile::tempdir().unwrap();
    let data = &fixture.files_of("Cmp", "Std_UTF8Type")[0];
    fs::remove_file(data).unwrap();
    let missing = format!("{}: the Data file is missing", data.display());
    let (is_success, said) = import(scratch.path(), &fixture.data(), &["--to", "data:to"]);
    assert!(!is_success && said.contains(&missing) && said.contains("--skip-damaged"), "{said}");
    assert!(!scratch.path().join("to").exists(), "{said}");
    let (is_success, said) = import(scratch.path(), &fixture.data(), &["--to", "data:to", "--skip-damaged"]);
    assert!(!is_success && said.contains(&missing) && said.contains("imported: "), "{said}");
}
