//! The transaction logs of 3.0 and later: which SSTables a compaction or a flush adds, and which it removes.
//!
//! ```text
//!   data/Shop/Carts-<id>/mc_txn_compaction_<id>.log
//!
//!     ADD:[/var/lib/cassandra/data/Shop/Carts-<id>/mc-3-big,0,8][375437892]          number of files, checksum
//!     REMOVE:[/var/lib/cassandra/data/Shop/Carts-<id>/mc-1-big,1457364423000,8][..]  time of the newest file in ms
//!     REMOVE:[/var/lib/cassandra/data/Shop/Carts-<id>/mc-2-big,1457364424000,8][..]
//!     COMMIT:[,0,0][2613697770]
//! ```
//!
//! With the last line the added SSTables are complete and the removed ones obsolete; without it the added ones are not
//! complete, or not valid. A transaction whose files are in several directories has the same log in each. The log is deleted
//! last, so one that is there belongs to a transaction that was not finished, or not cleaned up.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::error::SstableError;

/// Longest log in bytes: some 100 bytes for each SSTable of a compaction.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// The part of a log's name between the version of the format and the kind of the transaction.
const MARK: &str = "_txn_";

/// The kinds of records of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// An SSTable that the transaction writes.
    Add,
    /// An SSTable that the transaction replaces.
    Remove,
    /// The transaction is complete.
    Commit,
    /// The transaction was given up.
    Abort,
}

/// The kinds with their names.
const KINDS: [(&str, RecordKind); 4] = [
    ("ADD", RecordKind::Add),
    ("REMOVE", RecordKind::Remove),
    ("COMMIT", RecordKind::Commit),
    ("ABORT", RecordKind::Abort),
];

/// A record of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionRecord {
    /// The effect on the SSTable, or on the transaction.
    pub kind: RecordKind,
    /// The path of the SSTable's files on the old server, up to the generation; empty for the end of a transaction.
    pub path: String,
    /// When the newest file of a removed SSTable was written, in milliseconds since 1970.
    pub updated_ms: i64,
    /// The number of files of the SSTable. Of an added one there may be more.
    pub files: usize,
}

/// The records of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionLog {
    /// The log, and its copies in other directories.
    pub paths: Vec<PathBuf>,
    /// The records that are whole.
    pub records: Vec<TransactionRecord>,
    /// Whether the last record was not written as a whole.
    pub is_cut: bool,
}

/// Whether a file is a transaction log, by its name: `<version>_txn_<kind>_<id>.log`.
pub fn is_transaction_log(name: &str) -> bool {
    let parts = name.strip_suffix(".log").and_then(|stem| stem.split_once(MARK));
    parts.is_some_and(|(version, rest)| version.len() == 2 && rest.contains('_'))
}

impl TransactionLog {
    /// Reads a log and its copies.
    ///
    /// # Errors
    ///
    /// If the copies differ or a record before the last one is damaged.
    pub fn read(paths: &[PathBuf]) -> Result<TransactionLog, SstableError> {
        let texts = paths.iter().map(|path| text_of(path)).collect::<Result<Vec<_>, _>>()?;
        let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
        let mut log = TransactionLog { paths: paths.to_vec(), records: Vec::new(), is_cut: false };
        let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
        let count = lines.iter().map(Vec::len).max().unwrap_or_default();
        let mut seen = HashSet::new();
        for number in 0..count {
            let damaged = |why: &str| {
                SstableError::damaged(path, 0, format!("line {} of this transaction log {why}", number + 1))
            };
            let is_last = number + 1 == count;
            let (line, differs) = longest(&lines, number).ok_or_else(|| {
                damaged("is another one than in its copies in other directories of the column family")
            })?;
            match record_of(line).filter(|_| !differs) {
                Some(_) if !seen.insert(line) => {
                    return Err(damaged("repeats another one"));
                }
                Some(record) if record.is_end() && !is_last => {
                    return Err(damaged("ends the transaction, but others follow"));
                }
                Some(record) => log.records.push(record),
                None if is_last => log.is_cut = true,
                None => return Err(damaged("has a wrong form or a wrong checksum")),
            }
        }
        Ok(log)
    }

    /// Whether the transaction was committed: its removed SSTables are obsolete. Otherwise its added ones are.
    pub fn is_committed(&self) -> bool {
        !self.is_cut && self.records.last().is_some_and(|record| record.kind == RecordKind::Commit)
    }

    /// Returns the records of a kind.
    pub fn of_kind(&self, kind: RecordKind) -> impl Iterator<Item = &TransactionRecord> {
        self.records.iter().filter(move |record| record.kind == kind)
    }
}

impl TransactionRecord {
    fn is_end(&self) -> bool {
        matches!(self.kind, RecordKind::Commit | RecordKind::Abort)
    }

    /// Returns the name of the SSTable's files up to the generation, and the path of their directory.
    pub fn place(&self) -> (&str, &str) {
        // The old server may have run on Windows.
        match self.path.rsplit_once(['/', '\\']) {
            Some((directory, name)) => (name, directory),
            None => (&self.path, ""),
        }
    }
}

fn text_of(path: &Path) -> Result<String, SstableError> {
    let file = File::open(path).map_err(SstableError::io_at(path))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(SstableError::io_at(path))?;
    if bytes.len() as u64 > LOG_BYTES_MAX {
        let why = format!("it has more than the {LOG_BYTES_MAX} bytes of a transaction log that are read");
        return Err(SstableError::unsupported(path, why));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a line of all copies, and whether one of them has only its beginning. `None` if the lines are different ones.
fn longest<'t>(copies: &[Vec<&'t str>], number: usize) -> Option<(&'t str, bool)> {
    let mut found: Option<(&str, bool)> = None;
    for lines in copies {
        // The last record may be in some copies only.
        let Some(line) = lines.get(number) else { continue };
        found = Some(match found {
            None => (line, false),
            Some((other, differs)) if other == *line => (other, differs),
            Some((other, _)) if other.starts_with(line) && number + 1 == lines.len() => (other, true),
            Some((other, _)) if line.starts_with(other) => (line, true),
            Some(_) => return None,
        });
    }
    found
}

