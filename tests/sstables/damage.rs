//! Damaged files: reported, without a panic.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use thriftstore::sstable::{CommitLog, Component, Descriptor, SstableError, TableOptions, TableReader, Unit};

use crate::fixture::{Fixture, RELEASES, WITH_LOGS};

/// Reads all rows, and skips damage. Returns the units that were read and the number of damaged places.
fn read_all(data: &Path) -> Result<(Vec<Unit>, usize), SstableError> {
    let (mut table, found) = TableReader::open_damaged(data, &TableOptions::default())?;
    let (mut units, mut damages) = (Vec::new(), found.len() + usize::from(table.check_digest().is_err()));
    loop {
        match table.next_unit() {
            Ok(None) => return Ok((units, damages)),
            Ok(Some(unit)) => units.push(unit),
            Err(SstableError::Damaged(damage)) => {
                damages += 1;
                assert!(!damage.to_string().is_empty());
                let skipped = table.skip_damage(&damage)?;
                assert!(skipped.end.is_none_or(|end| end >= skipped.start));
            }
            Err(other) => return Err(other),
        }
    }
}

/// Returns a small table with a few rows.
fn small_table(fixture: &Fixture, family: &str) -> PathBuf {
    fixture.files_of("BloggyAppy", family).swap_remove(0)
}

/// Returns the files of an SSTable that rows are read from, and those with its checksums.
fn files_of(data: &Path) -> Vec<PathBuf> {
    let descriptor = Descriptor::of_data_file(data).unwrap();
    let of = |component| descriptor.path(component);
    let all = [
        Component::Data,
        Component::Index,
        Component::CompressionInfo,
        Component::Crc,
        Component::Statistics,
    ];
    let digest = descriptor.digest_path();
    all.into_iter().map(of).filter(|path| path.is_file()).chain(digest).collect()
}

/// Whether a checksum covers each byte of the Data file: from 1.0 on.
fn has_checksums(data: &Path) -> bool {
    let descriptor = Descriptor::of_data_file(data).unwrap();
    let has = |component| descriptor.path(component).is_file();
    descriptor.digest_path().is_some() || has(Component::CompressionInfo) || has(Component::Crc)
}

/// Each byte of each file is changed in turn. What has a checksum is reported, or does not change the rows. The Statistics
/// file of 3.x, whose baselines all timestamps of the file depend on, has none.
#[test]
fn every_changed_byte_is_survived_and_checksums_report_theirs() {
    for release in RELEASES {
        let fixture = Fixture::unpack(release);
        let data = small_table(&fixture, "Authors");
        let (rows, damages) = read_all(&data).unwrap();
        assert_eq!(damages, 0);
        let has_checksums = has_checksums(&data);
        let format = Descriptor::of_data_file(&data).unwrap().format;
        assert!(has_checksums || format.letters < "ia", "{release} writes checksums");
        for file in files_of(&data) {
            let content = fs::read(&file).unwrap();
            for at in 0..content.len() {
                let mut changed = content.clone();
                changed[at] ^= 1 << (at % 8);
                fs::write(&file, &changed).unwrap();
                let read = read_all(&data);
                if has_checksums && file == data {
                    let is_reported =
                        read.as_ref().is_err() || read.as_ref().is_ok_and(|(_, count)| *count > 0);
                    assert!(is_reported, "{release}: byte {at} of the Data file is changed");
                }
                if let Ok((read, 0)) = read
                    && has_checksums
                    && !(format.has_modern_rows && file.to_str().unwrap().ends_with("-Statistics.db"))
                {
                    assert_eq!(read, rows, "{release}: byte {at} of {}", file.display());
                }
            }
            fs::write(&file, &content).unwrap();
        }
    }
}

#[test]
fn every_cut_is_survived_and_reported() {
    for release in RELEASES {
        let fixture = Fixture::unpack(release);
        let data = small_table(&fixture, "Authors");
        let (rows, _) = read_all(&data).unwrap();
        for file in files_of(&data) {
            let content = fs::read(&file).unwrap();
            for length in 0..content.len() {
                fs::write(&file, &content[..length]).unwrap();
                if let Ok((read, 0)) = read_all(&data) {
                    assert_eq!(read, rows, "{release}: {length} bytes of {}", file.display());
                }
                if file == data {
                    assert!(!matches!(read_all(&data), Ok((_, 0))), "{release}: cut to {length} bytes");
                }
            }
            fs::write(&file, &content).unwrap();
        }
    }
}

/// Rows behind a damaged one are read, if the Index component has them.
#[test]
fn rows_behind_damage_are_read() {
    let fixture = Fixture::unpack("0.6.8");
    let data = small_table(&fixture, "BlogEntries");
    let (rows, _) = read_all(&data).unwrap();
    let of_rows = rows.iter().filter(|unit| matches!(unit, Unit::Row { .. })).count();
    assert!(of_rows > 3);
    // The size of the first row, behind its key.
    let mut content = fs::read(&data).unwrap();
    let key_length = usize::from(u16::from_be_bytes([content[0], content[1]]));
    content[2 + key_length] ^= 0x40;
    fs::write(&data, &content).unwrap();
    let (read, damages) = read_all(&data).unwrap();
    assert_eq!(damages, 1);
    let second = rows.iter().position(|unit| *unit == Unit::EndOfRow).unwrap() + 1;
    assert_eq!(read, rows[second..]);
}

/// Returns the writes of a commit log, and how many records are damaged; an error ends it.
fn writes_of(log: &Path) -> (Vec<String>, u64) {
    let Ok(mut reader) = CommitLog::open(log) else { return (Vec::new(), 1) };
    let (mut writes, mut damages) = (Vec::new(), 0);
    loop {
        match reader.next_write(|_| None) {
            Ok(None) => return (writes, damages + reader.skipped()),
            Ok(Some(rows)) => writes.push(format!("{rows:?}")),
            Err(SstableError::Damaged(_)) => damages += 1,
            Err(_) => return (writes, damages + 1),
        }
    }
}

/// Commit logs are cut and changed: what is read was written, and what comes before the damage is there.
#[test]
fn damaged_commit_logs_are_survived() {
    for release in WITH_LOGS {
        let fixture = Fixture::unpack(release).with_commit_logs();
        let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
        let log = fixture.commit_logs().into_iter().find(is_log).unwrap();
        let content = fs::read(&log).unwrap();
        let mut all = content.clone();
        if release == "0.6.8" {
            // Without a header that can be read, the writes before its first position are there, too.
            let header = all.windows(2).take(200).rposition(|window| window == b"[J").unwrap();
            all[header] = 0;
            fs::write(&log, all).unwrap();
        }
        let (whole, _) = writes_of(&log);
        assert!(whole.len() > 40, "{release}: {} writes", whole.len());
        let known: HashSet<&String> = whole.iter().collect();
        let mut chance = 0x2545_f491_4f6c_dd1d_u64;
        let mut below = |limit: usize| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(chance >> 33).unwrap() % limit
        };
        for round in 0..60 {
            let mut changed = content.clone();
            if round % 3 == 0 {
                changed.truncate(below(content.len()));
            } else {
                let at = below(content.len());
                changed[at] ^= u8::try_from(1 + below(255)).unwrap();
            }
            fs::write(&log, changed).unwrap();
            let (writes, _) = writes_of(&log);
            assert!(writes.iter().all(|write| known.contains(write)), "{release}: a write that nobody wrote");
            assert!(writes.len() <= whole.len());
        }
    }
}
