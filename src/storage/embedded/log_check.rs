//! Looks through the engine's write log before the engine opens it.
//!
//! The engine replays its log up to the first entry that it cannot read and cuts off the rest. That is right for
//! the torn tail that a killed process leaves, but a flipped bit in the middle would silently take every
//! acknowledged write behind it. A torn tail has no end of a batch in it, so: where the log becomes unreadable and
//! the end of a batch still follows, it is damaged, and nothing is opened.
//!
//! ```text
//!   batch   start, items, end
//!   start   01 | u32 items | u64 sequence number, larger than all before
//!   item    02 | kind | 00 | u64 keyspace | u16 key length | u32 value length | u32 bytes | key | value
//!   end     03 | u64 checksum | "FJL" 03
//!   clear   04 | u64 keyspace, in the place of an item
//!   zeros   the rest of a file that was made larger beforehand
//! ```
//!
//! Numbers are little-endian. Checksums are left to the engine: it refuses to open when one is wrong.
//!
//! One kind of gap is let pass: a machine that lost its power may have written later pages of the log before
//! earlier ones, of which none was synced. Such a hole is a whole page of zeros.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use byteorder::{LittleEndian, ReadBytesExt};

use crate::storage::StoreError;

/// What a batch ends with.
const TRAILER: [u8; 4] = *b"FJL\x03";
/// Unit in which disks lose what was not synced.
const PAGE: usize = 4096;
const ZEROS: [u8; PAGE] = [0; PAGE];

/// Refuses an engine directory whose log is damaged anywhere but at its end.
pub fn check_logs(engine_directory: &Path) -> Result<(), StoreError> {
    let mut last_number = None;
    let logs = logs_in_order(engine_directory).map_err(|error| io_error(engine_directory, &error))?;
    // The engine makes its file `version` after the first log, and is never without one.
    if logs.is_empty() && engine_directory.join("version").exists() {
        return Err(StoreError::Corrupt(format!("{} has no write log", engine_directory.display())));
    }
    for path in logs {
        let mut log = Log::open(&path, last_number).map_err(|error| io_error(&path, &error))?;
        let damage = log.find_damage().map_err(|error| io_error(&path, &error))?;
        if let Some(at) = damage {
            return Err(StoreError::Corrupt(format!(
                "the write log {} cannot be read at byte {at}, but further writes follow; put back an undamaged \
                 copy of the data directory, or cut the file off at that byte to give up what follows it",
                path.display()
            )));
        }
        last_number = log.last_number;
    }
    Ok(())
}

fn io_error(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Io(format!("{}: {error}", path.display()))
}

/// The log files, oldest first. A directory that does not exist has none.
fn logs_in_order(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut logs: Vec<(u64, PathBuf)> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A file of another name is the engine's to judge.
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
    /// The sequence number of the last batch, in this file or one before.
    last_number: Option<u64>,
}

/// One entry of a log.
enum Entry {
    Start {
        items: u32,
        number: u64,
    },
    Item,
    End,
    /// An end whose trailer is neither whole nor cut short.
    BadEnd,
    /// The file ends here, or what stands here is no entry.
    Unreadable,
}

