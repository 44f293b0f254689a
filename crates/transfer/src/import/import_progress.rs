//! The file that records which SSTables are imported, so that another run goes on there.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::as_of::{AsOf, ClockShift};
use super::{ImportError, ImportOptions, SstableFile};
use crate::rows::ResumeFile;
use base::util::{hex, unhex};

/// Version 1 had only the SSTables that are done.
const VERSION: u32 = 2;

#[derive(Debug, Serialize, Deserialize)]
struct ProgressRecord {
    version: u32,
    /// The target.
    to: String,
    /// The second of `--as-of`, and the shift that the first run has computed from it.
    #[serde(default)]
    as_of_s: Option<i32>,
    #[serde(default)]
    shift_s: i32,
    /// Whether cells whose time to live has overflowed are restored.
    #[serde(default)]
    restores_overflow: bool,
    /// The Data files that are imported completely, and the names of families of counters.
    done: BTreeSet<String>,
    /// The progress of the other column families, by name.
    #[serde(default)]
    reached: BTreeMap<String, Reached>,
    /// The bytes of each Data file at the first run that found it.
    #[serde(default)]
    files: BTreeMap<String, u64>,
}

/// The progress of some tables of a column family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reached {
    /// Their Data files. With others, the rows up to the key may be missing.
    tables: Vec<String>,
    /// The last row that is imported, in hex.
    key: String,
}

/// Returns the number of parts of an import that a progress file lists as imported; 0 if there is no such file.
///
/// # Errors
///
/// If the file cannot be read.
pub fn recorded_parts(path: &Path) -> Result<usize, ImportError> {
    Ok(read(path)?.map_or(0, |record| record.done.len() + record.reached.len()))
}

/// Returns the error of a progress file.
fn failed(path: &Path, why: String) -> ImportError {
    ImportError::Progress { path: path.to_owned(), why }
}

/// Reads a progress file; `None` if there is none.
fn read(path: &Path) -> Result<Option<ProgressRecord>, ImportError> {
    let found = ResumeFile::<ProgressRecord>::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            failed(path, format!("it is not one of this program: {error}"))
        }
        _ => failed(path, error.to_string()),
    })?;
    if let Some(version) = found.as_ref().map(|found| found.version)
        && !(1..=VERSION).contains(&version)
    {
        let why = format!(
            "it has version {version} of such files, and this program knows 1 to {VERSION}; choose another file"
        );
        return Err(failed(path, why));
    }
    Ok(found)
}

/// The parts of an import that are done. Without a path nothing is recorded.
#[derive(Debug)]
pub(super) struct ImportProgress {
    file: ResumeFile<ProgressRecord>,
}

impl ImportProgress {
    /// Reads the file, if there is one. `now_s` is the second that `--as-of` gets in the first run.
    ///
    /// # Errors
    ///
    /// If the file is of an import into another target or with another `--as-of` or `--recover-expired`, or cannot be read.
    pub(super) fn open(
        path: Option<&Path>,
        to: &str,
        options: &ImportOptions,
        now_s: i32,
    ) -> Result<ImportProgress, ImportError> {
        let as_of_s = options.as_of.map(AsOf::second);
        let restores_overflow = options.restores_overflow;
        let record = ProgressRecord {
            version: VERSION,
            to: to.to_owned(),
            as_of_s,
            shift_s: as_of_s.map_or(0, |second| now_s.saturating_sub(second)),
            restores_overflow,
            done: BTreeSet::new(),
            reached: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let mut progress = ImportProgress { file: ResumeFile::new(path, record) };
        let Some(path) = path else { return Ok(progress) };
        if let Some(found) = read(path)? {
            if found.to != to {
                let why = format!("it belongs to an import into {}; choose another file", found.to);
                return Err(failed(path, why));
            }
            if (found.as_of_s, found.restores_overflow) != (as_of_s, restores_overflow) {
                let why =
                    "it belongs to an import with another --as-of or --recover-expired; choose another file";
                return Err(failed(path, why.to_owned()));
            }
            progress.file.record = ProgressRecord { version: VERSION, ..found };
        }
        progress.write()?;
        Ok(progress)
    }

    /// Notes the sizes of Data files. The next write of the progress file stores them.
    ///
    /// # Errors
    ///
    /// If a file had another size in an earlier run: the rows recorded as imported are then not the rows of the files.
    pub(super) fn note_files<'t>(
        &mut self,
        tables: impl Iterator<Item = &'t SstableFile>,
    ) -> Result<(), ImportError> {
        let Some(path) = &self.file.path else { return Ok(()) };
        for table in tables {
            let name = table.part();
            let before = *self.file.record.files.entry(name.clone()).or_insert(table.bytes);
            if before != table.bytes {
                let why = format!(
                    "{name} had {before} bytes when the import began, and has {} now; choose another file and another target",
                    table.bytes
                );
                return Err(failed(path, why));
            }
        }
        Ok(())
    }

    /// Returns whether progress is recorded.
    pub(super) fn is_recorded(&self) -> bool {
        self.file.path.is_some()
    }

