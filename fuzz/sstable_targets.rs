//! The fuzzed functions that read SSTables and commit logs.

use std::path::Path;
use std::sync::Arc;

use base::schema::Layout;
use bytes::Bytes;
use sstable::{
    CommitLog, Descriptor, FORMATS, Flushed, LogTable, SstableError, TableOptions, TableReader,
    TransactionLog, Unit, named_partitioner,
};

use super::input::{COMPONENTS, Scratch, file_name, is_named_by_directory, kind_of, take, with_checksums};

/// Checks that an error says something.
fn check(error: &SstableError) {
    assert!(!error.to_string().is_empty(), "an error without a text");
}

/// Fuzzes an SSTable. The first byte selects the version of the format. Then come the components, each behind three bytes
/// with its length; a component without bytes is not written. Nothing may panic, each error must have a text, and
/// skipping damage must end. Returns the number of units that were read.
pub fn sstable(data: &[u8]) -> usize {
    let Some((version, mut rest)) = data.split_first() else { return 0 };
    let letters = FORMATS[usize::from(*version) % FORMATS.len()].letters;
    let scratch = Scratch::new("sstable");
    let prefix = match letters {
        "" => "Cf-1".to_owned(),
        letters if is_named_by_directory(letters) => format!("{letters}-1-{}", kind_of(letters)),
        letters => format!("Ks-Cf-{letters}-1"),
    };
    for component in COMPONENTS {
        let Some(content) = take(&mut rest) else { break };
        if !content.is_empty() {
            let content = with_checksums(letters, component, content);
            scratch.write(&format!("{prefix}-{}", file_name(letters, component)), &content);
        }
    }
    let path = scratch.path().join(format!("{prefix}-Data.db"));
    let descriptor = Descriptor::of_data_file(&path).expect("the name is right");
    named_partitioner(&descriptor);
    if let Err(error) = Flushed::of(&descriptor) {
        check(&error);
    }
    seek_rows(&path);
    read_table(&path, data.len())
}

/// Looks for the first rows by their keys.
fn seek_rows(path: &Path) {
    let open = || TableReader::open(path, &TableOptions::default());
    let keys = open().and_then(|mut table| table.first_keys(3));
    for row_key in keys.unwrap_or_default() {
        let mut table = open().expect("it was opened before");
        match table.seek_to_key(&row_key) {
            // Rows may have been changed, and not their index.
            Ok(found) => {
                assert!(found, "{row_key:?} is not found again");
                assert!(!matches!(table.next_unit(), Ok(Some(Unit::Atom(_)))), "a row begins");
            }
            Err(error) => check(&error),
        }
    }
}

fn read_table(path: &Path, input_bytes: usize) -> usize {
    let mut table = match TableReader::open_damaged(path, &TableOptions::default()) {
        Ok((table, damages)) => {
            damages.iter().for_each(check);
            table
        }
        Err(error) => {
            check(&error);
            return 0;
        }
    };
    if let Err(error) = table.check_digest() {
        check(&error);
    }
    let (mut units, mut damages) = (0, 0);
    loop {
        match table.next_unit() {
            Ok(None) => return units,
            Ok(Some(_)) => units += 1,
            Err(SstableError::Damaged(damage)) => {
                assert!(!damage.to_string().is_empty(), "an error without a text");
                damages += 1;
                assert!(damages <= input_bytes + 1, "skipping damage does not end");
                if table.skip_damage(&damage).is_err() {
                    return units;
                }
            }
            Err(_) => return units,
        }
    }
}

/// Fuzzes a transaction log of 3.x and its copies in other directories: the first byte is their number, and each is behind
/// three bytes with its length. Lines get the right checksum, unless they have one. Nothing may panic, and an error must have
/// a text. Returns the number of records that were read.
pub fn transaction_log(data: &[u8]) -> usize {
    let Some((copies, mut rest)) = data.split_first() else { return 0 };
    let scratch = Scratch::new("transactions");
    let mut paths = Vec::new();
    for copy in 0..=copies % 3 {
        let Some(content) = take(&mut rest) else { break };
        let name = format!("{copy}-mc_txn_compaction_1.log");
        scratch.write(&name, &with_sums(content));
        paths.push(scratch.path().join(name));
    }
    let read = match TransactionLog::read(&paths) {
        Ok(read) => read,
        Err(error) => {
            check(&error);
            return 0;
        }
    };
    assert!(!(read.is_committed() && read.is_cut), "a cut log is not committed");
    for record in &read.records {
        let (name, directory) = record.place();
        assert!(name.len() + directory.len() <= record.path.len(), "parts of the path");
    }
    read.records.len()
}

