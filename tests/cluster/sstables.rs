//! SSTables and a ring: those of `thriftstore copy --to sstables:` loaded with Cassandra's sstableloader, and those of an old
//! server imported into the ring. `tests/cluster/run` starts the ring.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::process::{Command, Output};

use crate::copy_support::bare_conf;

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    let (out, errors) = texts(&output);
    assert!(output.status.success(), "{command:?}\n{out}\n{errors}");
    out
}

/// Returns what a command has printed, and its errors.
fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn ring() -> String {
    format!("cluster:{}", std::env::var("THRIFTSTORE_RING").expect("tests/cluster/run sets it"))
}

/// Unpacks an archive of a directory that a real server wrote.
fn unpack(name: &str, folder: &Path) {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sstables").join(name);
    run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder));
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_ring_has_the_cells_that_were_written() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let (place, folder) =
        (|name: &str| format!("data:{}", scratch.path().join(name).display()), scratch.path());
    let config = folder.join("murmur.xml");
    std::fs::write(&config, bare_conf("Murmur3Partitioner")).unwrap();
    unpack("2.1.22-data.tar.gz", folder);
    let thriftstore = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        run(command.args(arguments).arg("--config").arg(&config))
    };
    let from = folder.join("data");
    let import = |to: &str, more: &[&str]| {
        let base = ["import", "--from", from.to_str().unwrap(), "--to", to];
        thriftstore(&[&base[..], more].concat())
    };
    import(&place("whole"), &[]);
    let out = format!("sstables:{}", folder.join("out").display());
    thriftstore(&["copy", "--skip-cql-tables", "--from", &place("whole"), "--to", &out]);
    run(Command::new(repository.join("tests/cluster/load-sstables")).arg(folder.join("out")));
    // The gateway gets the definitions with the rows of one family.
    let ring = ring();
    import(&place("defined"), &["--keyspace", "Cmp", "--column-family", "Comp_Snappy"]);
    thriftstore(&["copy", "--skip-cql-tables", "--from", &place("defined"), "--to", &ring]);
    let compared = thriftstore(&[
        "copy",
        "--skip-cql-tables",
        "--verify-only",
        "--from",
        &place("whole"),
        "--to",
        &ring,
    ]);
    assert!(compared.contains("206 rows, 14059 cells"), "{compared}");
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn an_import_into_a_ring_is_compared_with_the_files() {
    let scratch = tempfile::tempdir().unwrap();
    unpack("2.1.22-data.tar.gz", scratch.path());
    let import = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args(["import", "--from", "data", "--keyspace", "Cmp", "--to", &ring()]).args(more);
        let output = command.current_dir(scratch.path()).output().expect("the command runs");
        let (out, errors) = texts(&output);
        (output.status.success(), format!("{out}{errors}"))
    };
    let (is_success, said) = import(&["--verify"]);
    assert!(is_success && said.contains(" live cells of the files with the target"), "{said}");
    // The writes in commit logs are not in the ring.
    unpack("2.1.22-commitlog.tar.gz", scratch.path());
    let (is_success, said) = import(&["--verify-only"]);
    assert!(!is_success && said.contains(": only in the source"), "{said}");
}
