//! Random damage of SSTables and commit logs, as in `fuzz.rs`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failure should stop the test")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../../fuzz/input.rs"]
pub mod input;
#[path = "../../fuzz/sstable_targets.rs"]
mod sstable_targets;

use base::marshal::Types;
use base::schema::{CfDef, Layout, TableDef};
use base::util::Release;
use sstable::{Descriptor, FORMATS};
use transfer::import::{FoundSchema, Inventory};

use super::fuzz::{fuzz, mutate};
use super::fuzz_import::import_targets;
use crate::support::{self, Chance};
use input::{COMPONENTS, file_name, with_length};

/// Unpacks an archive of a release in `tests/fixtures/sstables`.
pub fn unpack(release: &str, kind: &str) -> tempfile::TempDir {
    let archive = support::repository(&format!("tests/fixtures/sstables/{release}-{kind}.tar.gz"));
    let directory = tempfile::tempdir().unwrap();
    let tar = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(directory.path()).status();
    assert!(tar.expect("tar runs").success());
    directory
}

/// Returns the releases of which `tests/fixtures/sstables` has an archive.
fn releases(kind: &str) -> Vec<String> {
    let entries = std::fs::read_dir(support::repository("tests/fixtures/sstables")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let end = format!("-{kind}.tar.gz");
    let mut found: Vec<String> =
        names.filter_map(|name| name.strip_suffix(&end).map(str::to_owned)).collect();
    found.sort();
    found
}

/// Returns the content of a Data file, decompressed if it is compressed.
pub fn content_of(prefix: &str) -> Vec<u8> {
    let data = std::fs::read(format!("{prefix}Data.db")).unwrap();
    let Ok(info) = std::fs::read(format!("{prefix}CompressionInfo.db")) else { return data };
    let number =
        |at: usize| usize::try_from(u32::from_be_bytes(info[at..at + 4].try_into().unwrap())).unwrap();
    let text = |at: usize| {
        let length = usize::from(u16::from_be_bytes([info[at], info[at + 1]]));
        (String::from_utf8_lossy(&info[at + 2..at + 2 + length]).into_owned(), at + 2 + length)
    };
    let (class, mut at) = text(0);
    let options = number(at);
    at += 4;
    for _ in 0..2 * options {
        at = text(at).1;
    }
    // From 4.0 on, chunks of this length or more are not compressed.
    let format = Descriptor::of_data_file(Path::new(&format!("{prefix}Data.db"))).unwrap().format;
    let stored = if format.has_stored_chunks { number(at + 4) } else { usize::MAX };
    let length_at = at + if format.has_stored_chunks { 8 } else { 4 };
    let (chunk_length, length) = (number(at), number(length_at + 4));
    let chunks_at = length_at + 8;
    let offset = |chunk: usize| number(chunks_at + 4 + 8 * chunk + 4);
    let count = number(chunks_at);
    let mut content = Vec::new();
    for chunk in 0..count {
        let end = if chunk + 1 < count { offset(chunk + 1) } else { data.len() };
        // The checksum has four bytes.
        let Some(compressed) = data.get(offset(chunk)..end - 4) else { continue };
        let rest = length.saturating_sub(chunk * chunk_length).min(chunk_length);
        if compressed.len() >= stored || class.contains("Noop") {
            content.extend(&compressed[..rest]);
        } else if class.contains("Zstd") {
            let mut chunk = vec![0; rest];
            ruzstd::decoding::FrameDecoder::new().decode_all(compressed, &mut chunk).unwrap();
            content.extend(chunk);
        } else if class.contains("LZ4") {
            let length = u32::from_le_bytes(compressed[..4].try_into().unwrap());
            let length = usize::try_from(length).unwrap();
            content.extend(lz4_flex::block::decompress(&compressed[4..], length).unwrap());
        } else if class.contains("Snappy") {
            content.extend(snap::raw::Decoder::new().decompress_vec(compressed).unwrap());
        } else {
            std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(compressed), &mut content)
                .unwrap();
        }
    }
    content
}

/// Returns small tables of each release, so that many inputs are read. Those with checksums are there without them, too, so
/// that damage is read as rows.
pub fn small_tables() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for release in releases("data") {
        let directory = unpack(&release, "data");
        for keyspace in ["BloggyAppy", "key_space_test", "Cmp"] {
            collect_tables(&directory.path().join("data").join(keyspace), &mut seeds);
        }
    }
    seeds.retain(|seed| seed.len() < 16 * 1024);
    seeds
}

