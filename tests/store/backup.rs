//! Backups of data directories that no server uses, damaged ones included, and stores that are opened on a backup.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::skip::skip;
use crate::store_support::SchemaCalls as _;
use crate::{backup_support, store_support};
use backup_support::{backed_up, options, refusal, state_of, tables_under};
use base::schema::Catalog;
use embedded::BackupSummary;
use store::RowPiece;
use store_support::{apply, catalog, cf_of, close, dumped, family, open, put, put_super};

/// The size of a page of a dump, in bytes.
const PIECE_BYTES: usize = 1 << 20;

fn schema() -> Catalog {
    catalog([
        family("Plain", "UTF8Type", None),
        family("Nested", "UTF8Type", Some("LongType")),
        family("Empty", "UTF8Type", None),
    ])
}

/// Fills a directory with tables, long names, a truncated column family, and rows that are only in the log.
fn fill(directory: &Path) {
    let catalog = schema();
    let [plain, nested, empty] = ["Plain", "Nested", "Empty"].map(|name| cf_of(&catalog, name));
    for round in 0..3u32 {
        let store = open(directory, &catalog).unwrap();
        for number in 0..100 {
            let key = format!("row{number}");
            apply(&store, put(&plain, &key, &format!("n{round}"), &"value ".repeat(20), 1)).unwrap();
            apply(&store, put_super(&nested, &key, ("super", &format!("{round:08}")), 1)).unwrap();
            apply(&store, put(&empty, &key, "gone", "gone", 1)).unwrap();
        }
        let long_name = "n".repeat(65_000) + &round.to_string();
        apply(&store, put(&plain, "long", &long_name, "v", 1)).unwrap();
        if round < 2 {
            store.flush().unwrap();
        }
        if round == 1 {
            store_support::wait(store.truncate(empty.clone())).unwrap();
        }
        // The last round is not flushed and stays in the log.
        if round < 2 { close(store) } else { drop(store) }
    }
}

/// Returns all rows of all column families, with their tombstones.
fn contents(directory: &Path) -> Vec<Vec<RowPiece>> {
    let catalog = schema();
    let store = open(directory, &catalog).unwrap();
    let families = ["Plain", "Nested", "Empty"].map(|name| cf_of(&catalog, name));
    let rows = families.iter().map(|cf| dumped(&store, cf, PIECE_BYTES)).collect();
    drop(store);
    rows
}

#[test]
fn a_backup_has_the_same_rows_and_does_not_change_its_source() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    fill(&source);
    fs::set_permissions(&source, fs::Permissions::from_mode(0o750)).unwrap();
    let before = state_of(&source);
    let summary = backed_up(&source, &target);
    assert_eq!(state_of(&source), before);
    assert_eq!((summary.column_families, summary.attempts, summary.copied_bytes), (3, 1, 0));
    assert_eq!(summary.tables, tables_under(&target).len());
    assert!(summary.tables >= 5 && summary.linked_bytes > 0 && summary.log_bytes > 65_000, "{summary:?}");
    for table in tables_under(&target) {
        let of_source = source.join(table.strip_prefix(&target).unwrap());
        assert_eq!(fs::metadata(&table).unwrap().ino(), fs::metadata(of_source).unwrap().ino());
    }
    assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o750);

    let restored = contents(&target);
    assert_eq!(restored.iter().map(Vec::len).collect::<Vec<_>>(), [101, 100, 100]);
    assert_eq!(restored, contents(&source));
}

#[test]
fn writes_to_a_restored_backup_do_not_change_its_source() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    fill(&source);
    backed_up(&source, &target);
    let before = state_of(&source);
    let catalog = schema();
    let (plain, nested) = (cf_of(&catalog, "Plain"), cf_of(&catalog, "Nested"));
    let store = open(&target, &catalog).unwrap();
    apply(&store, put(&plain, "row0", "new", "v", 1)).unwrap();
    store.compact().unwrap();
    store_support::wait(store.truncate(nested)).unwrap();
    close(store);
    assert_eq!(state_of(&source), before);
    let second = place.path().join("second");
    backed_up(&target, &second);
    assert_eq!(contents(&second), contents(&target));
}

#[test]
fn tables_are_copied_where_they_cannot_be_linked() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("data");
    fill(&source);
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        skip!("there is no second file system");
    };
    if fs::metadata(elsewhere.path()).unwrap().dev() == fs::metadata(&source).unwrap().dev() {
        skip!("there is no second file system");
    }
    let target = elsewhere.path().join("backup");
    let summary = backed_up(&source, &target);
    assert_eq!(summary.linked_bytes, 0);
    assert!(summary.copied_bytes > 0, "{summary:?}");
    assert_eq!(contents(&target), contents(&source));
}

#[test]
fn an_empty_directory_is_backed_up() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    close(open(&source, &schema()).unwrap());
    // The target may be an empty directory.
    fs::create_dir(&target).unwrap();
    let summary = backed_up(&source, &target);
    assert_eq!(
        summary,
        BackupSummary { column_families: 3, attempts: 1, log_bytes: 40, ..Default::default() }
    );
    assert_eq!(contents(&target), contents(&source));
}