impl Log {
    fn open(path: &Path, last_number: Option<u64>) -> io::Result<Log> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Log { file: BufReader::with_capacity(1 << 16, file), at: 0, length, last_number })
    }

    /// Where the first batch begins that cannot be read although others follow.
    fn find_damage(&mut self) -> io::Result<Option<u64>> {
        loop {
            let batch = self.at;
            match self.read_batch()? {
                Some(true) => {}
                Some(false) => return Ok(Some(batch)),
                None => return Ok(self.a_batch_ends_after(batch)?.then_some(batch)),
            }
        }
    }

    /// Reads a batch: whether it is sound. `None` when it cannot be read to its end.
    fn read_batch(&mut self) -> io::Result<Option<bool>> {
        let Entry::Start { items, number } = self.read_entry()? else { return Ok(None) };
        for _ in 0..items {
            match self.read_entry()? {
                Entry::Item => {}
                Entry::BadEnd => return Ok(Some(false)),
                _ => return Ok(None),
            }
        }
        match self.read_entry()? {
            Entry::End => {
                let is_later = self.last_number.is_none_or(|last| last < number);
                self.last_number = Some(number);
                Ok(Some(is_later))
            }
            Entry::BadEnd => Ok(Some(false)),
            _ => Ok(None),
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
                file.read_u64::<LittleEndian>()?;
                let mut trailer = [0; TRAILER.len()];
                let read = read_up_to(file, &mut trailer)?;
                self.at += 13;
                Ok(if trailer == TRAILER {
                    Entry::End
                } else if read < trailer.len() || is_cut_short(trailer) {
                    Entry::Unreadable
                } else {
                    Entry::BadEnd
                })
            }
            4 => {
                file.read_u64::<LittleEndian>()?;
                self.at += 9;
                Ok(Entry::Item)
            }
            _ => Ok(Entry::Unreadable),
        }
    }

    fn decode_item(&mut self) -> io::Result<Entry> {
        let file = &mut self.file;
        let (kind, compression) = (file.read_u8()?, file.read_u8()?);
        file.read_u64::<LittleEndian>()?;
        let key_bytes = u64::from(file.read_u16::<LittleEndian>()?);
        let value_bytes = file.read_u32::<LittleEndian>()?;
        let disk_bytes = file.read_u32::<LittleEndian>()?;
        let body = key_bytes + u64::from(disk_bytes);
        self.at += 21 + body;
        // The kinds that the engine knows. We open it without compression, so both lengths are one.
        let is_known = matches!(kind, 0 | 1 | 2 | 4) && compression == 0 && value_bytes == disk_bytes;
        if !is_known || self.at > self.length {
            return Ok(Entry::Unreadable);
        }
        self.file.seek_relative(i64::try_from(body).unwrap_or(i64::MAX))?;
        Ok(Entry::Item)
    }

    /// Whether the end of a batch stands anywhere behind this byte, and no hole before it.
    fn a_batch_ends_after(&mut self, from: u64) -> io::Result<bool> {
        let page = PAGE as u64;
        let mut page_at = from - from % page;
        self.file.seek(SeekFrom::Start(page_at))?;
        // A page, behind the last three bytes of the one before.
        let mut window = vec![0; TRAILER.len() - 1 + PAGE];
        while page_at < self.length {
            window.copy_within(PAGE.., 0);
            let read = read_up_to(&mut self.file, &mut window[TRAILER.len() - 1..])?;
            let fresh = &mut window[TRAILER.len() - 1..];
            fresh[read..].fill(0);
            let is_first = page_at < from;
            if is_first {
                // What stands before the damage does not count.
                fresh[..usize::try_from(from - page_at).unwrap_or(PAGE)].fill(0);
            }
            if !is_first && *fresh == ZEROS {
                return self.skip_hole(page_at);
            }
            if window.windows(TRAILER.len()).any(|bytes| bytes == TRAILER) {
                return Ok(true);
            }
            page_at += page;
        }
        Ok(false)
    }

    /// Behind a page of zeros nothing was synced, so that the engine may cut it off. Says so if there is something.
    fn skip_hole(&mut self, at: u64) -> io::Result<bool> {
        let mut page = vec![0; PAGE];
        loop {
            let read = read_up_to(&mut self.file, &mut page)?;
            if read == 0 {
                return Ok(false);
            }
            let is_empty = page[..read] == ZEROS[..read];
            if !is_empty && page[..read].windows(TRAILER.len()).any(|bytes| bytes == TRAILER) {
                tracing::warn!("the write log has a hole at byte {at}: writes that were not synced are lost");
                return Ok(false);
            }
        }
    }
}

/// Fills the buffer as far as the file goes.
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

/// Whether only the first bytes of a trailer were written.
fn is_cut_short(trailer: [u8; TRAILER.len()]) -> bool {
    (0..TRAILER.len()).any(|written| {
        trailer[..written] == TRAILER[..written] && trailer[written..].iter().all(|byte| *byte == 0)
    })
}
