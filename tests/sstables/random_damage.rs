//! Random damage of SSTables: all of it is reported, and what is read past it is right.
//!
//! `DAMAGE_ROUNDS` (400) files are damaged, one at a time: of the fixtures, or of the larger SSTables in the directory
//! `DAMAGE_TABLES`. `CHANCE_SEED` repeats a run.
//!
//! A table is read in the same way as by an import with `--skip-damaged`. Its undamaged rows are known, so that each row
//! that is missing must be in a gap that was reported, and each row that was read must be as it was. Exceptions are
//! counted and printed: files without checksums, and the Statistics file of 3.x.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sstable::{Component, Descriptor, SstableError, TableOptions, TableReader, Unit};

use crate::chance::Chance;
use crate::fixture::{Fixture, all_releases, collect, copy_of_table};

/// Reading a damaged file may take so much longer than that of the whole one.
const TIMES_SLOWER: u32 = 20;
const SLACK: Duration = Duration::from_secs(10);
/// Smaller files are damaged byte by byte in `damage.rs`.
const DATA_BYTES_MIN: u64 = 20_000;
const DATA_BYTES_MAX: u64 = 256 << 20;

/// The units of a row, without its key.
type Units = Vec<Unit>;

/// What was read of a table, in order.
enum Event {
    /// A row; whether it was read to its end.
    Row(Bytes, Units, bool),
    /// Rows are lost here.
    Gap,
}

/// What reading a damaged table has reported.
#[derive(Default)]
struct Outcome {
    events: Vec<Event>,
    /// Damages, with or without a loss.
    reports: u64,
    /// Values may be wrong without a further report.
    is_doubtful: bool,
}

