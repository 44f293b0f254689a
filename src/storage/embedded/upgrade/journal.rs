//! The log of the storage engine of formats 1 and 2.
//!
//! ```text
//!   batch   start, items, end
//!   start   01 | u32 items | u64 sequence number, larger than all before
//!   item    02 | kind | 00 | u64 keyspace | u16 key length | u32 value length | u32 bytes | key | value
//!   end     03 | u64 XXH3 of the items | "FJL" 03
//!   clear   04 | u64 keyspace, instead of an item
//!   zeros   the rest of a file whose space was allocated ahead
//! ```
//!
//! Numbers are little-endian. A killed process leaves a torn batch, which has no end, as the last one. If the log
//! becomes unreadable and the end of another batch follows, it is damaged, and nothing is upgraded.
//!
//! There is one exception. In a power failure, later pages of the log may have been written and earlier ones not. No
//! write in them was synced. Such a hole is a whole page of zeros, and the log ends there.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use byteorder::{ByteOrder, LittleEndian, ReadBytesExt};
use xxhash_rust::xxh3::Xxh3;

use crate::storage::StoreError;

/// The last bytes of a batch.
const TRAILER: [u8; 4] = *b"FJL\x03";
/// Bytes of a page. A power failure loses unsynced data in whole pages.
const PAGE: usize = 4096;
const ZEROS: [u8; PAGE] = [0; PAGE];
/// Bytes of an item before its key.
const ITEM_HEAD: usize = 21;

/// A change of one key of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalItem {
    /// The tree's number.
    pub keyspace: u64,
    pub sequence: u64,
    pub key: Vec<u8>,
    /// `None` if it was removed.
    pub value: Option<Vec<u8>>,
}

/// Calls `each` with every item of every batch of the log, in the order of writing.
///
/// # Errors
/// `Corrupt` if the log is damaged anywhere but at its end.
pub fn read_journal(
    engine_directory: &Path,
    mut each: impl FnMut(JournalItem) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let logs = logs_in_order(engine_directory).map_err(|error| io_error(engine_directory, &error))?;
    // The engine created its file `version` after the first log file, and always kept one log file.
    if logs.is_empty() && engine_directory.join("version").exists() {
        return Err(StoreError::Corrupt(format!("{} has no write log", engine_directory.display())));
    }
    let mut last_number = None;
    for path in logs {
        let mut log = Log::open(&path, last_number).map_err(|error| io_error(&path, &error))?;
        loop {
            let begin = log.at;
            match log.read_batch().map_err(|error| io_error(&path, &error))? {
                Batch::Whole(items) => items.into_iter().try_for_each(&mut each)?,
                Batch::Damaged => return Err(damaged(&path, begin)),
                Batch::Torn => {
                    let follows = log.a_batch_ends_after(begin).map_err(|error| io_error(&path, &error))?;
                    if follows {
                        return Err(damaged(&path, begin));
                    }
                    break;
                }
            }
        }
        last_number = log.last_number;
    }
    Ok(())
}

fn damaged(path: &Path, at: u64) -> StoreError {
    StoreError::Corrupt(format!(
        "the write log {} cannot be read at byte {at}, but further writes follow; put back an undamaged copy of the data \
         directory, or cut the file off at that byte to give up what follows it",
        path.display()
    ))
}

fn io_error(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Io(format!("{}: {error}", path.display()))
}

/// Returns the log files, oldest first. None if the directory does not exist.
fn logs_in_order(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut logs: Vec<(u64, PathBuf)> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_suffix(".jnl").and_then(|number| number.parse().ok());
        logs.extend(number.map(|number| (number, path)));
    }
    logs.sort();
    Ok(logs.into_iter().map(|(_, path)| path).collect())
}

/// A log file that is being read.
struct Log {
    file: BufReader<File>,
    at: u64,
    length: u64,
    /// The sequence number of the last batch, in this file or an earlier one.
    last_number: Option<u64>,
}

/// The result of reading a batch.
enum Batch {
    Whole(Vec<JournalItem>),
    Damaged,
    /// The file ends within it, or there is no batch.
    Torn,
}

/// One entry of a log.
enum Entry {
    Start {
        items: u32,
        number: u64,
    },
    Item {
        bytes: Vec<u8>,
        key_bytes: usize,
    },
    End {
        sum: u64,
    },
    /// An end with a wrong trailer, which is not just incomplete.
    BadEnd,
    /// The file ends, or there is no entry.
    Unreadable,
}

