//! Damage to a closed data directory. A store that is opened on it reports the damage or returns the right rows.
//!
//! Every file is damaged at a sample of offsets, one byte at a time. `CORRUPTION_PLACES` sets the number of offsets for
//! each file. Wrong results and panics are failures.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backup_support::files_under;
use crate::store_support;
use base::model::Row;
use base::schema::{Catalog, CfDef};
use store::StoreError;
use store_support as support;
use store_support::{apply, catalog, cf_of, close, family, open, put, put_super};

const ROWS: u32 = 60;

/// Bytes of the mark that each sync appends to the log.
const MARK: usize = 28;

fn schema() -> Catalog {
    catalog([family("Plain", "UTF8Type", None), family("Nested", "UTF8Type", Some("LongType"))])
}

fn families(catalog: &Catalog) -> [Arc<CfDef>; 2] {
    ["Plain", "Nested"].map(|name| cf_of(catalog, name))
}

/// Fills a directory, so that tables, log and manifest all contain something. Closing the store cuts off the
/// preallocated end of the log.
fn fill(directory: &Path) {
    let catalog = schema();
    let [plain, nested] = families(&catalog);
    for round in 0..3u32 {
        let store = open(directory, &catalog).unwrap();
        for number in 0..ROWS {
            let key = format!("row{number}");
            let name = format!("n{round}");
            apply(&store, put(&plain, &key, &name, &"value ".repeat(20), i64::from(round))).unwrap();
            let column = format!("{:08}", round);
            apply(&store, put_super(&nested, &key, ("super", &column), 1)).unwrap();
        }
        // The old value is in a table, the new one in the log.
        apply(&store, put(&plain, "row0", "often", &format!("{round}"), i64::from(round))).unwrap();
        if round == 0 {
            store.compact().unwrap();
        }
        close(store);
    }
}

