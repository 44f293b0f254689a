//! Records the progress of a copy in a file, so that another run continues there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::TransferError;
use crate::rows::Tally;
use base::util::{hex, unhex};

/// The version of the file format.
const VERSION: u32 = 1;

/// Minimum time between two writes of the file.
const WRITE_EVERY: Duration = Duration::from_millis(200);

/// Longest accepted file: places of thousands of column families, with long keys.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct ProgressEntry {
    version: u32,
    from: String,
    to: String,
    families: BTreeMap<String, FamilyProgress>,
}

/// The progress of a column family.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FamilyProgress {
    /// The place up to which everything is written, in hex; the source defines its format.
    place: Option<String>,
    pub is_done: bool,
    pub tally: Tally,
}

impl FamilyProgress {
    /// Returns the place to continue from.
    pub fn place(&self) -> Option<Bytes> {
        self.place.as_deref().and_then(|place| unhex(place.as_bytes())).map(Bytes::from)
    }
}

/// The progress of one copy. Without a path it is not stored.
#[derive(Debug)]
pub struct ProgressFile {
    path: Option<PathBuf>,
    entry: ProgressEntry,
    written: Instant,
}

impl ProgressFile {
    /// Reads the file, or creates it.
    ///
    /// # Errors
    ///
    /// If the file is of another copy, or cannot be read or written.
    pub fn open(path: Option<&Path>, from: &str, to: &str) -> Result<ProgressFile, TransferError> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let entry = ProgressEntry { version: VERSION, from, to, families: BTreeMap::new() };
        let mut file = ProgressFile { path: path.map(Path::to_path_buf), entry, written: Instant::now() };
        let Some(path) = path else { return Ok(file) };
        match read(path) {
            Ok(Some(entry)) => {
                file.check_same(path, &entry)?;
                file.entry = entry;
            }
            // Report a file that cannot be written before hours of work.
            Ok(None) => file.write()?,
            Err(why) => {
                return Err(TransferError::ProgressFile(format!(
                    "the progress file {} cannot be read: {why}; use another file",
                    path.display()
                )));
            }
        }
        Ok(file)
    }

    fn check_same(&self, path: &Path, entry: &ProgressEntry) -> Result<(), TransferError> {
        if entry.version != VERSION {
            return Err(TransferError::ProgressFile(format!(
                "the progress file {} has version {}, and this program supports version {VERSION}",
                path.display(),
                entry.version
            )));
        }
        if (&entry.from, &entry.to) != (&self.entry.from, &self.entry.to) {
            return Err(TransferError::ProgressFile(format!(
                "the progress file {} is of a copy from {} to {}, and this one is from {} to {}; use another file",
                path.display(),
                entry.from,
                entry.to,
                self.entry.from,
                self.entry.to
            )));
        }
        Ok(())
    }

    /// Returns the progress of a column family.
    pub fn family(&self, name: &str) -> FamilyProgress {
        self.entry.families.get(name).cloned().unwrap_or_default()
    }

    /// Records that everything up to a place is written; `None` for the whole column family.
    pub fn note(&mut self, name: &str, place: Option<&Bytes>, tally: Tally) -> Result<(), TransferError> {
        let place_hex = place.map(|place| hex(place));
        let family = FamilyProgress { place: place_hex, is_done: place.is_none(), tally };
        self.entry.families.insert(name.to_owned(), family);
        if place.is_none() || self.written.elapsed() >= WRITE_EVERY {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the file atomically.
    pub fn write(&mut self) -> Result<(), TransferError> {
        self.written = Instant::now();
        let Some(path) = &self.path else { return Ok(()) };
        write(path, &self.entry).map_err(|why| {
            TransferError::ProgressFile(format!(
                "the progress file {} cannot be written: {why}",
                path.display()
            ))
        })
    }
}

fn read(path: &Path) -> Result<Option<ProgressEntry>, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut json = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut json).map_err(|error| error.to_string())?;
    if json.len() as u64 > FILE_BYTES_MAX {
        return Err("it is too large".to_owned());
    }
    serde_json::from_slice(&json).map(Some).map_err(|error| error.to_string())
}

fn write(path: &Path, entry: &ProgressEntry) -> Result<(), std::io::Error> {
    let json = serde_json::to_vec_pretty(entry)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.write_all(&json)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    // Sync the new name, too.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_round_trips_and_a_file_of_another_copy_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress.json");
        let mut file = ProgressFile::open(Some(&path), "data:a", "data:b").unwrap();
        let place = Bytes::from_static(b"\0\xff place");
        file.note("K.A", Some(&place), Tally { rows: 3, ..Tally::default() }).unwrap();
        file.note("K.B", None, Tally::default()).unwrap();

        let again = ProgressFile::open(Some(&path), "data:a", "data:b").unwrap();
        assert_eq!(again.family("K.A").place(), Some(place));
        assert_eq!((again.family("K.A").tally.rows, again.family("K.A").is_done), (3, false));
        assert!(again.family("K.B").is_done && !again.family("K.C").is_done);

        let error = ProgressFile::open(Some(&path), "data:a", "data:c").unwrap_err().to_string();
        assert!(error.contains("from data:a to data:b"), "{error}");
        std::fs::write(&path, "{").unwrap();
        let error = ProgressFile::open(Some(&path), "data:a", "data:b").unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
        let nowhere = directory.path().join("no/such/place");
        assert!(ProgressFile::open(Some(&nowhere), "data:a", "data:b").is_err());
    }
}
