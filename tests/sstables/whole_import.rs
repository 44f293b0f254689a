//! Imports as a whole: killed and resumed, compared with their files, and as of another date.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base::model::{CellKind, Change, DeletionTime};
use base::partitioner;
use base::util::Clock;
use sstable::Descriptor;
use store::DumpCommand;
use transfer::endpoint::Endpoint;
use transfer::import::{ImportOptions, Inventory, import};

use crate::chance::Chance;
use crate::fixture::{Fixture, RELEASES, has_logs, releases_with_logs};
use crate::rows::{Merged, NOW_S};

/// A directory of a real server, and a folder for what is made of it.
struct Setup {
    fixture: Fixture,
    scratch: tempfile::TempDir,
    config: PathBuf,
}

impl Setup {
    fn of(release: &'static str) -> Setup {
        let has_logs = has_logs(release);
        let fixture = if has_logs { Fixture::with_commit_logs(release) } else { Fixture::of(release) };
        Setup::with(release, fixture)
    }

    /// Unpacks the directory again, without its commit logs, so that files of it can be changed.
    fn own(release: &'static str) -> Setup {
        Setup::with(release, Fixture::unpack(release))
    }

    fn with(release: &str, fixture: Fixture) -> Setup {
        let scratch = tempfile::tempdir().unwrap();
        let config = match release {
            "0.6.8" => fixture.storage_conf(),
            _ => {
                let partitioner = fixture.contents["partitioner"].as_str().unwrap();
                let file = scratch.path().join("cassandra.yaml");
                std::fs::write(&file, format!("cluster_name: test\npartitioner: {partitioner}\n")).unwrap();
                file
            }
        };
        Setup { fixture, scratch, config }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn import(&self, target: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.arg("import").arg("--from").arg(self.fixture.data()).arg("--config").arg(&self.config);
        command.arg("--to").arg(format!("data:{}", target.display())).args(more).stdin(Stdio::null());
        command
    }

    /// Compares two data directories, with their tombstones.
    fn assert_same(&self, one: &Path, other: &Path) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args(["copy", "--verify-only", "--config"]).arg(&self.config);
        command.arg("--from").arg(format!("data:{}", one.display()));
        succeed(command.arg("--to").arg(format!("data:{}", other.display())));
    }
}

fn texts(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", texts(&output));
    texts(&output)
}

/// Kills an import 20 times, from the beginning again whenever it was faster.
fn kill_and_go_on(release: &'static str, mut chance: Chance) {
    let setup = Setup::of(release);
    let (whole, target) = (setup.path("whole"), setup.path("target"));
    succeed(&mut setup.import(&whole, &[]));
    let file = setup.path("import.json");
    let progress = ["--progress-file", file.to_str().unwrap(), "--progress-seconds", "0"];
    let mut kills = 0;
    while kills < 20 {
        let mut command = setup.import(&target, &progress);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(chance.below(500) as u64));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            std::fs::remove_dir_all(&target).unwrap();
            std::fs::remove_file(&file).unwrap();
        } else {
            kills += 1;
        }
    }
    succeed(&mut setup.import(&target, &progress));
    setup.assert_same(&whole, &target);
    setup.assert_same(&target, &whole);
    succeed(&mut setup.import(&target, &["--verify-only"]));
}

#[test]
fn killed_imports_with_counters_and_commit_logs_go_on() {
    let seed = Chance::seed_from("CHANCE_SEED");
    println!("killed imports: CHANCE_SEED={seed}");
    std::thread::scope(|scope| {
        for release in ["1.2.15", "2.1.22"] {
            scope.spawn(move || kill_and_go_on(release, Chance::new(seed)));
        }
    });
}

/// What was imported is what the files have, with their commit logs.
#[test]
fn imports_are_compared_with_their_files() {
    let compare = |release: &'static str| {
        let setup = Setup::of(release);
        let target = setup.path("target");
        let said = succeed(&mut setup.import(&target, &["--verify"]));
        let compared = said.split("compared: ").nth(1).unwrap().split(' ').next().unwrap();
        assert!(compared.parse::<u64>().unwrap() > 400, "{release}: {said}");
    };
    // Several at a time: each waits for the disk most of the time.
    std::thread::scope(|scope| {
        for releases in RELEASES.chunks(3) {
            scope.spawn(move || releases.iter().copied().for_each(compare));
        }
    });
}