/// Returns all rows that the store returns.
fn contents(directory: &Path) -> Result<Vec<Vec<Row>>, StoreError> {
    let catalog = schema();
    let store = open(directory, &catalog)?;
    let rows = families(&catalog).iter().map(|cf| support::scan_all(&store, cf)).collect();
    drop(store);
    rows
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Outcome {
    Right,
    Refused,
    Wrong,
    Panicked,
}

/// Opens and reads a directory, and classifies the result.
fn outcome(directory: &Path, right: &[Vec<Row>]) -> (Outcome, String) {
    match std::panic::catch_unwind(AssertUnwindSafe(|| contents(directory))) {
        Err(_) => (Outcome::Panicked, String::new()),
        Ok(Err(error)) => (Outcome::Refused, error.to_string()),
        Ok(Ok(rows)) if rows == right => (Outcome::Right, String::new()),
        Ok(Ok(rows)) => {
            let count = |rows: &[Vec<Row>]| rows.iter().map(Vec::len).sum::<usize>();
            (Outcome::Wrong, format!("{} rows instead of {}", count(&rows), count(right)))
        }
    }
}

fn copy(from: &Path, to: &Path) {
    for file in files_under(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

/// Returns a copy of `filled` with one damaged file.
fn damaged(filled: &Path, file: &Path, damage: impl FnOnce(&mut Vec<u8>)) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    copy(filled, directory.path());
    let target = directory.path().join(file);
    let mut bytes = fs::read(&target).unwrap();
    damage(&mut bytes);
    fs::write(&target, bytes).unwrap();
    directory
}

/// Returns offsets in a file: many at its beginning and end, and the rest evenly distributed.
fn places(length: usize) -> Vec<usize> {
    let wanted = std::env::var("CORRUPTION_PLACES").ok().and_then(|text| text.parse().ok()).unwrap_or(16);
    if length == 0 {
        return Vec::new();
    }
    let mut places: Vec<usize> = (0..wanted).map(|at| at * length / wanted).collect();
    places.extend((0..length.min(wanted / 4)).flat_map(|at| [at, length - 1 - at]));
    places.sort_unstable();
    places.dedup();
    places
}

#[test]
fn a_flipped_byte_is_reported_or_harmless() {
    let filled = tempfile::tempdir().unwrap();
    fill(filled.path());
    let right = contents(filled.path()).unwrap();
    assert_eq!(right[0].len(), ROWS as usize);
    let mut bad = Vec::new();
    let mut tally: BTreeMap<(String, Outcome), usize> = BTreeMap::new();
    for path in files_under(filled.path()) {
        let file = path.strip_prefix(filled.path()).unwrap();
        let length = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
        for at in places(length) {
            for mask in [0x01, 0x80] {
                let directory = damaged(filled.path(), file, |bytes| bytes[at] ^= mask);
                let (outcome, text) = outcome(directory.path(), &right);
                *tally.entry((file.display().to_string(), outcome)).or_default() += 1;
                if text.contains("gave up") {
                    println!("{} byte {at} ^ {mask:#x}: {text}", file.display());
                }
                if outcome > Outcome::Refused {
                    bad.push(format!(
                        "{outcome:?}: {} byte {at} of {length} ^ {mask:#x} {text}",
                        file.display()
                    ));
                }
            }
        }
    }
    for ((file, outcome), times) in &tally {
        println!("{file}: {outcome:?} {times}");
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Writes the columns `n00`, `n01` and so on to one row. Returns the path of the log, and its length after each write.
fn log_of_writes(directory: &Path) -> (PathBuf, Vec<usize>) {
    let catalog = schema();
    let [plain, _] = families(&catalog);
    // The store is closed after each write, because an open log has preallocated space at its end.
    let write = |name: &str, value: &str| {
        let store = open(directory, &catalog).unwrap();
        apply(&store, put(&plain, "row", name, value, 1)).unwrap();
        close(store);
    };
    let log = PathBuf::from("log/1.log");
    let length = || usize::try_from(fs::metadata(directory.join(&log)).unwrap().len()).unwrap();
    write("first", "1");
    let mut lengths = vec![length()];
    for number in 0..30 {
        write(&format!("n{number:02}"), &"x".repeat(number * 40));
        lengths.push(length());
    }
    (log, lengths)
}

/// Returns how many of these writes the store has. Fails if one is missing before the last one that it has, or if it
/// refuses a new write.
fn writes_kept(directory: &Path) -> Result<usize, StoreError> {
    let catalog = schema();
    let [plain, _] = families(&catalog);
    let store = open(directory, &catalog)?;
    let names = support::names(&store, "row", &plain);
    assert_eq!(names[0], "first");
    for (number, name) in names[1..].iter().enumerate() {
        assert_eq!(*name, format!("n{number:02}"));
    }
    // The store accepts new writes.
    apply(&store, put(&plain, "row", "zz", "1", 1))?;
    close(store);
    let store = open(directory, &catalog)?;
    assert_eq!(support::names(&store, "row", &plain).last().unwrap(), "zz");
    Ok(names.len() - 1)
}

#[test]
fn a_torn_end_of_the_log_loses_only_its_own_writes() {
    let filled = tempfile::tempdir().unwrap();
    let (log, lengths) = log_of_writes(filled.path());
    let end = *lengths.last().unwrap();
    for cut in (lengths[0]..=end).step_by(397).chain([end - MARK - 1, end - 3, end]) {
        let whole = lengths[1..].iter().filter(|length| **length - MARK <= cut).count();
        // The end is cut off, or is zeros, as in a preallocated file.
        let shorter = damaged(filled.path(), &log, |bytes| bytes.truncate(cut));
        assert_eq!(writes_kept(shorter.path()).unwrap(), whole, "cut at {cut} of {end}");
        let zeroed = damaged(filled.path(), &log, |bytes| {
            bytes[cut..].fill(0);
            bytes.resize(end + 100_000, 0);
        });
        assert_eq!(writes_kept(zeroed.path()).unwrap(), whole, "zeros from {cut} of {end}");
    }
}

/// A sector that is lost before the last mark was synced, so the disk has lost it later.
#[test]
fn a_lost_sector_of_a_synced_log_is_damage() {
    const SECTOR: usize = 512;
    let filled = tempfile::tempdir().unwrap();
    let (log, lengths) = log_of_writes(filled.path());
    for sector in 0..(lengths.last().unwrap() - MARK) / SECTOR {
        let holed =
            damaged(filled.path(), &log, |bytes| bytes[sector * SECTOR..(sector + 1) * SECTOR].fill(0));
        assert!(matches!(writes_kept(holed.path()), Err(StoreError::Corrupt(_))), "sector {sector}");
    }
}

#[test]
fn a_damaged_log_is_reported_with_file_and_offset() {
    let filled = tempfile::tempdir().unwrap();
    let (log, lengths) = log_of_writes(filled.path());
    let at = lengths[3];
    let damaged = damaged(filled.path(), &log, |bytes| bytes[at] ^= 0x40);
    let text = writes_kept(damaged.path()).unwrap_err().to_string();
    assert!(
        text.contains(&format!("1.log cannot be read at byte {at}; put back an undamaged copy")),
        "{text}"
    );
}

#[test]
fn an_unknown_directory_among_tables_is_reported() {
    let filled = tempfile::tempdir().unwrap();
    fill(filled.path());
    let right = contents(filled.path()).unwrap();
    // A directory with an unknown name beside the trees is ignored and not removed.
    fs::create_dir(filled.path().join("tables/copy of 1.1")).unwrap();
    assert_eq!(contents(filled.path()).unwrap(), right);
    assert!(filled.path().join("tables/copy of 1.1").exists());
    let among_tables = filled.path().join("tables/2.1/tables/copy of 0");
    fs::create_dir(&among_tables).unwrap();
    let text = contents(filled.path()).unwrap_err().to_string();
    assert!(text.contains("copy of 0 is not a table, but is among the tables of column family K."), "{text}");
}

#[test]
fn a_missing_file_is_reported() {
    let filled = tempfile::tempdir().unwrap();
    fill(filled.path());
    let right = contents(filled.path()).unwrap();
    for path in files_under(filled.path()) {
        let file = path.strip_prefix(filled.path()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        copy(filled.path(), directory.path());
        fs::remove_file(directory.path().join(file)).unwrap();
        let (outcome, text) = outcome(directory.path(), &right);
        println!("without {}: {outcome:?} {text}", file.display());
        assert!(outcome <= Outcome::Refused, "without {}: {outcome:?} {text}", file.display());
    }
}
