//! Random damage of what an import reads besides SSTables and commit logs, as in `fuzz.rs`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failure should stop the test")]

use std::path::Path;

#[path = "../../fuzz/import_targets.rs"]
pub mod import_targets;

use sstable::{Atom, FORMATS, TableOptions, TableReader, Unit};

use super::fuzz::{fuzz, mutate};
use super::fuzz_sstables::input::{self, with_length};
use super::fuzz_sstables::{content_of, small_tables, unpack};
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
            found.extend(with_length(name.as_bytes()));
            found.extend(with_length(&content_of(prefix)));
            let statistics = std::fs::read(format!("{prefix}Statistics.db")).unwrap();
            found.extend(with_length(if name.starts_with("schema_") { b"" } else { &statistics }));
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
        let directory = unpack(release, "data");
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

/// Adds the versions of a schema in `system.Schema` in the form of `import_targets::avro`.
fn collect_versions(data: &Path, seeds: &mut Vec<Vec<u8>>) {
    let mut table = TableReader::open(data, &TableOptions::default()).unwrap();
    let (mut types, mut keyspaces) = (Vec::new(), Vec::new());
    while let Some(unit) = table.next_unit().unwrap() {
        match unit {
            Unit::Atom(Atom::Cell { cell, .. }) if cell.name == "Avro/Schema" => {
                types = with_length(&cell.value)
            }
            Unit::Atom(Atom::Cell { cell, .. }) => keyspaces.extend(with_length(&cell.value)),
            Unit::EndOfRow if !types.is_empty() => {
                seeds.push([std::mem::take(&mut types), std::mem::take(&mut keyspaces)].concat());
            }
            Unit::EndOfRow => keyspaces.clear(),
            _ => {}
        }
    }
}

/// The schemas of 0.7 and 1.0, which are values of Avro.
#[test]
fn avro() {
    let mut seeds = Vec::new();
    for release in ["0.7.10", "1.0.12"] {
        let directory = unpack(release, "schema");
        for file in std::fs::read_dir(directory.path().join("data/system")).unwrap() {
            let path = file.unwrap().path();
            if path.to_str().unwrap().ends_with("Data.db") {
                collect_versions(&path, &mut seeds);
            }
        }
    }
    let defined: usize = seeds.iter().map(|seed| import_targets::avro(seed)).sum();
    assert!(seeds.len() > 8 && defined > 20, "{} seeds, {defined} column families", seeds.len());
    let pieces: &[&[u8]] = &[
        b"\"",
        b"[",
        b"{",
        b"[\"null\",\"null\"]",
        b"\"fixed\",\"size\":4000000000,\"x\":",
        b"{\"type\":\"array\",\"items\":\"null\"}",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\xfe\xff\xff\xff\x0f",
    ];
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        if chance.below(2) == 0 {
            mutate(chance, &mut input, pieces, &seeds);
            return input;
        }
        // The types are right, so that the values are read.
        let length = u32::from_be_bytes([0, input[0], input[1], input[2]]) as usize;
        let mut values = input.split_off(3 + length);
        mutate(chance, &mut values, pieces, &seeds);
        input.extend(values);
        input
    };
    fuzz("avro", next, import_targets::avro);
}

#[test]
fn import() {
    let seeds = small_tables();
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, &[], &seeds);
        // Another family reads the same format.
        let families = chance.below(3);
        if let Some(first) = input.first_mut() {
            let version = usize::from(*first) % FORMATS.len();
            *first = u8::try_from(version + families * FORMATS.len()).unwrap();
        }
        input
    };
    fuzz("import", next, import_targets::import);
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

#[test]
fn json_lines() {
    let seeds: Vec<Vec<u8>> = [
        "\0{\"key\":\"ada\",\"cells\":[{\"name\":\"x\",\"value\":{\"hex\":\"00ff\"},\"timestamp\":5},{\"name\":\"t\",\"deleted_at_s\":7,\"timestamp\":6}]}\n",
        "\u{1}{\"key\":\"a\",\"cells\":[{\"super_column\":\"s\",\"name\":\"n\",\"value\":\"v\",\"timestamp\":1,\"ttl_s\":60,\"expires_at_s\":1500000060}]}\n",
        "\u{2}{\"key\":\"a\",\"cells\":[{\"name\":\"n\",\"counter\":5,\"timestamp\":0}]}\n{\"key\":\"b\",\"cells\":[]}\n",
        "\u{3}{\"row\":{\"a\":1},\"key\":\"4f8a6eb0-b2d4-11e2-9e96-0800200c9a66\",\"cells\":[{\"name\":{\"typed\":\"1:t\"},\"value\":\"-12.50\",\"timestamp\":9}]}\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    for (number, seed) in seeds.iter().enumerate() {
        assert!(import_targets::json_lines(seed) > 0, "{number}");
    }
    let pieces: &[&[u8]] = &[
        b"\"",
        b"[",
        b"{",
        b"\\u0000",
        b"\\ud800",
        b"-1",
        b"1e999",
        b"\xff",
        b"null",
        b"\n",
        b"\"typed\":",
        b"\"hex\":",
        b"\"deleted_at_s\":",
        b"\"ttl_s\":",
        b"9223372036854775808",
    ];
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, pieces, &seeds);
        input
    };
    fuzz("json_lines", next, import_targets::json_lines);
}