/// Reads a record. `None` if its form or its checksum is wrong.
fn record_of(line: &str) -> Option<TransactionRecord> {
    let (kind, rest) = line.split_once(":[")?;
    let (content, sum) = rest.strip_suffix(']')?.rsplit_once("][")?;
    let (name, kind) = KINDS.into_iter().find(|(name, _)| kind.eq_ignore_ascii_case(name))?;
    let mut fields = content.rsplitn(3, ',');
    let files: i32 = fields.next()?.parse().ok()?;
    let updated_ms: i64 = fields.next()?.parse().ok()?;
    let path = fields.next()?;
    if sum.parse() != Ok(checksum(name, path, updated_ms, files)) {
        return None;
    }
    Some(TransactionRecord { kind, path: path.to_owned(), updated_ms, files: usize::try_from(files).ok()? })
}

/// Returns the checksum of a record: CRC-32 of the path, the kind, the low and the high half of the time, and the files.
fn checksum(kind: &str, path: &str, updated_ms: i64, files: i32) -> u32 {
    let time = updated_ms.to_be_bytes();
    let mut hasher = crc32fast::Hasher::new();
    for part in [path.as_bytes(), kind.as_bytes(), &time[4..], &time[..4], &files.to_be_bytes()] {
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, path: &str, updated_ms: i64, files: i32) -> String {
        format!("{kind}:[{path},{updated_ms},{files}][{}]", checksum(kind, path, updated_ms, files))
    }

    fn read(copies: &[&str]) -> Result<TransactionLog, SstableError> {
        let scratch = tempfile::tempdir().unwrap();
        let write = |(number, text): (usize, &&str)| {
            let path = scratch.path().join(format!("{number}.log"));
            std::fs::write(&path, text).unwrap();
            path
        };
        let paths: Vec<PathBuf> = copies.iter().enumerate().map(write).collect();
        TransactionLog::read(&paths)
    }

    #[test]
    fn logs_are_known_by_their_names() {
        for (name, is_log) in [
            ("mc_txn_compaction_2f4a3f60-e5b0-11e5-a12e-0d3f3a4a5a6b.log", true),
            ("me_txn_unknowncompactiontype_2f4a3f60-e5b0-11e5-a12e-0d3f3a4a5a6b.log", true),
            ("txn_compaction_2f4a3f60.log", false),
            ("mc_txn_compaction.log", false),
            ("CommitLog-6-1795555678325.log", false),
            ("system_txn_flush_1.log", false),
        ] {
            assert_eq!(is_transaction_log(name), is_log, "{name}");
        }
    }

    #[test]
    fn a_transaction_is_committed_by_its_last_record() {
        // As a server wrote it.
        let commit = "COMMIT:[,0,0][2613697770]";
        let (add, remove) =
            (line("ADD", "/d/ks/cf-1/mc-3-big", 0, 8), line("REMOVE", "/d/a,b/mc-1-big", 77, 8));
        let log = read(&[&format!("{add}\n{remove}\n{commit}\n")]).unwrap();
        assert!(log.is_committed() && !log.is_cut);
        let removed: Vec<_> = log.of_kind(RecordKind::Remove).collect();
        assert_eq!(removed[0].place(), ("mc-1-big", "/d/a,b"));
        assert_eq!((removed[0].updated_ms, removed[0].files), (77, 8));
        for (end, is_cut) in [("", false), (&commit[..12], true), ("COMMIT:[,0,0][2613697771]", true)] {
            let log = read(&[&format!("{add}\n{remove}\n{end}")]).unwrap();
            assert_eq!((log.is_committed(), log.is_cut, log.records.len()), (false, is_cut, 2), "{end}");
        }
        let aborted = read(&[&format!("{add}\n{}", line("ABORT", "", 0, 0))]).unwrap();
        assert!(!aborted.is_committed() && !aborted.is_cut);
    }

    #[test]
    fn damage_before_the_last_record_is_an_error() {
        let (add, commit) = (line("ADD", "/d/ks/cf-1/mc-3-big", 0, 8), "COMMIT:[,0,0][2613697770]");
        for (text, why) in [
            (format!("{}\n{commit}", add.replace("mc-3", "mc-4")), "line 1"),
            (format!("{add}\n{add}"), "line 2 of this transaction log repeats"),
            (format!("{commit}\n{add}"), "line 1 of this transaction log ends the transaction"),
        ] {
            let error = read(&[&text]).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn copies_in_other_directories_may_lack_the_last_record() {
        let (add, commit) = (line("ADD", "/d/ks/cf-1/mc-3-big", 0, 8), "COMMIT:[,0,0][2613697770]");
        let whole = format!("{add}\n{commit}\n");
        for copies in [[&whole[..], &add], [&add, &whole]] {
            assert!(read(&copies).unwrap().is_committed());
        }
        for copies in [[&whole[..], &whole[..whole.len() - 5]], [&whole[..whole.len() - 5], &whole]] {
            assert!(read(&copies).unwrap().is_cut);
        }
        let other = whole.replace("ADD", "add").replace("mc-3", "mc-5");
        assert!(read(&[&whole, &other]).unwrap_err().to_string().contains("in its copies"));
    }
}