    /// Returns by how much the clock of the files is shifted.
    pub(super) fn shift(&self) -> ClockShift {
        ClockShift {
            seconds: self.file.record.shift_s,
            restores_overflow: self.file.record.restores_overflow,
        }
    }

    pub(super) fn is_done(&self, part: &str) -> bool {
        self.file.record.done.contains(part)
    }

    /// Returns the row up to which some tables of a column family are imported.
    pub(super) fn reached(&self, family: &str, tables: &[SstableFile]) -> Option<Bytes> {
        let reached = self.file.record.reached.get(family)?;
        if reached.tables == names_of(tables) { unhex(reached.key.as_bytes()).map(Bytes::from) } else { None }
    }

    /// Records that some tables of a column family are imported up to a row.
    pub(super) fn reach(&mut self, family: &str, tables: &[SstableFile], key: &[u8]) {
        let reached = Reached { tables: names_of(tables), key: hex(key) };
        self.file.record.reached.insert(family.to_owned(), reached);
    }

    /// Records parts of a column family that are imported completely.
    pub(super) fn finish(&mut self, family: &str, parts: Vec<String>) {
        self.file.record.reached.remove(family);
        self.file.record.done.extend(parts);
    }

    /// Writes the file. The rows that it records must be durable in the target.
    pub(super) fn write(&self) -> Result<(), ImportError> {
        let path = self.file.path.as_deref().unwrap_or(Path::new(""));
        self.file.write().map_err(|error| failed(path, error.to_string()))
    }
}

fn names_of(tables: &[SstableFile]) -> Vec<String> {
    tables.iter().map(SstableFile::part).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::sync::Arc;

    use super::*;
    use base::partitioner::RandomPartitioner;
    use sstable::Descriptor;

    fn open(path: &Path, to: &str, as_of: Option<&str>, now_s: i32) -> Result<ImportProgress, String> {
        let as_of = as_of.map(|text| text.parse().unwrap());
        let options = ImportOptions { as_of, ..ImportOptions::new(Arc::new(RandomPartitioner)) };
        ImportProgress::open(Some(path), to, &options, now_s).map_err(|error| error.to_string())
    }

    fn table(path: &str) -> SstableFile {
        let descriptor = Descriptor::of_data_file(Path::new(path)).unwrap();
        SstableFile { path: path.into(), bytes: 1, descriptor, node: 0 }
    }

    #[test]
    fn another_run_goes_on_and_another_target_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("import.json");
        let (one, two) = (table("K/A-f-1-Data.db"), table("K/A-f-2-Data.db"));
        let mut progress = open(&path, "data:a", None, 0).unwrap();
        progress.finish("K.B", vec!["x-1-Data.db".to_owned()]);
        progress.reach("K.A", std::slice::from_ref(&one), b"\0key");
        progress.write().unwrap();
        let mut again = open(&path, "data:a", None, 0).unwrap();
        assert!(again.is_done("x-1-Data.db") && !again.is_done("x-2-Data.db"));
        assert_eq!(again.reached("K.A", std::slice::from_ref(&one)), Some(Bytes::from_static(b"\0key")));
        assert_eq!(again.reached("K.A", &[one.clone(), two]), None);
        again.finish("K.A", Vec::new());
        assert_eq!(again.reached("K.A", &[one]), None);
        let error = open(&path, "data:b", None, 0).unwrap_err();
        assert!(error.contains("an import into data:a"), "{error}");
        fs::write(&path, "rubbish").unwrap();
        assert!(open(&path, "data:a", None, 0).unwrap_err().contains("not one of this program"));
        let second = r#"{"version":2,"to":"data:a","as_of_s":null,"shift_s":0,"done":["x-1-Data.db"],
            "reached":{"K.A":{"tables":["K/A-f-1-Data.db"],"key":"006b6579"}},"files":{"x-1-Data.db":9}}"#;
        fs::write(&path, second).unwrap();
        let again = open(&path, "data:a", None, 0).unwrap();
        assert_eq!(again.reached("K.A", &[table("K/A-f-1-Data.db")]), Some(Bytes::from_static(b"\0key")));
        fs::write(&path, second.replace(r#""version":2"#, r#""version":3"#)).unwrap();
        assert!(open(&path, "data:a", None, 0).unwrap_err().contains("it has version 3 of such files"));
        fs::write(&path, r#"{"version":1,"to":"data:a","done":["x-1-Data.db"]}"#).unwrap();
        assert!(open(&path, "data:a", None, 0).unwrap().is_done("x-1-Data.db"));
    }

    #[test]
    fn the_clock_of_the_first_run_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("import.json");
        let date = Some("2014-03-01");
        let second = 1_393_632_000;
        assert_eq!(open(&path, "data:a", date, second + 50).unwrap().shift().seconds, 50);
        assert_eq!(open(&path, "data:a", date, second + 90).unwrap().shift().seconds, 50);
        let error = open(&path, "data:a", None, second).unwrap_err();
        assert!(error.contains("another --as-of"), "{error}");
    }
}