#[test]
fn differences_in_both_directions_are_found() {
    let setup = Setup::own("2.1.22");
    let inventory = Inventory::of(&[setup.fixture.data()]).unwrap();
    let (name, tables) = inventory.families.iter().find(|(_, tables)| tables.len() > 1).unwrap();
    let only = ["--keyspace", &name.keyspace, "--column-family", &name.name];
    let compare = |target: &Path| {
        let output = setup.import(target, &[&only[..], &["--verify-only"]].concat()).output().unwrap();
        (output.status.code(), texts(&output))
    };
    let (whole, part) = (setup.path("whole"), setup.path("part"));
    succeed(&mut setup.import(&whole, &only));
    assert_eq!(compare(&whole).0, Some(0));
    // A part of the files is moved away, imported as a whole, and put back.
    let away = setup.path("away");
    std::fs::create_dir(&away).unwrap();
    let folder = tables[0].path.parent().unwrap();
    let prefix = tables[0].path.file_name().unwrap().to_str().unwrap().replace("Data.db", "");
    let of_table: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|file| file.starts_with(&prefix))
        .collect();
    for file in &of_table {
        std::fs::rename(folder.join(file), away.join(file)).unwrap();
    }
    succeed(&mut setup.import(&part, &only));
    let (status, said) = compare(&whole);
    assert!(status == Some(1) && said.contains(": only in the target"), "{said}");
    for file in &of_table {
        std::fs::rename(away.join(file), folder.join(file)).unwrap();
    }
    let (status, said) = compare(&part);
    assert!(status == Some(1) && said.contains(": only in the source"), "{said}");
    assert!(said.contains(&format!("{name} row ")) && said.contains("differences"), "{said}");
}

/// Returns all that a database has, by column family and row.
fn dumped(merged: &Merged) -> BTreeMap<String, Vec<Change>> {
    let mut found: BTreeMap<String, Vec<Change>> = BTreeMap::new();
    let catalog = merged.database.catalog().clone();
    for cf in catalog.keyspaces.values().flat_map(|keyspace| keyspace.column_families.values()) {
        let mut after = None;
        loop {
            let command = DumpCommand { cf: cf.clone(), after, max_bytes: 1 << 20 };
            let dump = merged.runtime.block_on(merged.database.store().dump(command).unwrap()).unwrap();
            for row in dump.rows {
                found
                    .entry(format!("{}.{} {:?}", cf.keyspace, cf.name, row.key))
                    .or_default()
                    .extend(row.changes);
            }
            after = dump.place;
            if after.is_none() {
                break;
            }
        }
    }
    found
}

fn shifted(change: Change, by: i32, seconds: &mut usize) -> Change {
    let mut deletion = |deletion: DeletionTime| {
        *seconds += 1;
        DeletionTime { local_deletion_time: deletion.local_deletion_time + by, ..deletion }
    };
    match change {
        Change::DeleteRow { deletion: of_row } => Change::DeleteRow { deletion: deletion(of_row) },
        Change::DeleteSuper { name, deletion: own } => Change::DeleteSuper { name, deletion: deletion(own) },
        Change::DeleteRange(mut range) => {
            range.deletion = deletion(range.deletion);
            Change::DeleteRange(range)
        }
        Change::Cell { super_column, mut cell } => {
            match &mut cell.kind {
                CellKind::Expiring { expires_at_s: second, .. }
                | CellKind::Deleted { local_deletion_time: second } => {
                    *seconds += 1;
                    *second += by;
                }
                _ => {}
            }
            Change::Cell { super_column, cell }
        }
    }
}

/// Every second of the files is as far from now as it was from the date.
#[test]
fn the_clock_of_the_files_can_be_shifted() {
    let fixture = Fixture::of("1.2.15");
    let partitioner = fixture.contents["partitioner"].as_str().unwrap();
    let run = |as_of: Option<&str>| {
        let merged = Merged::new(fixture.contents);
        let inventory = Inventory::of(&[fixture.data()]).unwrap();
        let clock = Arc::new(Clock::manual(i64::from(NOW_S) * 1000));
        let as_of = as_of.map(|date| date.parse().unwrap());
        let options =
            ImportOptions { as_of, ..ImportOptions::new(partitioner::resolve(partitioner).unwrap()) };
        let to = Arc::new(Endpoint::of_database("memory", merged.database.clone(), clock.clone()));
        merged.runtime.block_on(import(&inventory, Some(to), clock, &options)).unwrap();
        dumped(&merged)
    };
    let as_they_are = run(None);
    // 1,782,864,000 seconds after 1970.
    let moved = run(Some("2026-07-01"));
    let mut seconds = 0;
    let mut shift = |change| shifted(change, NOW_S - 1_782_864_000, &mut seconds);
    let expected: BTreeMap<String, Vec<Change>> = as_they_are
        .into_iter()
        .map(|(row, changes)| (row, changes.into_iter().map(&mut shift).collect()))
        .collect();
    assert_eq!(moved, expected);
    assert!(seconds > 20, "{seconds}");
}

