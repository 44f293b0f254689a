//! Damaged files: reported, without a panic.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sstable::{CommitLog, Component, Descriptor, LogWrite, SstableError, TableOptions, TableReader, Unit};

use crate::chance::Chance;
use crate::fixture::{Fixture, WITHOUT_THRIFT, all_releases, copy_of_table, releases_with_logs};

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

/// Copies a small table with a few rows into a folder.
fn small_table(release: &'static str, family: &str, folder: &Path) -> PathBuf {
    let (keyspace, family) = if WITHOUT_THRIFT.contains(&release) {
        ("key_space_test", "statics")
    } else {
        ("BloggyAppy", family)
    };
    copy_of_table(&Fixture::of(release).files_of(keyspace, family)[0], folder)
}

/// Returns the files of an SSTable that rows are read from, and those with its checksums.
fn files_of(data: &Path) -> Vec<PathBuf> {
    let descriptor = Descriptor::of_data_file(data).unwrap();
    let of = |component| descriptor.path(component);
    let all = [
        Component::Data,
        Component::Index,
        Component::Partitions,
        Component::Rows,
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

/// Opens a file to change bytes in place: writing all of it again takes longer than reading its rows.
fn writable(file: &Path) -> File {
    File::options().write(true).open(file).unwrap()
}

/// Each byte of each file is changed in turn. What has a checksum is reported, or does not change the rows. The Statistics
/// file of 3.x, and not of later releases, whose baselines all timestamps of the file depend on, has none.
#[test]
fn every_changed_byte_is_survived_and_checksums_report_theirs() {
    for release in all_releases() {
        let folder = tempfile::tempdir().unwrap();
        let data = small_table(release, "Authors", folder.path());
        let (rows, damages) = read_all(&data).unwrap();
        assert_eq!(damages, 0);
        let has_checksums = has_checksums(&data);
        let format = Descriptor::of_data_file(&data).unwrap().format;
        assert!(has_checksums || format.letters < "ia", "{release} writes checksums");
        let has_unchecked_statistics = format.has_modern_rows && !format.has_stored_chunks;
        for file in files_of(&data) {
            let content = fs::read(&file).unwrap();
            let opened = writable(&file);
            for (at, byte) in content.iter().enumerate() {
                opened.write_all_at(&[byte ^ (1 << (at % 8))], at as u64).unwrap();
                let read = read_all(&data);
                opened.write_all_at(&[*byte], at as u64).unwrap();
                if has_checksums && file == data {
                    let is_reported =
                        read.as_ref().is_err() || read.as_ref().is_ok_and(|(_, count)| *count > 0);
                    assert!(is_reported, "{release}: byte {at} of the Data file is changed");
                }
                if let Ok((read, 0)) = read
                    && has_checksums
                    && !(has_unchecked_statistics && file.to_str().unwrap().ends_with("-Statistics.db"))
                {
                    assert_eq!(read, rows, "{release}: byte {at} of {}", file.display());
                }
            }
        }
    }
}

#[test]
fn every_cut_is_survived_and_reported() {
    for release in all_releases() {
        let folder = tempfile::tempdir().unwrap();
        let data = small_table(release, "Authors", folder.path());
        let (rows, _) = read_all(&data).unwrap();
        for file in files_of(&data) {
            let content = fs::read(&file).unwrap();
            let opened = writable(&file);
            for length in (0..content.len()).rev() {
                opened.set_len(length as u64).unwrap();
                if let Ok((read, 0)) = read_all(&data) {
                    assert!(file != data, "{release}: cut to {length} bytes");
                    assert_eq!(read, rows, "{release}: {length} bytes of {}", file.display());
                }
            }
            fs::write(&file, &content).unwrap();
        }
    }
}

/// Rows behind a damaged one are read, if the Index component has them.
#[test]
fn rows_behind_damage_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = small_table("0.6.8", "BlogEntries", folder.path());
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

/// The trie of a file without an Index component leads to the rows behind damage.
#[test]
fn rows_behind_damage_are_found_by_a_trie() {
    let folder = tempfile::tempdir().unwrap();
    let original = &Fixture::of("5.0.9-bti").files_of("key_space_test", "with_none")[0];
    let data = copy_of_table(original, folder.path());
    let descriptor = Descriptor::of_data_file(&data).unwrap();
    let (rows, _) = read_all(&data).unwrap();
    // Without checksums, the byte behind the key shows damage: it says whether the row was deleted.
    fs::remove_file(descriptor.path(Component::Crc)).unwrap();
    fs::remove_file(descriptor.digest_path().unwrap()).unwrap();
    let mut content = fs::read(&data).unwrap();
    assert_eq!(content[..2], [0, 4]);
    content[6] = 0x81;
    fs::write(&data, content).unwrap();
    let second = rows.iter().position(|unit| *unit == Unit::EndOfRow).unwrap() + 1;
    assert_eq!(read_all(&data).unwrap(), (rows[second..].to_vec(), 1));
    fs::remove_file(descriptor.path(Component::Partitions)).unwrap();
    assert_eq!(read_all(&data).unwrap(), (Vec::new(), 1));
}

/// Returns the writes of a commit log; an error of the file ends it.
fn writes_of(log: &Path) -> Vec<LogWrite> {
    read_log(log).0
}

/// Returns the writes of a log, and whether damage is reported.
fn read_log(log: &Path) -> (Vec<LogWrite>, bool) {
    let Ok(mut reader) = CommitLog::open(log) else { return (Vec::new(), true) };
    let (mut writes, mut is_reported) = (Vec::new(), false);
    loop {
        match reader.next_write(|_| None) {
            Ok(None) => return (writes, is_reported || !reader.lost().sentences().is_empty()),
            Ok(Some(write)) => writes.push(write),
            Err(SstableError::Damaged(_)) => is_reported = true,
            Err(_) => return (writes, true),
        }
    }
}

/// Commit logs are cut and changed: what is read was written, and in this order. A change that loses writes is reported; a
/// cut may be between two writes.
#[test]
fn damaged_commit_logs_are_survived() {
    let seed = Chance::seed_from("CHANCE_SEED");
    println!("damaged commit logs: CHANCE_SEED={seed}");
    let mut chance = Chance::new(seed);
    for release in releases_with_logs().chain(["4.1.10", "5.0.9"]) {
        let folder = tempfile::tempdir().unwrap();
        for file in Fixture::with_commit_logs(release).commit_logs() {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let log = files.filter(|path| path.extension().is_some_and(|extension| extension == "log")).min();
        let log = log.unwrap();
        let mut content = fs::read(&log).unwrap();
        // Most of the file is the zeros that the server allocated. Some of them are enough.
        let zeros = content.iter().rev().take_while(|byte| **byte == 0).count();
        content.truncate(content.len() - zeros.saturating_sub(100));
        let mut all = content.clone();
        if release == "0.6.8" {
            // Without a header that can be read, the writes before its first position are there, too.
            let header = all.windows(2).take(200).rposition(|window| window == b"[J").unwrap();
            all[header] = 0;
        }
        fs::write(&log, all).unwrap();
        let whole = writes_of(&log);
        assert!(whole.len() > 40, "{release}: {} writes", whole.len());
        fs::write(&log, &content).unwrap();
        let undamaged = writes_of(&log).len();
        let opened = writable(&log);
        for round in 0..60 {
            let at = chance.below(content.len());
            let is_cut = round % 3 == 0;
            // A byte that becomes zero may end the log as the server ends it, and the header of 0.6 has no checksum.
            let is_header = release == "0.6.8" && at < 200;
            let mut must_report = !is_cut && !is_header;
            if is_cut {
                opened.set_len(at as u64).unwrap();
            } else {
                let change = 1 + u8::try_from(chance.below(255)).unwrap();
                must_report &= content[at] != change;
                opened.write_all_at(&[content[at] ^ change], at as u64).unwrap();
            }
            let (found, is_reported) = read_log(&log);
            assert!(
                !must_report || is_reported || found.len() >= undamaged,
                "{release}, byte {at}: {} of {undamaged} writes, and no report",
                found.len()
            );
            let mut rest = whole.iter();
            for write in found {
                assert!(rest.any(|other| *other == write), "{release}, byte {at}: nobody wrote {write:?}");
            }
            opened.write_all_at(&content[at..], at as u64).unwrap();
        }
    }
}
