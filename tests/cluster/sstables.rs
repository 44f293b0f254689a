//! SSTables of `thriftstore copy --to sstables:` loaded into a ring with Cassandra's sstableloader: each cell is that of
//! the data directory. `tests/cluster/run` starts the ring.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::process::Command;

use crate::copy_support::bare_conf;

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{errors}");
    out
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
    let archive = repository.join("tests/fixtures/sstables/2.1.22-data.tar.gz");
    run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder));
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
    let ring = format!("cluster:{}", std::env::var("THRIFTSTORE_RING").expect("tests/cluster/run sets it"));
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