/// Adds the SSTables of a folder in the form of `sstable_targets::sstable`.
fn collect_tables(folder: &Path, seeds: &mut Vec<Vec<u8>>) {
    // A keyspace that a release does not have.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_tables(&path, seeds);
        }
        let Some(prefix) = path.to_str().unwrap().strip_suffix("Data.db") else { continue };
        let letters = Descriptor::of_data_file(&path).unwrap().format.letters;
        let version = FORMATS.iter().position(|format| format.letters == letters).unwrap();
        let version = u8::try_from(version).unwrap();
        let file = |component: &str| {
            let name = format!("{prefix}{}", file_name(letters, component));
            std::fs::read(name).unwrap_or_default()
        };
        let files: Vec<u8> = COMPONENTS.iter().flat_map(|component| with_length(&file(component))).collect();
        seeds.push([vec![version], files].concat());
        if letters >= "h" {
            let rows = [content_of(prefix), file("Index"), file("Statistics")];
            seeds.push([vec![version], rows.iter().flat_map(|file| with_length(file)).collect()].concat());
        }
    }
}

/// The tables of keyspaces of each release in `tests/fixtures/sstables`, some of them damaged.
#[test]
fn sstable() {
    let seeds = small_tables();
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, &[], &seeds);
        input
    };
    fuzz("sstable", next, sstable_targets::sstable);
}

/// Transaction logs of 3.x, with right checksums, and their copies in other directories.
#[test]
fn transaction_log() {
    let records =
        ["ADD:[/d/ks/cf-1/mc-3-big,0,8]", "REMOVE:[/d/ks/cf-1/mc-1-big,1457364423000,8]", "COMMIT:[,0,0]"];
    let texts = [records.join("\n"), records[..2].join("\n"), "ABORT:[,0,0]\n".to_owned()];
    let log = |texts: &[&String]| -> Vec<u8> {
        let copies = u8::try_from(texts.len() - 1).unwrap();
        let texts = texts.iter().flat_map(|text| with_length(text.as_bytes()));
        [copies].into_iter().chain(texts).collect()
    };
    let mut seeds = vec![log(&[&texts[0]]), log(&[&texts[0], &texts[1]]), log(&[&texts[1], &texts[2]])];
    seeds.extend(texts.iter().map(|text| log(&[text, text, text])));
    assert_eq!(sstable_targets::transaction_log(&seeds[0]), 3);
    let words: Vec<&[u8]> =
        vec![b"ADD:[", b"REMOVE:[", b"COMMIT:[,0,0]", b"]", b"[", b",", b"\n", b"-big", b"/"];
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, &words, &seeds);
        input
    };
    fuzz("transaction_log", next, sstable_targets::transaction_log);
}

/// Returns what a commit log of 3.x does not say of the tables, in the form of `sstable_targets::table_of`, by their ids.
fn definitions(release: &str) -> HashMap<Vec<u8>, String> {
    let directory = unpack(release, "data");
    let inventory = Inventory::of(&[directory.path().join("data")]).unwrap();
    let schema = FoundSchema::of(&inventory, &Types::builtin()).unwrap();
    let catalog = import_targets::catalog_of(&schema);
    let definition = |cf: &CfDef| {
        let table = TableDef::of(cf, Release::V2_1);
        let layout = match table.layout {
            Layout::Sparse => "sparse",
            Layout::Dense => "dense",
            Layout::CompositeDense => "composite-dense",
            Layout::StaticCompact => "static-compact",
            Layout::Super => "super",
        };
        let mut text = format!("layout {layout}\nclustering");
        match table.layout {
            Layout::Super | Layout::StaticCompact => {
                text.push_str(&format!(" {}", cf.comparator.class_name()))
            }
            _ => table
                .clustering
                .iter()
                .for_each(|column| text.push_str(&format!(" {}", column.cql_type.class_name()))),
        }
        let value = cf.default_validator.class_name();
        match cf.subcomparator() {
            Some(names) => text.push_str(&format!("\nvalue MapType({},{value})", names.class_name())),
            None if table.layout == Layout::Sparse => {}
            None => text.push_str(&format!("\nvalue {value}")),
        }
        for column in table.others.values() {
            let name = String::from_utf8_lossy(&column.cell_name).into_owned();
            text.push_str(&format!("\ncolumn {name} {}", column.cql_type.class_name()));
        }
        text
    };
    let ids = inventory.ids.iter();
    let found = ids.filter_map(|(id, name)| {
        Some((id.to_vec(), definition(catalog.column_family(&name.keyspace, &name.name)?)))
    });
    found.collect()
}