fn read(data: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let opened = TableReader::open_damaged(data, &TableOptions::default());
    let (mut table, damages) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Outcome { events: vec![Event::Gap], reports: 1, is_doubtful: false };
        }
    };
    outcome.reports += damages.len() as u64;
    if table.check_digest().is_err() {
        outcome.reports += 1;
        outcome.is_doubtful = !table.has_checksums_of_blocks();
    }
    let mut row: Option<(Bytes, Units)> = None;
    loop {
        match table.next_unit() {
            Ok(None) => return outcome,
            Ok(Some(Unit::EndOfRow)) => {
                let (key, units) = row.take().expect("a row has begun");
                outcome.events.push(Event::Row(key, units, true));
            }
            Ok(Some(unit)) => {
                if let Unit::Row { key, .. } = &unit {
                    row = Some((key.clone(), Units::new()));
                }
                row.as_mut().expect("a row has begun").1.push(unit);
            }
            Err(SstableError::Damaged(damage)) => {
                outcome.reports += 1;
                assert!(outcome.reports < 1_000_000, "skipping damage does not end");
                let skipped = table.skip_damage(&damage).unwrap();
                if damage.path.to_string_lossy().ends_with("Statistics.db") {
                    // All timestamps are in doubt, and the row goes on.
                    outcome.is_doubtful = true;
                    continue;
                }
                if let Some((key, units)) = row.take() {
                    outcome.events.push(Event::Row(key, units, false));
                }
                if skipped.end != Some(skipped.start) {
                    outcome.events.push(Event::Gap);
                }
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// A table that is damaged again and again.
struct Table {
    data: PathBuf,
    /// Where its files are.
    _folder: tempfile::TempDir,
    /// Its files, and their content.
    files: Vec<(PathBuf, Vec<u8>)>,
    rows: Vec<(Bytes, Units)>,
    places: BTreeMap<Bytes, usize>,
    took: Duration,
}

impl Table {
    /// Copies the files of a table, and reads its rows.
    fn open(data: &Path) -> Table {
        let folder = tempfile::tempdir().unwrap();
        let data = copy_of_table(data, folder.path());
        let start = Instant::now();
        let outcome = read(&data);
        let took = start.elapsed();
        assert_eq!(outcome.reports, 0, "{} is not damaged", data.display());
        let rows = outcome.events.into_iter().map(|event| match event {
            Event::Row(key, units, true) => (key, units),
            _ => panic!("{} is not damaged", data.display()),
        });
        let rows: Vec<_> = rows.collect();
        let places = rows.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        let prefix = data.to_str().unwrap().strip_suffix("Data.db").unwrap().to_owned();
        let names = [
            "Data.db",
            "Index.db",
            "Partitions.db",
            "Rows.db",
            "CompressionInfo.db",
            "CRC.db",
            "Statistics.db",
            "Digest.sha1",
            "Digest.adler32",
            "Digest.crc32",
        ];
        let paths = names.iter().map(|name| PathBuf::from(format!("{prefix}{name}")));
        let files = paths.filter(|path| path.is_file()).map(|path| {
            let content = fs::read(&path).unwrap();
            (path, content)
        });
        Table { files: files.collect(), data, _folder: folder, rows, places, took }
    }

    fn has(&self, component: Component) -> bool {
        Descriptor::of_data_file(&self.data).unwrap().path(component).is_file()
    }

    /// Returns whether a checksum covers the bytes of rows.
    fn has_checksums(&self) -> bool {
        let has_digest = self.files.iter().any(|(path, _)| path.to_str().unwrap().contains("-Digest."));
        has_digest || self.has(Component::CompressionInfo) || self.has(Component::Crc)
    }

    /// Returns why what was read is not covered by what was reported. `None` if it is.
    fn mistake(&self, outcome: &Outcome) -> Option<String> {
        let mut next = 0;
        let mut has_gap = false;
        for event in &outcome.events {
            let (key, units, is_whole) = match event {
                Event::Gap => {
                    has_gap = true;
                    continue;
                }
                Event::Row(key, units, is_whole) => (key, units, is_whole),
            };
            let Some(at) = self.places.get(key).copied() else {
                return Some(format!("a row {key:?} that is not in the table"));
            };
            if at < next {
                return Some(format!("the row {key:?} is read again"));
            }
            if at > next && !has_gap {
                return Some(format!("{} rows before {key:?} are missing", at - next));
            }
            let expected = &self.rows[at].1;
            // Without checksums the part of a row before its damage may be wrong too. The row is reported.
            let is_part = !is_whole && (!self.has_checksums() || expected.starts_with(units));
            let is_right = is_part || units == expected;
            if !is_right {
                return Some(format!("the row {key:?} is not as it was"));
            }
            // The rest of a row that was not read to its end is reported with the gap that follows.
            (next, has_gap) = (at + 1, false);
        }
        let is_complete = next == self.rows.len() || has_gap;
        (!is_complete).then(|| format!("{} rows at the end are missing", self.rows.len() - next))
    }
}

/// Damages the content of a file. Returns what was done. `other` is the same file of another table.
pub fn damage(chance: &mut Chance, content: &mut Vec<u8>, other: Option<&[u8]>) -> String {
    let length = content.len();
    let at = chance.below(length.max(1));
    let most = (length - at).min(if chance.below(2) == 0 { 64 } else { 16_384 });
    let size = 1 + chance.below(most.max(1));
    let end = (at + size).min(length);
    let from = chance.below((length + 1).saturating_sub(size).max(1));
    match chance.below(10) {
        0 | 1 if length > 0 => {
            let bit = chance.below(8);
            content[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} is flipped")
        }
        2 => {
            content[at..end].fill(0);
            format!("bytes {at} to {end} are zero")
        }
        3 => {
            content[at..end].copy_from_slice(&chance.bytes(end - at));
            format!("bytes {at} to {end} are random")
        }
        4 => {
            content.truncate(at);
            format!("cut to {at} bytes")
        }
        5 => {
            content.copy_within(from..(from + end - at).min(length), at);
            format!("bytes {at} to {end} are those from {from} on")
        }
        6 => {
            let piece = content[at..end].to_vec();
            content.splice(from..from, piece);
            format!("bytes {at} to {end} are inserted at {from}")
        }
        7 => {
            content.drain(at..end);
            format!("bytes {at} to {end} are missing")
        }
        8 => {
            content.extend(chance.bytes(size));
            format!("{size} bytes follow")
        }
        _ => match other {
            Some(other) => {
                *content = other.to_vec();
                "it is that of another table".to_owned()
            }
            None => {
                content.clear();
                "it is empty".to_owned()
            }
        },
    }
}

/// What is known of files of a kind.
#[derive(Default)]
struct Tally {
    rounds: u64,
    reported: u64,
    harmless: u64,
    /// Rows are wrong, and only the whole file is reported.
    doubtful: u64,
    /// More is wrong than what is reported. Only of files without checksums.
    partly: u64,
    /// Rows are wrong, and nothing is reported. Only of files without checksums.
    silent: u64,
}

#[test]
fn no_row_is_wrong_or_missing_without_a_report() {
    let rounds = std::env::var("DAMAGE_ROUNDS").map_or(400, |text| text.parse().expect("DAMAGE_ROUNDS"));
    let folders = match std::env::var("DAMAGE_TABLES") {
        Ok(folder) => vec![PathBuf::from(folder)],
        Err(_) => all_releases().map(|release| Fixture::of(release).data()).collect(),
    };
    let mut groups: Vec<Vec<Table>> = Vec::new();
    for folder in folders {
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        let size = |path: &PathBuf| fs::metadata(path).unwrap().len();
        let mut large = files.clone();
        large.retain(|path| (DATA_BYTES_MIN..=DATA_BYTES_MAX).contains(&size(path)));
        if large.is_empty() {
            // The largest one of a small fixture.
            large.extend(files.into_iter().max_by_key(size));
        }
        let mut tables: BTreeMap<&str, Vec<Table>> = BTreeMap::new();
        for data in large {
            let letters = Descriptor::of_data_file(&data).unwrap().format.letters;
            tables.entry(letters).or_default().push(Table::open(&data));
        }
        groups.extend(tables.into_values());
    }
    let seed = Chance::seed_from("CHANCE_SEED");
    println!("random damage: CHANCE_SEED={seed}");
    let mut chance = Chance::new(seed);
    let mut tallies: BTreeMap<(&str, String), Tally> = BTreeMap::new();
    for round in 0..rounds {
        let group = &groups[round % groups.len()];
        let table = chance.pick(group);
        let tally = damage_once(&mut chance, group, table);
        let (kind, tally) = tally;
        let sum = tallies.entry(kind).or_default();
        sum.rounds += 1;
        sum.reported += tally.reported;
        sum.harmless += tally.harmless;
        sum.doubtful += tally.doubtful;
        sum.partly += tally.partly;
        sum.silent += tally.silent;
    }
    for ((letters, file), tally) in &tallies {
        let Tally { rounds, reported, harmless, doubtful, partly, silent } = tally;
        println!(
            "{letters:>4} {file:24} damaged {rounds}: reported {reported}, harmless {harmless}, \
             reported for the whole file {doubtful}, reported in part {partly}, not noticed {silent}"
        );
    }
}

/// Damages one file of a table, reads the table, and restores the file. Returns the kind of file, and the result.
fn damage_once(chance: &mut Chance, group: &[Table], table: &Table) -> ((&'static str, String), Tally) {
    let (path, content) = chance.pick(&table.files);
    let component = path.to_str().unwrap().rsplit('-').next().unwrap().to_owned();
    let mut changed = content.clone();
    let other = chance
        .pick(group)
        .files
        .iter()
        .find(|(other, _)| other != path && other.to_str().unwrap().ends_with(&format!("-{component}")));
    let what = if chance.below(25) == 0 {
        fs::remove_file(path).unwrap();
        "it is missing".to_owned()
    } else {
        let what = damage(chance, &mut changed, other.map(|(_, content)| &content[..]));
        fs::write(path, &changed).unwrap();
        what
    };
    let start = Instant::now();
    let outcome = read(&table.data);
    let took = start.elapsed();
    let letters = Descriptor::of_data_file(&table.data).unwrap().format.letters;
    let place = format!("{}: {what}", path.display());
    assert!(took < table.took * TIMES_SLOWER + SLACK, "{place}: {took:?} instead of {:?}", table.took);
    let mistake = table.mistake(&outcome);
    fs::write(path, content).unwrap();
    // What no checksum covers: the baselines and types of 3.x, and files of 0.4 to 0.8.
    let is_unchecked =
        component == "Statistics.db" && ("ma".."na").contains(&letters) || !table.has_checksums();
    let mut tally = Tally::default();
    match (outcome.reports, mistake) {
        (0, None) => tally.harmless = 1,
        (_, None) => tally.reported = 1,
        (1.., Some(_)) if outcome.is_doubtful => tally.doubtful = 1,
        (0, Some(_)) if is_unchecked => tally.silent = 1,
        (_, Some(_)) if is_unchecked => tally.partly = 1,
        (reports, Some(mistake)) => panic!("{place}: {mistake}; {reports} reports"),
    }
    // A Data file with a digest is never another one without a report.
    let has_digest = table.files.iter().any(|(path, _)| path.to_str().unwrap().contains("-Digest."));
    let is_same = changed == *content;
    assert!(*path != table.data || !has_digest || is_same || outcome.reports > 0, "{place}: no report");
    ((letters, component), tally)
}