/// A table is open from its first row to its last one, and not more than 600 at a time.
#[test]
fn more_tables_than_are_open_at_once_are_imported() {
    let setup = Setup::own("2.1.22");
    let inventory = Inventory::of(&[setup.fixture.data()]).unwrap();
    let (name, tables) = inventory
        .families
        .iter()
        .find(|(name, tables)| tables.len() > 1 && !name.name.contains("ounter"))
        .unwrap();
    let only = ["--keyspace", &name.keyspace, "--column-family", &name.name];
    let whole = setup.path("whole");
    succeed(&mut setup.import(&whole, &only));
    let table = &tables[0];
    let folder = table.path.parent().unwrap();
    let number = format!("-{}-", table.descriptor.generation);
    for copy in 1_000..1_610 {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            if file.contains(&number) {
                let to = folder.join(file.replace(&number, &format!("-{copy}-")));
                std::fs::copy(folder.join(&file), to).unwrap();
            }
        }
    }
    let target = setup.path("target");
    let said = succeed(&mut setup.import(&target, &only));
    assert!(said.contains(&format!("{} SSTables", tables.len() + 610)), "{said}");
    setup.assert_same(&whole, &target);
    setup.assert_same(&target, &whole);
    let output = setup.import(&target, &[&only[..], &["--verify-only"]].concat()).output().unwrap();
    assert!(!output.status.success() && texts(&output).contains("overlap"), "{}", texts(&output));
}

/// The SSTables of a node are on several disks, as are their commit logs. Counters of two nodes would count twice.
#[test]
fn the_directories_of_several_disks_are_one_node() {
    for release in ["1.2.15", "2.1.22"] {
        let setup = Setup::with(release, Fixture::unpack_with_commit_logs(release));
        let whole = setup.path("whole");
        succeed(&mut setup.import(&whole, &[]));
        let disk = setup.path("disk");
        for keyspace in ["Cmp", "system"] {
            for data in setup.fixture.data_files(keyspace) {
                let found = Descriptor::of_data_file(&data).unwrap();
                let to = disk.join(data.parent().unwrap().strip_prefix(setup.fixture.data()).unwrap());
                std::fs::create_dir_all(&to).unwrap();
                let files = std::fs::read_dir(&found.directory).unwrap();
                let is_own = |name: &str| name.starts_with(&format!("{}-", found.name()));
                let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
                for name in names.filter(|name| found.generation.is_multiple_of(2) && is_own(name)) {
                    std::fs::rename(found.directory.join(&name), to.join(&name)).unwrap();
                }
            }
        }
        let target = setup.path("target");
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.arg("import").arg("--config").arg(&setup.config).arg("--from").arg(setup.fixture.data());
        let said = succeed(command.arg(&disk).arg("--to").arg(format!("data:{}", target.display())));
        assert!(said.contains("imported: "), "{said}");
        setup.assert_same(&whole, &target);
        setup.assert_same(&target, &whole);
    }
}

/// Rows of commit logs are in the table of a dry run, as the import takes them.
#[test]
fn a_dry_run_counts_what_commit_logs_have() {
    for release in releases_with_logs() {
        let setup = Setup::of(release);
        let imported = succeed(&mut setup.import(&setup.path("target"), &[]));
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.arg("import").arg("--from").arg(setup.fixture.data()).arg("--config").arg(&setup.config);
        let found = succeed(command.arg("--dry-run"));
        let lines = |said: &str| -> BTreeMap<String, Vec<String>> {
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let named = |mut words: Vec<String>| Some((words.first()?.clone(), words.split_off(1)));
            said.lines().map(words).filter_map(named).filter(|(name, _)| name.contains('.')).collect()
        };
        let (of_import, of_dry_run) = (lines(&imported), lines(&found));
        let number = |text: &str| text.parse::<u64>().unwrap();
        let (mut logged, mut compared) = (0, 0);
        for (name, words) in &of_import {
            let Some(rows) = words.iter().position(|word| word == "rows,") else { continue };
            let theirs = &of_dry_run[name];
            // Sizes have a unit: "93 B".
            let unit = theirs.iter().position(|word| word == "B" || word.ends_with("iB")).unwrap();
            let counts: Vec<u64> = theirs[unit + 1..unit + 5].iter().map(|word| number(word)).collect();
            let [of_tables, of_logs, cells, tombstones] = counts[..] else { panic!("{theirs:?}") };
            let ours = [rows - 1, rows + 1, rows + 3].map(|at| number(&words[at]));
            assert_eq!(ours, [of_tables + of_logs, cells, tombstones], "{release} {name}");
            logged += of_logs;
            compared += 1;
        }
        assert!(logged > 0 && compared > 10, "{release}: {found}");
    }
}

