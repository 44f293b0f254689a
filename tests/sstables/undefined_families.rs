//! Commit logs have writes of column families that the target does not define: they are reported, and never lost in silence.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fixture::{Fixture, releases_with_logs};

/// A directory of a real server with its commit logs, and a target.
struct Setup {
    fixture: Fixture,
    scratch: tempfile::TempDir,
}

impl Setup {
    fn of(release: &'static str) -> Setup {
        let fixture = Fixture::unpack_with_commit_logs(release);
        // It would define the column families of 0.6.
        if release == "0.6.8" {
            fs::remove_file(fixture.storage_conf()).unwrap();
        }
        Setup { fixture, scratch: tempfile::tempdir().unwrap() }
    }

    fn logs(&self) -> PathBuf {
        self.fixture.data().with_file_name("commitlog")
    }

    /// Returns whether the command succeeds, and what it prints.
    fn import(&self, from: &Path, more: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.arg("import").arg("--from").arg(from).args(more).stdin(Stdio::null());
        if !more.contains(&"--dry-run") {
            let target = tempfile::tempdir_in(self.scratch.path()).unwrap().keep();
            command.arg("--to").arg(format!("data:{}", target.display()));
        }
        let output = command.current_dir(self.scratch.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }
}

#[test]
fn writes_of_unknown_column_families_are_reported() {
    for release in releases_with_logs() {
        let setup = Setup::of(release);
        let words = match release {
            "0.6.8" => "column families without a definition, with the number of writes: BloggyAppy.",
            _ => "column families whose names are not known, with the number of writes: the ",
        };
        let (is_success, said) = setup.import(&setup.logs(), &[]);
        assert!(
            !is_success && said.contains(&format!("not imported: writes in commit logs of {words}")),
            "{said}"
        );
        // Without a definition it is not known which column families have super columns.
        assert!(!said.contains("damaged: "), "{release}: {said}");
        assert!(
            said.contains("writes in commit logs of column families without a definition (see above)"),
            "{said}"
        );
        let (is_success, said) = setup.import(&setup.logs(), &["--skip-undefined"]);
        assert!(is_success && said.contains(words), "{said}");
        let (is_success, said) = setup.import(&setup.logs(), &["--dry-run"]);
        assert!(
            is_success && said.contains(&format!("not counted: writes in commit logs of {words}")),
            "{said}"
        );
    }
}

/// Directories have the names of column families that were never flushed.
#[test]
fn writes_of_column_families_without_a_schema_are_reported_by_name() {
    for release in ["2.1.22", "3.0.29"] {
        let setup = Setup::of(release);
        let data = setup.fixture.data();
        for entry in fs::read_dir(&data).unwrap().map(Result::unwrap) {
            if entry.file_name().to_string_lossy().starts_with("system") {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
        for file in setup.fixture.files_of("BloggyAppy", "Authors") {
            fs::remove_file(file.to_string_lossy().replace("-Data.db", "-Index.db")).unwrap();
            fs::remove_file(file).unwrap();
        }
        let script = setup.scratch.path().join("schema.cli");
        fs::write(&script, "create keyspace Other;").unwrap();
        let more = ["--schema", script.to_str().unwrap(), "--skip-undefined", "--keyspace", "BloggyAppy"];
        let (is_success, said) = setup.import(&data, &more);
        assert!(is_success && said.contains("not imported: writes in commit logs"), "{said}");
        let defined = said.lines().find(|line| line.contains("without a definition")).unwrap();
        assert!(defined.contains("BloggyAppy.Authors (") && !defined.contains("Cmp."), "{said}");
    }
}

/// What the schema does not have any more was dropped.
#[test]
fn writes_of_dropped_column_families_are_noted() {
    let setup = Setup::of("3.11.19-2");
    let archive = "tests/fixtures/sstables/3.11.19-schema.tar.gz";
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(archive);
    let other = setup.scratch.path().join("other");
    fs::create_dir(&other).unwrap();
    let status = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&other).status().unwrap();
    assert!(status.success());
    fs::rename(setup.logs(), other.join("commitlog")).unwrap();
    let (is_success, said) = setup.import(&other.join("data"), &[]);
    assert!(is_success && said.contains("They were dropped, so these writes are left out"), "{said}");
    assert!(!said.contains("not imported: writes"), "{said}");
}
