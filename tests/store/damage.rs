//! Random damage to every kind of file of a data directory. A damaged directory is refused, or reported by a read or by
//! the verification of all files, or returns the right rows and records.
//!
//! ```text
//!   flip a bit, zero a sector, cut            one file
//!   swap                                      two files of the same kind, or two directories of tables
//!   put in                                    a file or a directory of tables of another data directory
//!   put back                                  a file or a directory of tables of an earlier time
//!   remove                                    a file or a directory of tables
//! ```
//!
//! `DAMAGE_STORE_ROUNDS` sets the number of damages, `DAMAGE_SEED` repeats a run.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::backup_support::files_under;
use crate::store_support;
use crate::store_support::SchemaCalls as _;
use crate::support::Chance;
use base::model::{Change, Row};
use base::schema::Catalog;
use embedded::disk::RealDisk;
use store::{Store, StoreError};
use store_support::{
    apply, bytes, catalog, cf_of, change, close, deletion, family, open, put, put_super, wait,
};

const FAMILIES: [&str; 4] = ["Plain", "Nested", "Third", "Emptied"];
/// Times at which the directory is copied while it is filled.
const STAGES: u32 = 5;

fn schema() -> Catalog {
    let nested = family("Nested", "UTF8Type", Some("LongType"));
    catalog([
        family("Plain", "UTF8Type", None),
        nested,
        family("Third", "UTF8Type", None),
        family("Emptied", "UTF8Type", None),
    ])
}

/// Fills one stage of a directory: tables of several column families, long keys, queued deletions, a truncated column
/// family, metadata records in the file of changes, and rows that are only in the log.
fn fill(directory: &Path, owner: &str, stage: u32) {
    let catalog = schema();
    let [plain, nested, third, emptied] = FAMILIES.map(|name| cf_of(&catalog, name));
    let store = open(directory, &catalog).unwrap();
    if stage == 0 {
        // The manifest is so long that it has a file of changes.
        let large = Bytes::from("x".repeat(100_000));
        wait(store.put_records(vec![("large".to_owned(), Some(large))])).unwrap();
    }
    let timestamp = i64::from(stage);
    let write = |number: u32| {
        let key = format!("row{number}");
        let name = format!("of {owner} {stage}");
        apply(&store, put(&plain, &key, &name, &format!("{owner} ").repeat(50), timestamp)).unwrap();
        apply(&store, put(&third, &key, &name, &format!("third {owner} ").repeat(40), timestamp)).unwrap();
        apply(&store, put_super(&nested, &key, (&name, &format!("{stage:08}")), timestamp)).unwrap();
    };
    (0..40).for_each(write);
    apply(&store, put(&emptied, "gone", &format!("{stage}"), owner, timestamp)).unwrap();
    let removed = Change::DeleteRow { deletion: deletion(timestamp, 1_700_000_000) };
    apply(&store, change(&plain, &format!("row{stage}"), vec![removed])).unwrap();
    apply(&store, put(&plain, "long", &("n".repeat(65_000) + owner), &format!("{stage}"), timestamp))
        .unwrap();
    store.flush().unwrap();
    if stage == 2 {
        store.compact().unwrap();
        wait(store.truncate(emptied)).unwrap();
    }
    wait(store.put_records(vec![(format!("record{stage}"), Some(bytes(owner)))])).unwrap();
    (40..50).for_each(write);
    // The log of the last stage has rows that are in no table.
    if stage + 1 < STAGES { close(store) } else { drop(store) }
}

#[derive(Debug, PartialEq)]
struct Contents {
    rows: Vec<Vec<Row>>,
    records: Vec<(String, Bytes)>,
}

/// Returns everything that the store returns.
fn contents(directory: &Path) -> Result<Contents, StoreError> {
    let catalog = schema();
    let store = open(directory, &catalog)?;
    let rows: Result<_, _> =
        FAMILIES.iter().map(|name| store_support::scan_all(&store, &cf_of(&catalog, name))).collect();
    Ok(Contents { rows: rows?, records: wait(store.records())? })
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
    for file in if from.is_dir() { files_under(from) } else { Vec::new() } {
        copy(&file, &to.join(file.strip_prefix(from).unwrap()));
    }
}

fn remove(path: &Path) {
    match path.is_dir() {
        true => fs::remove_dir_all(path).unwrap(),
        false => drop(fs::remove_file(path)),
    }
}

/// Replaces a file or a directory.
fn replace(from: &Path, to: &Path) {
    remove(to);
    copy(from, to);
}

/// Returns the kind of a file: files of the same kind are swapped.
fn kind(path: &Path) -> String {
    let text = path.display().to_string();
    let is_table =
        path.parent().is_some_and(|parent| parent.ends_with("tables")) && text.matches('/').count() > 2;
    match path.file_name().unwrap().to_str().unwrap() {
        _ if is_table => "table".to_owned(),
        name if name.starts_with('v') => "list of tables".to_owned(),
        name if name.ends_with(".log") => "log".to_owned(),
        name if name.starts_with("MANIFEST.") => "changes of the manifest".to_owned(),
        name => name.to_owned(),
    }
}