impl Log {
    fn open(path: &Path, last_number: Option<u64>) -> io::Result<Log> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Log { file: BufReader::with_capacity(1 << 16, file), at: 0, length, last_number })
    }

    fn read_batch(&mut self) -> io::Result<Batch> {
        let Entry::Start { items: count, number } = self.read_entry()? else { return Ok(Batch::Torn) };
        let mut items = Vec::new();
        let mut sum = Xxh3::new();
        for _ in 0..count {
            match self.read_entry()? {
                Entry::Item { bytes, key_bytes } => {
                    sum.update(&bytes);
                    items.push(item_of(&bytes, key_bytes, number));
                }
                Entry::BadEnd => return Ok(Batch::Damaged),
                _ => return Ok(Batch::Torn),
            }
        }
        match self.read_entry()? {
            Entry::End { sum: expected } => {
                let is_later = self.last_number.is_none_or(|last| last < number);
                self.last_number = Some(number);
                let is_sound = is_later && sum.digest() == expected;
                Ok(if is_sound { Batch::Whole(items) } else { Batch::Damaged })
            }
            Entry::BadEnd => Ok(Batch::Damaged),
            _ => Ok(Batch::Torn),
        }
    }

    fn read_entry(&mut self) -> io::Result<Entry> {
        match self.decode() {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Entry::Unreadable),
            entry => entry,
        }
    }

    fn decode(&mut self) -> io::Result<Entry> {
        let file = &mut self.file;
        match file.read_u8()? {
            1 => {
                let (items, number) = (file.read_u32::<LittleEndian>()?, file.read_u64::<LittleEndian>()?);
                self.at += 13;
                Ok(Entry::Start { items, number })
            }
            2 => self.decode_item(),
            3 => {
                let sum = file.read_u64::<LittleEndian>()?;
                let mut trailer = [0; TRAILER.len()];
                let read = read_up_to(file, &mut trailer)?;
                self.at += 13;
                Ok(if trailer == TRAILER {
                    Entry::End { sum }
                } else if read < trailer.len() || is_cut_short(trailer) {
                    Entry::Unreadable
                } else {
                    Entry::BadEnd
                })
            }
            // No version of this program has cleared a keyspace.
            _ => Ok(Entry::Unreadable),
        }
    }

    fn decode_item(&mut self) -> io::Result<Entry> {
        let mut bytes = vec![0; ITEM_HEAD];
        bytes[0] = 2;
        self.file.read_exact(&mut bytes[1..])?;
        let (kind, compression) = (bytes[1], bytes[2]);
        let key_bytes = usize::from(LittleEndian::read_u16(&bytes[11..]));
        let value_bytes = LittleEndian::read_u32(&bytes[13..]);
        let disk_bytes = LittleEndian::read_u32(&bytes[17..]);
        let body = key_bytes as u64 + u64::from(disk_bytes);
        self.at += ITEM_HEAD as u64 + body;
        // The kinds that the engine wrote. It was used without compression, so both lengths are equal.
        let is_known = matches!(kind, 0..=2) && compression == 0 && value_bytes == disk_bytes;
        if !is_known || self.at > self.length {
            return Ok(Entry::Unreadable);
        }
        // The file is long enough, so the length cannot be too large.
        self.file.by_ref().take(body).read_to_end(&mut bytes)?;
        Ok(Entry::Item { bytes, key_bytes })
    }

    /// Returns whether the end of a batch follows this byte, without a hole before it.
    fn a_batch_ends_after(&mut self, from: u64) -> io::Result<bool> {
        let page = PAGE as u64;
        let mut page_at = from - from % page;
        self.file.seek(SeekFrom::Start(page_at))?;
        // The last three bytes of the previous page, then a page.
        let mut window = vec![0; TRAILER.len() - 1 + PAGE];
        while page_at < self.length {
            window.copy_within(PAGE.., 0);
            let read = read_up_to(&mut self.file, &mut window[TRAILER.len() - 1..])?;
            let fresh = &mut window[TRAILER.len() - 1..];
            fresh[read..].fill(0);
            let is_first = page_at < from;
            if is_first {
                // Bytes before the damage do not count.
                fresh[..usize::try_from(from - page_at).unwrap_or(PAGE)].fill(0);
            }
            if !is_first && *fresh == ZEROS {
                return Ok(false);
            }
            if window.windows(TRAILER.len()).any(|bytes| bytes == TRAILER) {
                return Ok(true);
            }
            page_at += page;
        }
        Ok(false)
    }
}

/// Decodes an item.
fn item_of(bytes: &[u8], key_bytes: usize, sequence: u64) -> JournalItem {
    let (key, value) = bytes[ITEM_HEAD..].split_at(key_bytes);
    JournalItem {
        keyspace: LittleEndian::read_u64(&bytes[3..]),
        sequence,
        key: key.to_vec(),
        value: (bytes[1] == 0).then(|| value.to_vec()),
    }
}

/// Fills the buffer unless the file ends before. Returns the number of bytes.
fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Returns whether only the first bytes of a trailer were written.
fn is_cut_short(trailer: [u8; TRAILER.len()]) -> bool {
    (0..TRAILER.len()).any(|written| {
        trailer[..written] == TRAILER[..written] && trailer[written..].iter().all(|byte| *byte == 0)
    })
}
