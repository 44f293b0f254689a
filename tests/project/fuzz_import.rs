//! Random damage of what an import reads besides SSTables and commit logs, as in `fuzz.rs`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failure should stop the test")]

use std::path::Path;

#[path = "../../fuzz/import_targets.rs"]
pub mod import_targets;

use super::fuzz::{fuzz, mutate, small_tables, targets, unpack};
use crate::support::Chance;

/// The system tables with a schema.
const NAMES: [&str; 9] = [
    "schema_keyspaces",
    "schema_columnfamilies",
    "schema_columns",
    "schema_usertypes",
    "keyspaces",
    "tables",
    "columns",
    "types",
    "indexes",
];

fn bytes_with_length(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[1..], bytes].concat()
}

/// Returns the content of a Data file, compressed with LZ4 or Snappy or not.
fn content_of(prefix: &str) -> Vec<u8> {
    let data = std::fs::read(format!("{prefix}Data.db")).unwrap();
    let Ok(info) = std::fs::read(format!("{prefix}CompressionInfo.db")) else { return data };
    let number =
        |at: usize| usize::try_from(u32::from_be_bytes(info[at..at + 4].try_into().unwrap())).unwrap();
    let name_length = usize::from(u16::from_be_bytes([info[0], info[1]]));
    let is_lz4 = String::from_utf8_lossy(&info[2..2 + name_length]).contains("LZ4");
    assert_eq!(number(2 + name_length), 0, "no options");
    let chunks_at = 2 + name_length + 4 + 4 + 8;
    let offset = |chunk: usize| number(chunks_at + 4 + 8 * chunk + 4);
    let count = number(chunks_at);
    let mut content = Vec::new();
    for chunk in 0..count {
        let end = if chunk + 1 < count { offset(chunk + 1) } else { data.len() };
        // The checksum has four bytes.
        let Some(compressed) = data.get(offset(chunk)..end - 4) else { continue };
        content.extend(match is_lz4 {
            true => {
                let length = u32::from_le_bytes(compressed[..4].try_into().unwrap());
                lz4_flex::block::decompress(&compressed[4..], usize::try_from(length).unwrap()).unwrap()
            }
            false => snap::raw::Decoder::new().decompress_vec(compressed).unwrap(),
        });
    }
    content
}

/// Returns the system tables of a folder in the form of `import_targets::system_tables`.
fn tables_in(folder: &Path) -> Vec<u8> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let directory = entry.unwrap().path();
        let text = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let name = text.split('-').next().unwrap();
        if !NAMES.contains(&name) {
            continue;
        }
        for file in std::fs::read_dir(&directory).unwrap() {
            let data = file.unwrap().path();
            let Some(prefix) = data.to_str().unwrap().strip_suffix("Data.db") else { continue };
            found.extend(bytes_with_length(name.as_bytes()));
            found.extend(bytes_with_length(&content_of(prefix)));
            let statistics = std::fs::read(format!("{prefix}Statistics.db")).unwrap();
            found.extend(bytes_with_length(if name.starts_with("schema_") { b"" } else { &statistics }));
        }
    }
    found
}

#[test]
fn system_tables() {
    let mut seeds = Vec::new();
    for (choice, release, keyspace) in
        [(0, "1.2.15", "system"), (1, "2.1.22", "system"), (2, "3.11.19", "system_schema")]
    {
        let directory = unpack(release);
        let seed = [vec![choice], tables_in(&directory.path().join("data").join(keyspace))].concat();
        assert!(import_targets::system_tables(&seed) > 10, "{release}");
        seeds.push(seed);
    }
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(
            chance,
            &mut input,
            &[b"org.apache.cassandra.db.marshal.", b"(", b")", b"\"", b"[", b"{"],
            &seeds,
        );
        input
    };
    fuzz("system_tables", next, import_targets::system_tables);
}

#[test]
fn import() {
    let seeds = small_tables();
    let letters = targets::letters();
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, &[], &seeds);
        // Another family reads the same format.
        let families = chance.below(3);
        if let Some(first) = input.first_mut() {
            let version = usize::from(*first) % letters.len();
            *first = u8::try_from(version + families * letters.len()).unwrap();
        }
        input
    };
    fuzz("import", next, |input| import_targets::import(input, &letters, &targets::COMPONENTS));
}

#[test]
fn progress() {
    let seeds: Vec<Vec<u8>> = [
        r#"{"version":1,"to":"memory","done":["a/Ks/Standard-1-Data.db","Ks.Counters"]}"#,
        r#"{"version":1,"to":"memory","done":[]}"#,
        r#"{"version":2,"to":"memory","done":[]}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    let pieces: &[&[u8]] = &[b"\"", b"[", b"{", b"\\u0000", b"\\ud800", b"-1", b"1e999", b"\xff", b"null"];
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, pieces, &seeds);
        input
    };
    fuzz("progress", next, |input| usize::from(import_targets::progress(input)));
}
