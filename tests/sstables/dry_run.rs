//! `thriftstore import --dry-run` of damaged directories and of copies.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::Fixture;

/// Runs `thriftstore import`. Returns whether it succeeds, and what it prints.
fn import(from: &[&Path], more: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let folder = tempfile::tempdir().unwrap();
    command.arg("import").arg("--from").args(from).args(more).stdin(Stdio::null()).current_dir(folder.path());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// The table of column families is printed behind all damage, and lost rows are named by their keys.
#[test]
fn a_dry_run_goes_on_behind_damage() {
    let fixture = Fixture::unpack("2.1.22");
    let files = [
        fixture.files_of("Cmp", "Std_UTF8Type").remove(0),
        fixture.files_of("BloggyAppy", "Authors").remove(0),
    ];
    for data in files {
        let mut content = fs::read(&data).unwrap();
        let middle = content.len() / 2;
        content[middle] ^= 1;
        fs::write(&data, content).unwrap();
    }
    let (is_success, said) = import(&[&fixture.data()], &["--dry-run"]);
    assert!(!is_success, "{said}");
    assert!(said.contains("column family") && said.contains("found: "), "{said}");
    let damages: Vec<&str> = said.lines().filter(|line| line.starts_with("damaged: ")).collect();
    assert_eq!(damages.len(), 2, "{said}");
    for damage in damages {
        assert!(damage.contains("the Index file has ") && damage.contains(" there: \""), "{damage}");
    }
}

/// A copy of a node's directory beside it is not another node, and its counters do not count twice.
#[test]
fn counters_of_a_copied_directory_count_once() {
    for release in ["0.8.10", "1.0.12", "1.2.15", "2.0.17"] {
        let fixture = Fixture::unpack_with_commit_logs(release);
        let above = fixture.data().parent().unwrap().to_owned();
        let copy = above.join("data.bak");
        fs::create_dir(&copy).unwrap();
        let copied = Command::new("cp").arg("-r").arg(fixture.data()).arg(&copy).status().unwrap();
        assert!(copied.success());
        let logs = Command::new("cp").arg("-r").arg(above.join("commitlog")).arg(&copy).status().unwrap();
        assert!(logs.success());
        let partitioner = fixture.contents["partitioner"].as_str().unwrap();
        let options = ["--to", "data:to", "--partitioner", partitioner, "--verify"];
        let read = |from: &Path| {
            let (is_success, said) = import(&[from], &options);
            assert!(is_success, "{release}: {said}");
            let imported = said.lines().find(|line| line.starts_with("imported: ")).unwrap().to_owned();
            (imported, said)
        };
        let (twice, said) = read(&above);
        assert!(said.contains("it is a copy, byte for byte"), "{said}");
        fs::remove_dir_all(&copy).unwrap();
        let (once, _) = read(&above);
        assert_eq!(twice, once, "{release}");
    }
}

/// A cell whose time to live has overflowed counts as expired, unless it is restored.
#[test]
fn cells_that_expire_before_they_were_written_are_restored() {
    let fixture = Fixture::unpack("0.7.10");
    let data = fixture.files_of("Cmp", "Exp_Std").into_iter().find_map(|path| {
        let content = fs::read(&path).unwrap();
        let at = content.windows(9).position(|bytes| bytes == b"ten years")?;
        Some((path, content, at))
    });
    let (path, mut content, value) = data.unwrap();
    // The second of expiry is before the timestamp and the length of the value. These files have no checksums.
    content[value - 16] = 0x80;
    fs::write(path, content).unwrap();
    let rows = |more: &[&str]| {
        let (succeeded, said) = import(&[&fixture.data()], &[&["--dry-run"][..], more].concat());
        assert!(succeeded, "{said}");
        let to = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.arg("export").arg("--from").arg(fixture.data()).args(["--table", "Exp_Std", "--to", "out"]);
        assert!(
            command.args(more).stdin(Stdio::null()).current_dir(to.path()).output().unwrap().status.success()
        );
        (said, fs::read_to_string(to.path().join("out/Cmp.Exp_Std.csv")).unwrap())
    };
    let (said, csv) = rows(&[]);
    let words = "1 cells expire before they were written, because their time to live goes beyond";
    assert!(
        said.contains(&format!("note: Cmp.Exp_Std: {words}"))
            && said.contains("the rows \"long\": they count"),
        "{said}"
    );
    assert!(!csv.contains("ten years"), "{csv}");
    let (said, csv) = rows(&["--recover-expired", "overflow"]);
    assert!(said.contains("they are restored, and expire at 2038-01-19 03:14:06"), "{said}");
    assert!(csv.contains(",ten years,1250000000000011,") && csv.contains(",2147483646"), "{csv}");
}