#[test]
fn a_directory_of_an_older_format_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    close(open(&source, &schema()).unwrap());
    for format in [1, 2, 3] {
        fs::write(source.join("THRIFTSTORE"), format!("thriftstore data, format {format}\n")).unwrap();
        let text = refusal(&source, &target);
        assert!(
            text.contains(&format!(
                "THRIFTSTORE contains \"thriftstore data, format {format}\", but this version reads \"thriftstore data, \
                 format 4\"; start version 1.0.0 on"
            )),
            "{text}"
        );
    }
    fs::write(source.join("THRIFTSTORE"), "thriftstore data, format 9\n").unwrap();
    let text = refusal(&source, &target);
    assert!(text.contains("use the version that wrote it"), "{text}");
}

#[test]
fn invalid_sources_and_targets_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let source = path("data");
    close(open(&source, &schema()).unwrap());
    fs::create_dir(path("full")).unwrap();
    fs::write(path("full").join("file"), b"mine").unwrap();
    fs::write(path("file"), b"mine").unwrap();
    std::os::unix::fs::symlink(&source, path("link")).unwrap();
    for (from, to, why) in [
        ("nowhere", "backup", "nowhere is not a data directory: "),
        ("full", "backup", "THRIFTSTORE is missing; specify the data directory of a server"),
        (
            "data",
            "full",
            "full exists and is not empty; choose a directory that does not exist, or empty this one",
        ),
        ("data", "file", "file exists and is not a directory; choose a directory that does not exist"),
        ("data", "data/backup", "is inside of the data directory"),
        ("data", "link/backup", "is inside of the data directory"),
        ("data", "data", "is inside of the data directory"),
        ("data", "missing/backup", "in which the target is to be created, does not exist; create it"),
        ("data", "backup/..", "does not end with a directory's name"),
    ] {
        let error = embedded::back_up(&options(&path(from), &path(to)), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(why), "{from} to {to}: {error}");
    }
    let mut names: Vec<_> =
        fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["data", "file", "full", "link"]);

    // Another backup to the same target is running or was killed.
    fs::create_dir(path("backup.unfinished")).unwrap();
    let error = embedded::back_up(&options(&source, &path("backup")), &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.contains("is running or was interrupted; wait for it, or remove that directory"),
        "{error}"
    );
    assert!(path("backup.unfinished").exists() && !path("backup").exists());
}

#[test]
fn tables_that_an_operator_gave_up_are_not_in_the_backup() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    fill(&source);
    let tables = source.join("tables");
    fs::rename(tables.join("2.1"), tables.join("2.1.given-up")).unwrap();
    let inspected = embedded::inspect(&source, None).unwrap();
    assert_eq!((inspected.given_up, inspected.damages), (vec![tables.join("2.1.given-up")], Vec::new()));
    let mut lines = Vec::new();
    embedded::back_up(&options(&source, &target), &mut |line| lines.push(line.to_owned())).unwrap();
    assert!(
        lines.iter().any(|line| line.starts_with("the tables of column family K.Nested in ")
            && line.ends_with("2.1.given-up were given up by an operator: the backup does not have them")),
        "{lines:?}"
    );
    assert_eq!(contents(&target), contents(&source));
}

/// Returns the offsets at which a file is damaged: at its beginning, at its end, and between.
fn places(length: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..10).map(|part| part * length / 10).collect();
    places.extend([1, length.saturating_sub(20), length - 1]);
    places.into_iter().filter(|place| *place < length).collect()
}

/// Returns whether a file is a list of tables that `current` no longer names. The library removes such a file later.
fn is_old_list(file: &Path) -> bool {
    let Ok(current) = fs::read(file.with_file_name("current")) else { return false };
    let number = u64::from_le_bytes(current[..8].try_into().unwrap());
    let name = file.file_name().unwrap().to_str().unwrap();
    name.starts_with('v') && name != format!("v{number}")
}

#[test]
fn a_backup_reports_damaged_and_missing_files_of_the_source() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    fill(&source);
    for file in backup_support::files_under(&source).into_iter().filter(|file| !is_old_list(file)) {
        let name = file.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
        // The manifest names the list of tables, too, and its record counts.
        if name.ends_with("/current") {
            continue;
        }
        let bytes = fs::read(&file).unwrap();
        let is_log = name.starts_with("log/");
        // A backup reads a damaged record of the log for up to a second, because a running server may still be writing
        // it. So few offsets are tried.
        let places = if is_log { vec![9, 3000] } else { places(bytes.len()) };
        for at in places {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&file, damaged).unwrap();
            let text = refusal(&source, &target);
            let owner = match name.split('/').nth(1) {
                Some("2.1") => "the tables of column family K.Nested",
                Some("3.1" | "3.1.long") => "the tables of column family K.Plain",
                _ => file.to_str().unwrap(),
            };
            assert!(text.contains(owner), "{name} at {at}: {text}");
            assert!(!text.contains("unfinished"), "{text}");
        }
        fs::remove_file(&file).unwrap();
        let text = refusal(&source, &target);
        assert!(text.contains(&format!("{name} is missing")), "{name}: {text}");
        fs::write(&file, bytes).unwrap();
    }
    backed_up(&source, &target);
}

#[test]
fn without_verification_the_blocks_of_tables_are_not_read() {
    let place = tempfile::tempdir().unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    fill(&source);
    let table = &tables_under(&source)[0];
    let mut bytes = fs::read(table).unwrap();
    bytes[40] ^= 1;
    fs::write(table, bytes).unwrap();
    let text = refusal(&source, &target);
    assert!(text.contains("has the checksum"), "{text}");
    let options = embedded::BackupOptions { reads_tables: false, ..options(&source, &target) };
    embedded::back_up(&options, &mut |_| {}).unwrap();
}
