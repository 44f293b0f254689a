//! Verifies what the engine takes on trust when it opens its files.
//!
//! Each engine keyspace has a manifest that lists its tables, and a file `current` that names the manifest with its
//! checksum. The engine writes the checksum but does not look at it: a flipped bit would make it take an older
//! manifest for the current one. A table ends with its table of contents, whose checksum the engine does look at,
//! but too late: it first makes room for as many entries as are announced, and asking for more memory than there is
//! ends the process. The blocks of tables are the engine's to check, and it does, when it reads them.
//!
//! ```text
//!   keyspaces / 7 / current        u64 manifest's number | u128 its XXH3 | 00
//!   keyspaces / 7 / v12            the manifest
//!   keyspaces / 7 / tables / 3     blocks | contents | "SFA!" 01 00 | u128 XXH3 of the contents | u64 where they
//!                                  begin | u64 their length
//! ```
//!
//! Numbers are little-endian.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use byteorder::{ByteOrder, LittleEndian};
use lsm_tree::checksum::ChecksummedWriter;

use crate::storage::StoreError;

/// Bytes of `current`.
const CURRENT_BYTES: usize = 8 + 16 + 1;

/// Bytes behind a table's contents.
const TRAILER_BYTES: usize = 4 + 2 + 16 + 8 + 8;
/// A table has a dozen sections at most; each takes a line of its contents.
const CONTENTS_BYTES_MAX: u64 = 64 * 1024;

/// Refuses an engine directory in which one of the checksums is wrong.
pub fn check_files(engine_directory: &Path) -> Result<(), StoreError> {
    for keyspace in entries_of(&engine_directory.join("keyspaces"))? {
        check_manifest(&keyspace)?;
        for table in entries_of(&keyspace.join("tables"))? {
            check_contents(&table)?;
        }
    }
    Ok(())
}

/// What a directory holds; nothing if there is none.
fn entries_of(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries.map_err(|error| io_error(directory, &error))?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<io::Result<_>>().map_err(|error| io_error(directory, &error))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn io_error(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Io(format!("{}: {error}", path.display()))
}

fn check_manifest(directory: &Path) -> Result<(), StoreError> {
    let current_file = directory.join("current");
    let current = match fs::read(&current_file) {
        Ok(current) => current,
        Err(error) if is_absent(&error) => return check_unfinished(directory),
        Err(error) => return Err(io_error(&current_file, &error)),
    };
    if current.len() != CURRENT_BYTES || current[CURRENT_BYTES - 1] != 0 {
        return Err(StoreError::Corrupt(format!("{} is no manifest's name", current_file.display())));
    }
    let number = LittleEndian::read_u64(&current);
    let manifest_file = directory.join(format!("v{number}"));
    let manifest = fs::read(&manifest_file).map_err(|error| {
        StoreError::Corrupt(format!(
            "{}, which {} names: {error}",
            manifest_file.display(),
            current_file.display()
        ))
    })?;
    let (expected, found) = (LittleEndian::read_u128(&current[8..]), checksum(&manifest));
    if expected == found { Ok(()) } else { Err(mismatch(&manifest_file, "", expected, found)) }
}

/// A keyspace without a manifest is one whose making a crash cut short: the engine takes it away. Not so if it has
/// tables.
fn check_unfinished(directory: &Path) -> Result<(), StoreError> {
    if entries_of(&directory.join("tables"))?.is_empty() {
        return Ok(());
    }
    Err(StoreError::Corrupt(format!(
        "{} has tables but no file `current`; put back an undamaged copy of the data directory (or move this away, \
         if the process ended in the middle of a truncate)",
        directory.display()
    )))
}

fn mismatch(file: &Path, part: &str, expected: u128, found: u128) -> StoreError {
    StoreError::Corrupt(format!(
        "{}{part} has the checksum {found:032x} where {expected:032x} was noted; put back an undamaged copy of the \
         data directory",
        file.display()
    ))
}

/// Checks a table's contents. A file that is cut short may be one that a crash left unfinished: the engine opens
/// only those that a manifest lists, and refuses a listed one without a trailer.
fn check_contents(table: &Path) -> Result<(), StoreError> {
    let read = || -> io::Result<Option<(u128, u128)>> {
        let mut file = File::open(table)?;
        let length = file.metadata()?.len();
        let Some(trailer_at) = length.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
        let mut trailer = [0; TRAILER_BYTES];
        file.seek(SeekFrom::Start(trailer_at))?;
        file.read_exact(&mut trailer)?;
        let (begin, bytes) = (LittleEndian::read_u64(&trailer[22..]), LittleEndian::read_u64(&trailer[30..]));
        let fits = begin.checked_add(bytes) == Some(trailer_at) && bytes <= CONTENTS_BYTES_MAX;
        if !trailer.starts_with(b"SFA!") {
            return Ok(None);
        }
        let mut contents = Vec::new();
        if fits {
            file.seek(SeekFrom::Start(begin))?;
            file.take(bytes).read_to_end(&mut contents)?;
        }
        Ok(Some((LittleEndian::read_u128(&trailer[6..]), checksum(&contents))))
    };
    match read().map_err(|error| io_error(table, &error))? {
        Some((expected, found)) if expected != found => {
            Err(mismatch(table, ": its table of contents", expected, found))
        }
        _ => Ok(()),
    }
}

fn checksum(bytes: &[u8]) -> u128 {
    let mut sums = ChecksummedWriter::new(io::sink());
    // A sink takes everything.
    let _ = sums.write_all(bytes);
    sums.checksum().into_u128()
}