/// The kind of the damaged file, and what was done.
struct Damage {
    kind: String,
    done: String,
}

/// Directories that are combined: the filled one, its earlier times, and another one.
struct Sources {
    _place: tempfile::TempDir,
    filled: PathBuf,
    earlier: Vec<PathBuf>,
    other: PathBuf,
}

impl Sources {
    fn create() -> Sources {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let (filled, other) = (at("filled"), at("other"));
        let mut earlier = Vec::new();
        for stage in 0..STAGES {
            fill(&filled, "this", stage);
            fill(&other, "that", stage);
            earlier.push(at(&format!("earlier{stage}")));
            copy(&filled, &earlier[stage as usize]);
        }
        // The last copy is the filled directory itself.
        earlier.pop();
        Sources { filled, other, earlier, _place: place }
    }

    /// Returns the files of a source, relative to it, and its directories of tables.
    fn parts(source: &Path) -> Vec<PathBuf> {
        let files = files_under(source).into_iter();
        let trees = source.join("tables").read_dir().unwrap().map(|entry| entry.unwrap().path());
        files.chain(trees).map(|path| path.strip_prefix(source).unwrap().to_owned()).collect()
    }

    /// Damages a copy of the filled directory.
    fn damage(&self, directory: &Path, chance: &mut Chance) -> Damage {
        copy(&self.filled, directory);
        let all = Sources::parts(&self.filled);
        // Every kind is as probable as every other one, although there are many more tables.
        let kinds: BTreeMap<String, Vec<&PathBuf>> = all.iter().fold(BTreeMap::new(), |mut kinds, part| {
            let name =
                if self.filled.join(part).is_dir() { "directory of tables".to_owned() } else { kind(part) };
            kinds.entry(name).or_insert_with(Vec::new).push(part);
            kinds
        });
        let (name, parts) = kinds.iter().nth(chance.below(kinds.len())).unwrap();
        let part = *chance.pick(parts);
        let path = directory.join(part);
        let done = match chance.below(if path.is_dir() { 4 } else { 8 }) {
            0 => {
                remove(&path);
                "removed".to_owned()
            }
            1 => {
                let with = *chance.pick(parts);
                replace(&self.filled.join(with), &path);
                replace(&self.filled.join(part), &directory.join(with));
                format!("swapped with {}", with.display())
            }
            2 => {
                let others = Sources::parts(&self.other);
                let is_same = |other: &&PathBuf| match path.is_dir() {
                    true => self.other.join(other).is_dir(),
                    false => self.other.join(other).is_file() && kind(other) == *name,
                };
                let others: Vec<_> = others.iter().filter(is_same).collect();
                let from = if self.other.join(part).exists() { part } else { *chance.pick(&others) };
                replace(&self.other.join(from), &path);
                format!("replaced by {} of another data directory", from.display())
            }
            3 => {
                let earlier = chance.pick(&self.earlier);
                let parts = Sources::parts(earlier);
                let is_same = |other: &&PathBuf| match path.is_dir() {
                    true => earlier.join(other).is_dir(),
                    false => earlier.join(other).is_file() && kind(other) == *name,
                };
                let parts: Vec<_> = parts.iter().filter(is_same).collect();
                let from = *chance.pick(&parts);
                replace(&earlier.join(from), &directory.join(from));
                format!("put back {} of {}", from.display(), earlier.file_name().unwrap().display())
            }
            _ => damage_bytes(&path, chance),
        };
        Damage { kind: name.clone(), done: format!("{}: {done}", part.display()) }
    }
}