/// The schema can be in system tables that cannot be read.
#[test]
fn an_import_goes_on_without_damaged_system_tables() {
    for (release, table) in [("1.2.15", "schema_columnfamilies"), ("2.1.22", "local")] {
        let setup = Setup::with(release, Fixture::unpack_with_commit_logs(release));
        for data in setup.fixture.files_of("system", table) {
            let bytes = std::fs::read(&data).unwrap();
            std::fs::write(&data, &bytes[..bytes.len() / 2]).unwrap();
        }
        let run = |target: &str, more: &[&str]| {
            let output = setup.import(&setup.path(target), more).output().unwrap();
            (output.status.success(), texts(&output))
        };
        let (is_success, said) = run("a", &[]);
        assert!(!is_success && said.contains("is damaged at byte"), "{said}");
        assert!(said.contains("--skip-damaged") && said.contains(table), "{said}");
        let script = setup.path("schema.cli");
        let text =
            "create keyspace Cmp; use Cmp; create column family Std_BytesType with comparator = BytesType;";
        std::fs::write(&script, text).unwrap();
        let only = ["--skip-damaged", "--keyspace", "Cmp", "--column-family", "Std_BytesType"];
        if table != "local" {
            // Nothing is imported without a definition.
            let (is_success, said) = run("b", &only);
            assert!(!is_success && said.contains("define Cmp.Std_BytesType"), "{said}");
        }
        let (is_success, said) = run("c", &[&only[..], &["--schema", script.to_str().unwrap()]].concat());
        assert!(said.contains("imported: 1 column family,") && said.contains("doubtful: "), "{said}");
        // The report and the exit status say that not everything is there.
        assert!(!is_success && said.contains(table), "{said}");
    }
}

/// Servers were killed in compactions, their files copied, and the servers restarted: they have removed the leftovers.
#[test]
fn leftovers_of_compactions_are_those_that_the_server_removed() {
    for (release, partitioner, left_out) in [
        ("1.2.15", "Murmur3Partitioner", "Cmp-Ctr_Std-ic-6-Data.db: a compaction that was not finished"),
        ("2.0.17", "Murmur3Partitioner", "Cmp-Del_Sup-jb-4-Data.db: a compaction that was not finished"),
        ("3.11.19", "Murmur3Partitioner", "me-1-big-Data.db: a compaction has put its rows into other"),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sstables");
        let scratch = tempfile::tempdir().unwrap();
        let archive = folder.join(format!("{release}-leftovers.tar.gz"));
        succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(scratch.path()));
        let config = scratch.path().join("cassandra.yaml");
        let text = format!("cluster_name: test\npartitioner: org.apache.cassandra.dht.{partitioner}\n");
        std::fs::write(&config, text).unwrap();
        let program = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
            command.stdin(Stdio::null());
            command
        };
        let data = |name: &str| format!("data:{}", scratch.path().join(name).join("imported").display());
        let mut said = Vec::new();
        for name in ["killed", "restarted"] {
            let mut command = program();
            command.arg("import").arg("--from").arg(scratch.path().join(name).join("data")).arg("--to");
            said.push(succeed(
                command.arg(data(name)).arg("--config").arg(&config).args(["--keyspace", "Cmp"]),
            ));
        }
        assert!(said[0].contains(&format!("not read: {}", scratch.path().display())), "{release}: {said:?}");
        assert!(said[0].contains(left_out), "{release}: {}", said[0]);
        assert!(!said[1].contains("-Data.db: a compaction"), "{release}: {}", said[1]);
        for (from, to) in [("killed", "restarted"), ("restarted", "killed")] {
            let mut command = program();
            command.args(["copy", "--verify-only", "--config"]).arg(&config);
            succeed(command.arg("--from").arg(data(from)).arg("--to").arg(data(to)));
        }
    }
}