/// Adds to each line without a checksum the right one.
fn with_sums(content: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    let line = |line: &str| match sum_of(line) {
        Some(sum) => format!("{line}[{sum}]"),
        None => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n").into_bytes()
}

/// Returns the checksum of a record `KIND:[path,time,files]`: of the path, the kind, the low and the high half of the time,
/// and the number of files. `None` for other lines.
fn sum_of(line: &str) -> Option<u32> {
    let (kind, content) = line.strip_suffix(']')?.split_once(":[")?;
    let mut fields = content.rsplitn(3, ',');
    let files: i32 = fields.next()?.parse().ok()?;
    let time = fields.next()?.parse::<i64>().ok()?.to_be_bytes();
    let path = fields.next()?;
    let parts = [path.as_bytes(), kind.as_bytes(), &time[4..], &time[..4], &files.to_be_bytes()];
    Some(u32::from_be_bytes(crc(&parts)))
}

/// The names of commit logs of all versions, in the order in which inputs select them: 0.4 and 0.5 to 0.6, which have a
/// header, 0.7 to 1.1, 1.2, 2.0, 2.1, 2.2, 3.0 to 3.11, 4.0 and 4.1, 5.0.
pub const LOGS: [&str; 10] = [
    "CommitLog-1.log",
    "CommitLog-1.log",
    "CommitLog-1.log",
    "CommitLog-2-1.log",
    "CommitLog-3-1.log",
    "CommitLog-4-1.log",
    "CommitLog-5-1.log",
    "CommitLog-6-1.log",
    "CommitLog-7-1.log",
    "CommitLog-8-1.log",
];
/// The first of them with a header of their own and sections.
const FIRST_WITH_SECTIONS: usize = 5;
/// The id of all of them.
const LOG_ID: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 1];

fn crc(parts: &[&[u8]]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().to_be_bytes()
}

/// Returns a checksum of eight bytes.
fn long_crc(parts: &[&[u8]]) -> Vec<u8> {
    [&[0; 4][..], &crc(parts)].concat()
}

fn size_of(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).expect("inputs are short").to_be_bytes()
}

/// Returns a record with a mutation, as a version writes it.
fn record(version: usize, mutation: &[u8]) -> Vec<u8> {
    let size = size_of(mutation);
    let with_sums =
        |summed: &[u8]| [&size[..], &long_crc(&[summed]), mutation, &long_crc(&[summed, mutation])].concat();
    match version {
        0 => [&[0; 4][..], &size, mutation].concat(),
        1 => [&[0; 4][..], &size, mutation, &long_crc(&[mutation])].concat(),
        2 | 3 => with_sums(&size[3..]),
        4 => with_sums(&size),
        _ => [&size[..], &crc(&[&size]), mutation, &crc(&[&size, mutation])].concat(),
    }
}

/// Returns the beginning of a log of 2.1 and later, and its sections.
fn log_with_sections(version: usize, parameters: &[u8], sections: &[&[u8]]) -> Vec<u8> {
    let number = u32::try_from(version - 1).expect("a small number").to_be_bytes();
    let (high, low) = LOG_ID.split_at(4);
    let length = size_of(&parameters[..parameters.len().min(usize::from(u16::MAX))]);
    let parameters = &parameters[..parameters.len().min(usize::from(u16::MAX))];
    let mut log = [&number[..], &LOG_ID].concat();
    log.extend(match version {
        FIRST_WITH_SECTIONS => crc(&[&number, low, high]).to_vec(),
        _ => {
            let sum = crc(&[&number, low, high, &length, parameters]);
            [&length[2..], parameters, &sum].concat()
        }
    });
    for section in sections {
        let place = size_of(&log);
        let end = u32::try_from(log.len() + 8 + section.len()).expect("inputs are short");
        log.extend(end.to_be_bytes());
        log.extend(crc(&[low, high, &place]));
        log.extend(*section);
    }
    log
}

/// The header of a log up to 0.6 that cannot be read, so that all records are.
const NO_HEADER: &[u8] = b"\0\0\0\0\0\0\0\x08\xac\xed\0\x05\0\0\0\0";

