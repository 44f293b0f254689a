//! Commit logs: the writes that a server had not flushed to SSTables when it stopped.
//!
//! ```text
//!   version    which releases wrote a file      segment    the records of a file
//!   section    sections of 2.1 and later        mutation   the changes of one row in a record
//!   header     what up to 0.7 was flushed       lost       what cannot be read
//! ```
//!
//! A write has its position in the log. The server replays those writes only that no SSTable has: see `flushed`.

mod header;
mod lost;
mod mutation;
mod section;
mod segment;
mod version;

use std::path::Path;
use std::sync::Arc;

pub use lost::LostParts;
pub use mutation::{LogFamily, LogRow};

use super::error::SstableError;
use super::flushed::LogPosition;
use super::modern::LogTable;
use header::Dirty;
use segment::LogSegment;
use version::LogVersion;

/// Reads the writes of a commit log, in their order.
#[derive(Debug)]
pub struct CommitLog {
    segment: LogSegment,
    dirty: Dirty,
}

/// A write: changes of one row in one or several column families.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWrite {
    /// Where the record of the write ends.
    pub position: LogPosition,
    /// The row, once for each column family.
    pub rows: Vec<LogRow>,
}

impl CommitLog {
    /// Opens a commit log.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another release.
    pub fn open(path: &Path) -> Result<CommitLog, SstableError> {
        Ok(CommitLog { segment: LogSegment::open(path)?, dirty: Dirty::beside(path) })
    }

    /// Returns the next write. `None` at the end, which is where the server would end its replay: at the first record
    /// that was not written completely. Without the rows that the header of a log up to 0.7 shows as flushed. `tables`
    /// finds the definition of a column family in the schema: whether it has super columns, which logs from 0.7 on do
    /// not say, and from 3.0 on the types of its columns.
    ///
    /// # Errors
    ///
    /// If a record has its checksum and cannot be decoded.
    pub fn next_write(
        &mut self,
        tables: impl Fn(&LogFamily) -> Option<Arc<LogTable>>,
    ) -> Result<Option<LogWrite>, SstableError> {
        let Some(record) = self.segment.next_record()? else { return Ok(None) };
        let decoded = mutation::decode(&record.mutation, self.segment.version(), &tables);
        let mut rows = decoded.map_err(|error| match error {
            SstableError::Damaged(damage) => SstableError::damaged(
                self.segment.path(),
                u64::from(record.position.position),
                format!("the write that ends here cannot be read: {}", damage.why),
            ),
            other => other,
        })?;
        rows.retain(|row| match row.family {
            LogFamily::Numbered { number, .. } => self.dirty.needs(number, record.position.position),
            _ => true,
        });
        Ok(Some(LogWrite { position: record.position, rows }))
    }

    /// Returns the damaged parts that were passed over, as the server does.
    pub fn lost(&self) -> LostParts {
        self.segment.lost()
    }