/// Returns the mutations of a commit log that is not compressed.
fn mutations(
    content: &[u8],
    (start, size_bytes, sum_bytes): (usize, usize, usize),
    seeds: &mut Vec<Vec<u8>>,
) {
    let mut at = start;
    let has_sum_of_size = size_bytes == 4;
    while let Some(size) = content.get(at + size_bytes - 4..at + size_bytes) {
        let size = u32::from_be_bytes(size.try_into().unwrap()) as usize;
        let from = at + size_bytes + if has_sum_of_size { sum_bytes } else { 0 };
        let Some(mutation) = content.get(from..from + size).filter(|_| size > 0) else { break };
        seeds.push(mutation.to_vec());
        at = from + size + sum_bytes;
    }
}

/// Returns where the sections of a commit log begin and end, and its parameters.
fn sections(content: &[u8], has_parameters: bool) -> (Vec<u8>, Vec<(usize, usize)>) {
    let number =
        |at: usize| content.get(at..at + 4).map_or(0, |bytes| u32::from_be_bytes(bytes.try_into().unwrap()));
    let length = if has_parameters { usize::from(u16::from_be_bytes([content[12], content[13]])) } else { 0 };
    let parameters = content[14..14 + length].to_vec();
    let mut at = 12 + if has_parameters { 2 + length } else { 0 } + 4;
    let mut found = Vec::new();
    while number(at) != 0 {
        let end = usize::try_from(number(at)).unwrap().min(content.len());
        found.push((at + 8, end));
        at = end;
    }
    (parameters, found)
}

/// The commit logs of a release in `tests/fixtures/sstables`, and the choice of their version.
fn logs() -> Vec<(String, u8, Vec<PathBuf>, tempfile::TempDir)> {
    let mut found = Vec::new();
    for release in releases("commitlog") {
        let directory = unpack(&release, "commitlog");
        let entries = std::fs::read_dir(directory.path().join("commitlog")).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
        paths.sort();
        let choice = match &release[..3] {
            "0.6" => 1,
            "1.2" => 3,
            "2.0" => 4,
            "2.1" => 5,
            "2.2" => 6,
            "3.0" | "3.1" => 7,
            "4.0" | "4.1" => 8,
            "5.0" => 9,
            _ => 2,
        };
        found.push((release, choice, paths, directory));
    }
    found
}

/// Returns a mutation of 0.6 as 0.4 wrote it: with the name of the column family once. `None` if it has several.
fn of_0_4(mutation: &[u8]) -> Option<Vec<u8>> {
    let text = |at: usize| {
        Some(at + 2 + usize::from(u16::from_be_bytes(mutation.get(at..at + 2)?.try_into().ok()?)))
    };
    let families = text(text(0)?)?;
    let name = families + 4;
    (mutation.get(families..name)? == [0, 0, 0, 1]).then_some(())?;
    Some([&mutation[..name], &mutation[text(name)?..]].concat())
}

/// The versions of commit logs.
const LOGS: usize = sstable_targets::LOGS.len();
/// As many mutations of a release are damaged.
const MUTATIONS_MAX: usize = 200;

/// The mutations in the commit logs of each release in `tests/fixtures/sstables`, damaged: their checksums are right.
#[test]
fn commit_log() {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let mut accepted = [0; LOGS];
    for (release, choice, paths, _directory) in logs() {
        let definitions = if choice >= 7 { definitions(&release) } else { HashMap::new() };
        let mut found = Vec::new();
        for path in paths {
            let content = std::fs::read(path).unwrap();
            match choice {
                1 => mutations(&content, (161, 8, 8), &mut found),
                2..=4 => mutations(&content, (0, 4, 8), &mut found),
                _ => {
                    for (start, end) in sections(&content, choice > 5).1 {
                        mutations(&content[..end], (start, 4, 4), &mut found);
                    }
                }
            }
        }
        // Some short ones, so that many inputs are read.
        found.retain(|mutation| mutation.len() < 4096);
        let step = found.len().div_ceil(MUTATIONS_MAX);
        for mutation in found.into_iter().step_by(step) {
            // Behind the number of column families, which is 1, and has one byte.
            let definition = match choice {
                7.. => mutation.get(1..17).and_then(|id| definitions.get(id)).map_or("", String::as_str),
                _ => "",
            };
            let mut add = |choice: u8, mutation: &[u8]| {
                let seed = [&[choice][..], &with_length(definition.as_bytes()), mutation].concat();
                accepted[usize::from(choice) % LOGS] += usize::from(sstable_targets::commit_log(&seed) > 0);
                seeds.push(seed);
            };
            add(choice, &mutation);
            if choice < 7 {
                // 10 versions divide 130: the same one.
                add(choice + 130, &mutation);
            }
            if let Some(older) = Some(&mutation).filter(|_| choice == 1).and_then(|mutation| of_0_4(mutation))
            {
                add(0, &older);
            }
        }
    }
    assert!(accepted.iter().all(|count| *count > 40), "{accepted:?}");
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, &[], &seeds);
        input
    };
    fuzz("commit_log", next, sstable_targets::commit_log);
}