fn damage_bytes(path: &Path, chance: &mut Chance) -> String {
    let mut bytes = fs::read(path).unwrap();
    let at = chance.below(bytes.len());
    let last_line = bytes.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let is_in_last_line = at / 512 * 512 + 512 > last_line;
    let done = match chance.below(3) {
        _ if bytes.is_empty() => "nothing: it is empty".to_owned(),
        0 => {
            let bit = chance.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        1 => {
            let begin = at / 512 * 512;
            let end = bytes.len().min(begin + 512);
            bytes[begin..end].fill(0);
            format!("zeros from {begin} to {end}")
        }
        _ => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
    };
    fs::write(path, bytes).unwrap();
    // What is left of a cut file ends in the middle of a line, like a torn one.
    if is_in_last_line || done.starts_with("cut") { format!("in the last line: {done}") } else { done }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Outcome {
    Harmless,
    Refused,
    /// The rows are wrong, but the verification has reported the damage.
    Reported,
    /// The log, or the last line of the file of changes, looks as after a crash: docs/guarantees.md.
    LikeACrash,
    Silent,
    Panicked,
}

fn outcome(directory: &Path, damage: &Damage, right: &Contents) -> (Outcome, String) {
    let Damage { kind, done } = damage;
    let is_like_a_crash = kind == "changes of the manifest"
        && ["in the last line", "put back"].iter().any(|what| done.contains(what));
    let reported = match embedded::verify(&RealDisk, directory, None, &mut |_| {}) {
        Ok(verified) => verified.damages.iter().map(|damage| format!("{damage}\n")).collect(),
        Err(error) => error.to_string(),
    };
    match std::panic::catch_unwind(AssertUnwindSafe(|| contents(directory))) {
        Err(_) => (Outcome::Panicked, String::new()),
        Ok(Err(error)) => (Outcome::Refused, error.to_string()),
        Ok(Ok(found)) if found == *right => (Outcome::Harmless, reported),
        Ok(Ok(_)) if !reported.is_empty() => (Outcome::Reported, reported),
        Ok(Ok(_)) if kind == "log" || is_like_a_crash => (Outcome::LikeACrash, reported),
        Ok(Ok(_)) => (Outcome::Silent, reported),
    }
}

#[test]
fn no_random_damage_is_silent() {
    let rounds = std::env::var("DAMAGE_STORE_ROUNDS").map_or(60, |text| text.parse().unwrap());
    let seed = Chance::seed_from("DAMAGE_SEED");
    println!("DAMAGE_SEED={seed}");
    let mut chance = Chance::new(seed);
    let sources = Sources::create();
    let whole = tempfile::tempdir().unwrap();
    copy(&sources.filled, whole.path());
    let right = contents(whole.path()).unwrap();
    assert!(right.rows[0].len() > 40 && right.records.len() > STAGES as usize, "{:?}", right.records.len());
    let (mut tally, mut bad) = (BTreeMap::new(), Vec::new());
    for _ in 0..rounds {
        let directory = tempfile::tempdir().unwrap();
        let damage = sources.damage(directory.path(), &mut chance);
        let (outcome, text) = outcome(directory.path(), &damage, &right);
        let Damage { kind, done } = damage;
        *tally.entry((kind, outcome)).or_insert(0) += 1;
        if std::env::var_os("DAMAGE_SHOWN").is_some() {
            println!("{done} -> {outcome:?} {text}");
        }
        if outcome >= Outcome::Silent {
            bad.push(format!("{outcome:?}: {done}"));
        }
    }
    for ((kind, outcome), times) in &tally {
        println!("{kind}: {outcome:?} {times}");
    }
    assert!(bad.is_empty(), "{} of {rounds}\n{}", bad.len(), bad.join("\n"));
}

/// Returns a filled directory, with its tables as `(directory, numbers)`.
fn filled() -> (tempfile::TempDir, BTreeMap<String, Vec<u64>>) {
    let place = tempfile::tempdir().unwrap();
    (0..STAGES).for_each(|stage| fill(place.path(), "this", stage));
    let mut tables: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for path in files_under(place.path()).iter().filter(|path| kind(path) == "table") {
        let folder = path.ancestors().nth(2).unwrap().file_name().unwrap().to_str().unwrap();
        tables
            .entry(folder.to_owned())
            .or_default()
            .push(path.file_name().unwrap().to_str().unwrap().parse().unwrap());
    }
    (place, tables)
}

#[test]
fn swapped_tables_are_reported_with_file_column_family_and_rows() {
    let (place, tables) = filled();
    // Plain and Third.
    let (first, second) = ("3.1", "4.1");
    let number = tables[first].iter().find(|number| tables[second].contains(number)).unwrap();
    let [of_first, of_second] =
        [first, second].map(|folder| place.path().join(format!("tables/{folder}/tables/{number}")));
    let bytes = fs::read(&of_first).unwrap();
    fs::rename(&of_second, &of_first).unwrap();
    fs::write(&of_second, bytes).unwrap();
    let text = contents(place.path()).unwrap_err().to_string();
    let at = |path: &Path| format!("{} has the checksum ", path.display());
    assert!(text.contains("tables of column family K.") && text.contains(&at(&of_first)), "{text}");
    assert!(text.contains("a file of other tables or of an earlier time. Other column families"), "{text}");
    let verified = embedded::verify(&RealDisk, place.path(), None, &mut |_| {}).unwrap();
    let damages: Vec<String> = verified.damages.iter().map(ToString::to_string).collect();
    assert_eq!(damages.len(), 2, "{damages:?}");
    for (damage, path) in damages.iter().zip([&of_first, &of_second]) {
        assert!(damage.contains(&at(path)) && damage.contains("The file has rows from \"row"), "{damage}");
    }
}

/// The process was killed after a merge of tables and before the manifest has recorded it: the files of both are there,
/// and `current` names the later list.
#[test]
fn a_merge_that_the_manifest_has_not_recorded_is_undone() {
    let (place, _) = filled();
    let right = contents(place.path()).unwrap();
    let merged = tempfile::tempdir().unwrap();
    copy(place.path(), merged.path());
    let store = open(merged.path(), &schema()).unwrap();
    store.compact().unwrap();
    close(store);
    let current = place.path().join("tables/3.1/current");
    let before = fs::read(&current).unwrap();
    copy(&merged.path().join("tables"), &place.path().join("tables"));
    assert_ne!(fs::read(&current).unwrap(), before);
    assert_eq!(embedded::verify(&RealDisk, place.path(), None, &mut |_| {}).unwrap().damages.len(), 0);
    assert_eq!(contents(place.path()).unwrap(), right);
    assert_eq!(fs::read(&current).unwrap(), before);
}