/// Fuzzes a mutation in a commit log, which gets its checksums here. The first byte selects the version of the log, and
/// with its highest bit that column families are super column families. Then comes what the schema says of them, behind
/// three bytes with its length (see `table_of`), and the mutation. Nothing may panic, and each error must have a text.
/// Returns the number of rows that were read.
pub fn commit_log(data: &[u8]) -> usize {
    let Some((choice, mut mutation)) = data.split_first() else { return 0 };
    let Some(definition) = take(&mut mutation) else { return 0 };
    let version = usize::from(*choice) % LOGS.len();
    let record = record(version, mutation);
    let log = match version {
        0 | 1 => [NO_HEADER, &record].concat(),
        2..FIRST_WITH_SECTIONS => record,
        _ => log_with_sections(version, b"{}", &[&record]),
    };
    let layout = if *choice >= 128 { Layout::Super } else { Layout::Dense };
    let scratch = Scratch::new("mutation");
    read_log(&scratch.write(LOGS[version], &log), table_of(layout, definition), 2)
}

/// Returns the table of a definition, which has a line for each thing that a commit log of 3.x does not say:
///
/// ```text
///   layout sparse
///   clustering org.apache.cassandra.db.marshal.Int32Type org.apache.cassandra.db.marshal.UTF8Type
///   value org.apache.cassandra.db.marshal.BytesType
///   column name org.apache.cassandra.db.marshal.UTF8Type
/// ```
fn table_of(layout: Layout, definition: &[u8]) -> LogTable {
    let text = String::from_utf8_lossy(definition);
    let (mut layout, mut value, mut columns) = (layout, None, Vec::new());
    let mut clustering = vec!["BytesType".to_owned()];
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["layout", "sparse"] => layout = Layout::Sparse,
            ["layout", "dense"] => layout = Layout::Dense,
            ["layout", "composite-dense"] => layout = Layout::CompositeDense,
            ["layout", "static-compact"] => layout = Layout::StaticCompact,
            ["layout", "super"] => layout = Layout::Super,
            ["clustering", ref classes @ ..] => {
                clustering = classes.iter().map(|&class| class.to_owned()).collect();
            }
            ["value", class] => value = Some(class.to_owned()),
            ["column", name, class] => {
                columns.push((Bytes::copy_from_slice(name.as_bytes()), class.to_owned()));
            }
            _ => {}
        }
    }
    LogTable::new(layout, clustering, columns, value)
}

/// Fuzzes the file of a commit log. The first byte selects the version. Then come the header of the file, or that beside
/// it, or the parameters of a log of 2.2 and later, and the sections, or all records, each behind three bytes with its
/// length. The checksums of headers and sections are made here, those of records are not. Nothing may panic, and each
/// error must have a text. Returns the number of rows that were read.
pub fn commit_log_file(data: &[u8]) -> usize {
    let Some((choice, mut rest)) = data.split_first() else { return 0 };
    let Some(header) = take(&mut rest) else { return 0 };
    let version = usize::from(*choice) % LOGS.len();
    let mut parts = Vec::new();
    while let Some(part) = take(&mut rest) {
        parts.push(part);
    }
    let scratch = Scratch::new("log");
    let log = match version {
        0 | 1 => [&[0; 4][..], &size_of(header), header, &parts.concat()].concat(),
        2..FIRST_WITH_SECTIONS => {
            // Of each number in the header of 0.7 the last byte is in the checksums.
            let (sizes, pairs) = header.split_at(header.len().min(if *choice >= 128 { 8 } else { 4 }));
            let last_bytes = |numbers: &[u8]| numbers.iter().copied().skip(3).step_by(4).collect::<Vec<u8>>();
            let (of_sizes, of_pairs) = (last_bytes(sizes), last_bytes(pairs));
            let header = [sizes, &long_crc(&[&of_sizes]), pairs, &long_crc(&[&of_sizes, &of_pairs])].concat();
            scratch.write(&format!("{}.header", LOGS[version]), &header);
            parts.concat()
        }
        _ => log_with_sections(version, header, &parts),
    };
    let table = table_of(Layout::Dense, b"");
    // LZ4 and Snappy expand a byte to 255 at most, Deflate to 1,032, Zstd to 32,768. Each write has more than one byte.
    read_log(&scratch.write(LOGS[version], &log), table, 32_768 * data.len() + 2)
}

/// Reads the writes of a commit log, `most` at most: reading must end before. Returns the number of rows.
fn read_log(path: &Path, table: LogTable, most: usize) -> usize {
    let table = Arc::new(table);
    let mut rows = 0;
    let mut log = match CommitLog::open(path) {
        Ok(log) => log,
        Err(error) => {
            check(&error);
            return 0;
        }
    };
    for round in 0.. {
        assert!(round <= most, "reading the commit log does not end");
        match log.next_write(|_| Some(table.clone())) {
            Ok(Some(found)) => rows += found.rows.len(),
            Ok(None) => return rows,
            Err(error @ SstableError::Damaged(_)) => check(&error),
            Err(error) => {
                check(&error);
                return rows;
            }
        }
    }
    rows
}