/// Returns a section with a compressed content, and the parameters of its log.
fn compressed(class: &str, content: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let length = u32::try_from(content.len()).unwrap();
    let bytes = match class {
        "SnappyCompressor" => snap::raw::Encoder::new().compress_vec(content).unwrap(),
        "ZstdCompressor" => {
            ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
        }
        "LZ4Compressor" => [&length.to_le_bytes()[..], &lz4_flex::block::compress(content)].concat(),
        _ => {
            let mut bytes = Vec::new();
            let mut encoder = flate2::read::ZlibEncoder::new(content, flate2::Compression::default());
            std::io::Read::read_to_end(&mut encoder, &mut bytes).unwrap();
            bytes
        }
    };
    let parameters = format!("{{\"compressionClass\":\"org.apache.cassandra.io.compress.{class}\"}}");
    (parameters.into_bytes(), [&length.to_be_bytes()[..], &bytes].concat())
}

/// The beginnings of the commit logs of each release, with damaged headers, sections and records.
#[test]
fn commit_log_file() {
    const MOST: usize = 4096;
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let seed = |choice: u8, parts: &[&[u8]]| {
        let parts = parts.iter().flat_map(|part| with_length(part));
        [vec![choice], parts.collect()].concat()
    };
    for (release, choice, paths, _directory) in logs() {
        let content = std::fs::read(&paths[0]).unwrap();
        match choice {
            1 => {
                // The first records of the file. Its header says from where on they are needed.
                for choice in [0, 1] {
                    seeds.push(seed(choice, &[&content[8..161], &content[161..161 + MOST]]));
                    seeds.push(seed(choice, &[b"\xac\xed\0\x05\0\0\0\0", &content[161..161 + MOST]]));
                }
            }
            2 => {
                let header = std::fs::read(format!("{}.header", paths[0].display())).unwrap_or_default();
                // Without its two checksums.
                let (sizes, pairs) =
                    (header.get(..4).unwrap_or_default(), header.get(12..).unwrap_or_default());
                let pairs = &pairs[..pairs.len().saturating_sub(8)];
                seeds.push(seed(choice, &[&[sizes, pairs].concat(), &content[..MOST]]));
                seeds.push(seed(choice, &[b"", &content[..MOST]]));
            }
            3 | 4 => seeds.push(seed(choice, &[b"", &content[..MOST]])),
            _ => {
                let (parameters, sections) = sections(&content, choice > 5);
                let parts: Vec<&[u8]> = sections
                    .iter()
                    .map(|(start, end)| &content[*start..*end.min(&(start + MOST))])
                    .take(3)
                    .collect();
                let parameters = if choice > 5 { &parameters[..] } else { &[] };
                seeds.push(seed(choice, &[&[parameters], &parts[..]].concat()));
                if choice > 5 {
                    for class in ["SnappyCompressor", "LZ4Compressor", "ZstdCompressor", "DeflateCompressor"]
                    {
                        let (parameters, section) = compressed(class, parts[0]);
                        seeds.push(seed(choice, &[&parameters, &section, &section]));
                    }
                }
            }
        }
        // Rows of 3.x cannot be read without the types of their columns.
        let rows = sstable_targets::commit_log_file(seeds.last().unwrap());
        assert!(rows > 0 || choice >= 7, "{release}");
    }
    let pieces: &[&[u8]] =
        &[b"{\"encCipher\":\"AES\"}", b"\"", b"{", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"];
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, pieces, &seeds);
        input
    };
    fuzz("commit_log_file", next, sstable_targets::commit_log_file);
}
