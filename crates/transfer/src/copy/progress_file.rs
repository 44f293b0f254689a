//! Records the progress of a copy in a file, so that another run continues there.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::TransferError;
use crate::rows::{ResumeFile, Tally};
use base::util::{hex, unhex};

/// The version of the file format.
const VERSION: u32 = 1;

/// Minimum time between two writes of the file.
const WRITE_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Serialize, Deserialize)]
struct CopyRecord {
    version: u32,
    from: String,
    to: String,
    families: BTreeMap<String, FamilyProgress>,
}

/// The progress of a column family.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FamilyProgress {
    /// The place up to which everything is written, in hex; the source defines its format.
    place: Option<String>,
    pub is_done: bool,
    pub tally: Tally,
}

impl FamilyProgress {
    /// Returns the place to continue from.
    pub(super) fn place(&self) -> Option<Bytes> {
        self.place.as_deref().and_then(|place| unhex(place.as_bytes())).map(Bytes::from)
    }
}

/// The progress of one copy. Without a path it is not stored.
#[derive(Debug)]
pub(super) struct ProgressFile {
    file: ResumeFile<CopyRecord>,
    written: Instant,
}

/// Returns the error of a progress file.
fn failed(path: &Path, what: std::fmt::Arguments<'_>) -> TransferError {
    TransferError::ProgressFile(format!("the progress file {} {what}", path.display()))
}

impl ProgressFile {
    /// Reads the file, or creates it.
    ///
    /// # Errors
    ///
    /// If the file is of another copy, or cannot be read or written.
    pub(super) fn open(path: Option<&Path>, from: &str, to: &str) -> Result<ProgressFile, TransferError> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let record = CopyRecord { version: VERSION, from, to, families: BTreeMap::new() };
        let mut file = ProgressFile { file: ResumeFile::new(path, record), written: Instant::now() };
        let Some(path) = path else { return Ok(file) };
        match ResumeFile::<CopyRecord>::read(path) {
            Ok(Some(record)) => {
                file.check_same(path, &record)?;
                file.file.record = record;
            }
            // Report a file that cannot be written before hours of work.
            Ok(None) => file.write()?,
            Err(why) => return Err(failed(path, format_args!("cannot be read: {why}; use another file"))),
        }
        Ok(file)
    }

    fn check_same(&self, path: &Path, found: &CopyRecord) -> Result<(), TransferError> {
        let CopyRecord { version, from, to, .. } = found;
        if *version != VERSION {
            let supported = format_args!("and this program supports version {VERSION}");
            return Err(failed(path, format_args!("has version {version}, {supported}")));
        }
        let own = &self.file.record;
        if (from, to) != (&own.from, &own.to) {
            let this = format!("this one is from {} to {}", own.from, own.to);
            let what = format_args!("is of a copy from {from} to {to}, and {this}; use another file");
            return Err(failed(path, what));
        }
        Ok(())
    }

    /// Returns the progress of a column family.
    pub(super) fn family(&self, name: &str) -> FamilyProgress {
        self.file.record.families.get(name).cloned().unwrap_or_default()
    }

    /// Records that everything up to a place is written; `None` for the whole column family.
    pub(super) fn note(
        &mut self,
        name: &str,
        place: Option<&Bytes>,
        tally: Tally,
    ) -> Result<(), TransferError> {
        let place_hex = place.map(|place| hex(place));
        let family = FamilyProgress { place: place_hex, is_done: place.is_none(), tally };
        self.file.record.families.insert(name.to_owned(), family);
        if place.is_none() || self.written.elapsed() >= WRITE_EVERY {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the file.
    pub(super) fn write(&mut self) -> Result<(), TransferError> {
        self.written = Instant::now();
        let path = self.file.path.as_deref().unwrap_or(Path::new(""));
        self.file.write().map_err(|why| failed(path, format_args!("cannot be written: {why}")))
    }
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

        // A file of the first version of this program.
        let first = r#"{"version": 1, "from": "data:a", "to": "data:b", "families": {"K.A": {"place": "00ff",
            "is_done": false, "tally": {"rows": 7, "cells": 8, "bytes": 9}}}}"#;
        std::fs::write(&path, first).unwrap();
        let again = ProgressFile::open(Some(&path), "data:a", "data:b").unwrap().family("K.A");
        assert_eq!((again.place(), again.tally.rows), (Some(Bytes::from_static(b"\0\xff")), 7));
        let error = ProgressFile::open(Some(&path), "data:a", "data:c").unwrap_err().to_string();
        assert!(error.contains("from data:a to data:b"), "{error}");
        std::fs::write(&path, first.replace("1,", "2,")).unwrap();
        let error = ProgressFile::open(Some(&path), "data:a", "data:b").unwrap_err().to_string();
        assert!(error.contains("has version 2, and this program supports version 1"), "{error}");
        std::fs::write(&path, "{").unwrap();
        let error = ProgressFile::open(Some(&path), "data:a", "data:b").unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
        let nowhere = directory.path().join("no/such/place");
        assert!(ProgressFile::open(Some(&nowhere), "data:a", "data:b").is_err());
    }
}