    /// Whether the deletion of a counter wins whatever its timestamp (2.1 and later).
    pub fn counter_deletions_are_final(&self) -> bool {
        self.segment.version() >= LogVersion::Four
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::segment::crc;
    use super::*;

    const ID: i64 = 0x0102_0304_0506_0708;

    fn long(sum: u32) -> [u8; 8] {
        u64::from(sum).to_be_bytes()
    }

    fn text(text: &str) -> Vec<u8> {
        [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
    }

    /// The row as all versions up to 2.2 store it: no deletion, and one column.
    fn columns(has_ranges: bool) -> Vec<u8> {
        let deletion = [&i32::MAX.to_be_bytes()[..], &i64::MIN.to_be_bytes()].concat();
        let ranges: &[u8] = if has_ranges { &[0; 4] } else { &[] };
        let column = [&text("name")[..], &[0], &7_i64.to_be_bytes(), &[0, 0, 0, 2, 8, 9]].concat();
        [&deletion[..], ranges, &[0, 0, 0, 1], &column].concat()
    }

    fn mutation_of_0_4(key: &str) -> Vec<u8> {
        let family = [text("Carts"), text("Standard"), text("BytesType"), text("")].concat();
        [&text("Shop")[..], &text(key), &[0, 0, 0, 1], &family, &columns(false)].concat()
    }

    fn mutation_of_2_2(key: &str) -> Vec<u8> {
        [&text(key)[..], &[0, 0, 0, 1, 1], &[5; 16], &columns(true)].concat()
    }

    fn record_of_2_2(mutation: &[u8]) -> Vec<u8> {
        let size = u32::try_from(mutation.len()).unwrap().to_be_bytes();
        let sums = [crc(&[&size]).to_be_bytes(), crc(&[&size, mutation]).to_be_bytes()];
        [&size[..], &sums[0], mutation, &sums[1]].concat()
    }

    /// The header of 2.2, and sections whose content is stored as it is given.
    fn log_of_2_2(parameters: &str, sections: &[Vec<u8>]) -> Vec<u8> {
        let (low, high) = (0x0506_0708_u32.to_be_bytes(), 0x0102_0304_u32.to_be_bytes());
        let length = u16::try_from(parameters.len()).unwrap();
        let sum = crc(&[
            &5_u32.to_be_bytes(),
            &low,
            &high,
            &u32::from(length).to_be_bytes(),
            parameters.as_bytes(),
        ]);
        let mut log = [&5_u32.to_be_bytes()[..], &ID.to_be_bytes(), &length.to_be_bytes()].concat();
        log.extend(parameters.as_bytes());
        log.extend(sum.to_be_bytes());
        for section in sections {
            let place = u32::try_from(log.len()).unwrap();
            let end = place + 8 + u32::try_from(section.len()).unwrap();
            log.extend(end.to_be_bytes());
            log.extend(crc(&[&low, &high, &place.to_be_bytes()]).to_be_bytes());
            log.extend(section);
        }
        log
    }

    struct Written {
        _directory: tempfile::TempDir,
        path: PathBuf,
    }

    fn written(name: &str, content: &[u8]) -> Written {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        Written { _directory: directory, path }
    }

    /// Returns the keys and positions of the writes, and how many records were skipped or cannot be decoded.
    fn read(name: &str, content: &[u8]) -> (Vec<(String, u32)>, u64) {
        let written = written(name, content);
        let Ok(mut log) = CommitLog::open(&written.path) else { return (Vec::new(), 1) };
        let (mut found, mut wrong) = (Vec::new(), 0);
        loop {
            match log.next_write(|_| None) {
                Ok(None) => {
                    let LostParts { writes, sections, end, is_cut, .. } = log.lost();
                    wrong += writes + sections + u64::from(end.is_some()) + u64::from(is_cut);
                    return (found, wrong);
                }
                Ok(Some(write)) => {
                    let key = String::from_utf8_lossy(&write.rows[0].key).into_owned();
                    found.push((key, write.position.position));
                }
                Err(_) => wrong += 1,
            }
        }
    }

    fn keys((found, _): (Vec<(String, u32)>, u64)) -> Vec<String> {
        found.into_iter().map(|(key, _)| key).collect()
    }

    /// No server of 0.4 is available: its source code writes this.
    #[test]
    fn logs_of_0_4_have_no_checksums() {
        // A header that cannot be read: everything is replayed.
        let mut log = [&8_u64.to_be_bytes()[..], &0xaced_0005_u32.to_be_bytes(), &[0; 4]].concat();
        let mut ends = vec![log.len()];
        for key in ["first", "second", "third"] {
            let mutation = mutation_of_0_4(key);
            log.extend((mutation.len() as u64).to_be_bytes());
            log.extend(mutation);
            ends.push(log.len());
        }
        let (found, wrong) = read("CommitLog-1.log", &log);
        let expected = ["first", "second", "third"].into_iter().zip(&ends[1..]);
        let expected: Vec<_> = expected.map(|(key, end)| (key.to_owned(), *end as u32)).collect();
        assert_eq!((found, wrong), (expected, 0));
        for cut in ends[0]..log.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
            assert_eq!(keys(read("CommitLog-1.log", &log[..cut])).len(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn logs_of_0_5_and_0_6_are_not_taken_for_those_of_0_4() {
        let mutation = mutation_of_0_4("key");
        // The name of the column family is there twice.
        let at = text("Shop").len() + text("key").len() + 4;
        let mutation = [&mutation[..at], &text("Carts"), &mutation[at..]].concat();
        let header = [&8_u64.to_be_bytes()[..], &0xaced_0005_u32.to_be_bytes(), &[0; 4]].concat();
        let record =
            [&(mutation.len() as u64).to_be_bytes()[..], &mutation, &long(crc(&[&mutation]))].concat();
        let log = [&header[..], &record, &record].concat();
        assert_eq!(keys(read("CommitLog-1.log", &log)), ["key", "key"]);
        let mut damaged = log.clone();
        damaged[header.len() + 20] ^= 1;
        let (found, wrong) = read("CommitLog-1.log", &damaged);
        assert_eq!((found.len(), wrong), (1, 1));
    }

    fn compressed(class: &str, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap();
        let bytes = match class {
            "SnappyCompressor" => snap::raw::Encoder::new().compress_vec(content).unwrap(),
            "LZ4Compressor" => [&length.to_le_bytes()[..], &lz4_flex::block::compress(content)].concat(),
            _ => {
                let mut bytes = Vec::new();
                let mut encoder = flate2::read::ZlibEncoder::new(content, flate2::Compression::default());
                std::io::Read::read_to_end(&mut encoder, &mut bytes).unwrap();
                bytes
            }
        };
        [&length.to_be_bytes()[..], &bytes].concat()
    }

    /// Positions in a compressed log are those that it would have without compression.
    #[test]
    fn compressed_sections_have_the_positions_of_their_content() {
        let sections = [["a", "b"].map(mutation_of_2_2), ["c", "d"].map(mutation_of_2_2)];
        let sections = sections.map(|section| section.map(|mutation| record_of_2_2(&mutation)).concat());
        for class in ["SnappyCompressor", "LZ4Compressor", "DeflateCompressor"] {
            let parameters =
                format!("{{\"compressionClass\":\"org.a.{class}\",\"compressionParameters\":{{}}}}");
            let stored = sections.clone().map(|section| compressed(class, &section));
            let log = log_of_2_2(&parameters, &stored);
            let plain = format!("{{\"x\":\"{}\"}}", "y".repeat(parameters.len() - 8));
            let expected = read("CommitLog-5-1.log", &log_of_2_2(&plain, &sections));
            assert_eq!(keys(expected.clone()), ["a", "b", "c", "d"]);
            assert_eq!(read("CommitLog-5-1.log", &log), expected, "{class}");
            for at in 0..log.len() {
                let mut changed = log.clone();
                changed[at] ^= 0x10;
                let (found, wrong) = read("CommitLog-5-1.log", &changed);
                // Behind a section with a damaged length positions can be wrong.
                let is_known = |(key, _): &(String, u32)| ["a", "b", "c", "d"].contains(&key.as_str());
                assert!(found.iter().all(is_known), "{class}: byte {at}");
                assert!(wrong > 0 || found == expected.0, "{class}: byte {at} is changed without a report");
                read("CommitLog-5-1.log", &log[..at]);
            }
        }
    }

    /// A server that was killed leaves a marker without its section. The section before it, whose content is longer than
    /// the file, is not read again.
    #[test]
    fn a_marker_at_the_end_of_a_compressed_log_ends_it() {
        let long = "k".repeat(5000);
        let section = record_of_2_2(&mutation_of_2_2(&long));
        let parameters = r#"{"compressionClass":"org.a.LZ4Compressor"}"#;
        let log = log_of_2_2(parameters, &[compressed("LZ4Compressor", &section), Vec::new()]);
        assert!(log.len() < section.len());
        let (found, wrong) = read("CommitLog-5-1.log", &log);
        assert_eq!((keys((found, wrong)), wrong), (vec![long], 1));
    }

    #[test]
    fn logs_that_cannot_be_read_say_why() {
        let why = |name: &str, content: &[u8]| {
            let written = written(name, content);
            CommitLog::open(&written.path).unwrap_err().to_string()
        };
        let encrypted = log_of_2_2(r#"{"encCipher":"AES/CBC/PKCS5Padding","encIV":"00"}"#, &[]);
        assert!(why("CommitLog-5-1.log", &encrypted).contains("the commit log is encrypted"));
        let unknown = log_of_2_2(r#"{"compressionClass":"org.a.ZstdDictionaryCompressor"}"#, &[]);
        assert!(why("CommitLog-5-1.log", &unknown).contains("ZstdDictionaryCompressor uses a dictionary"));
        assert!(why("CommitLog-9-1.log", b"").contains("a commit log of Cassandra 0.4 to 5.0"));
        assert!(why("CommitLog-x.log", b"").contains("not named like a commit log"));
        assert!(why("CommitLog-4-1.log", &encrypted).contains("not what its checksum says"));
    }
}
