//! The file that records which SSTables are imported, so that another run goes on there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::as_of::{AsOf, ClockShift};
use super::{ImportError, SstableFile};
use base::util::{hex, unhex};

/// Version 1 had only the SSTables that are done.
const VERSION: u32 = 2;
/// Longest accepted file: paths of some hundred thousand SSTables.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

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

/// Reads a progress file; `None` if there is none.
fn read(path: &Path) -> Result<Option<ProgressRecord>, ImportError> {
    let failed = |why: String| ImportError::Progress { path: path.to_owned(), why };
    let mut text = String::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
        Ok(file) => {
            let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
            read.map_err(|error| failed(error.to_string()))?;
        }
    }
    let found: ProgressRecord = serde_json::from_str(&text)
        .map_err(|error| failed(format!("it is not one of this program: {error}")))?;
    if !(1..=VERSION).contains(&found.version) {
        return Err(failed(format!(
            "it has version {} of such files, and this program knows 1 to {VERSION}; choose another file",
            found.version
        )));
    }
    Ok(Some(found))
}

/// The parts of an import that are done. Without a path nothing is recorded.
#[derive(Debug)]
pub struct ImportProgress {
    path: Option<PathBuf>,
    record: ProgressRecord,
}

impl ImportProgress {
    /// Reads the file, if there is one. `now_s` is the second that `as_of` gets in the first run.
    ///
    /// # Errors
    ///
    /// If the file is of an import into another target or with another `--as-of`, or cannot be read.
    pub fn open(
        path: Option<&Path>,
        to: &str,
        as_of: Option<AsOf>,
        now_s: i32,
    ) -> Result<ImportProgress, ImportError> {
        let as_of_s = as_of.map(AsOf::second);
        let record = ProgressRecord {
            version: VERSION,
            to: to.to_owned(),
            as_of_s,
            shift_s: as_of_s.map_or(0, |second| now_s.saturating_sub(second)),
            done: BTreeSet::new(),
            reached: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let mut progress = ImportProgress { path: path.map(Path::to_path_buf), record };
        let Some(path) = path else { return Ok(progress) };
        if let Some(found) = read(path)? {
            let failed = |why: String| ImportError::Progress { path: path.to_owned(), why };
            if found.to != to {
                return Err(failed(format!(
                    "it belongs to an import into {}; choose another file",
                    found.to
                )));
            }
            if found.as_of_s != as_of_s {
                return Err(failed(
                    "it belongs to an import with another --as-of; choose another file".to_owned(),
                ));
            }
            progress.record = ProgressRecord { version: VERSION, ..found };
        }
        progress.write()?;
        Ok(progress)
    }

    /// Notes the sizes of Data files. The next write of the progress file stores them.
    ///
    /// # Errors
    ///
    /// If a file had another size in an earlier run: the rows recorded as imported are then not the rows of the files.
    pub fn note_files<'t>(
        &mut self,
        tables: impl Iterator<Item = &'t SstableFile>,
    ) -> Result<(), ImportError> {
        let Some(progress) = &self.path else { return Ok(()) };
        for table in tables {
            let name = table.path.display().to_string();
            let before = *self.record.files.entry(name.clone()).or_insert(table.bytes);
            if before != table.bytes {
                let why = format!(
                    "{name} had {before} bytes when the import began, and has {} now; choose another file and another target",
                    table.bytes
                );
                return Err(ImportError::Progress { path: progress.clone(), why });
            }
        }
        Ok(())
    }

    /// Returns whether progress is recorded.
    pub fn is_recorded(&self) -> bool {
        self.path.is_some()
    }

    /// Returns by how much the clock of the files is shifted.
    pub fn shift(&self) -> ClockShift {
        ClockShift(self.record.shift_s)
    }

    pub fn is_done(&self, part: &str) -> bool {
        self.record.done.contains(part)
    }

    /// Returns the row up to which some tables of a column family are imported.
    pub fn reached(&self, family: &str, tables: &[SstableFile]) -> Option<Bytes> {
        let reached = self.record.reached.get(family)?;
        if reached.tables == names_of(tables) { unhex(reached.key.as_bytes()).map(Bytes::from) } else { None }
    }

    /// Records that some tables of a column family are imported up to a row.
    pub fn reach(&mut self, family: &str, tables: &[SstableFile], key: &[u8]) {
        let reached = Reached { tables: names_of(tables), key: hex(key) };
        self.record.reached.insert(family.to_owned(), reached);
    }

    /// Records parts of a column family that are imported completely.
    pub fn finish(&mut self, family: &str, parts: Vec<String>) {
        self.record.reached.remove(family);
        self.record.done.extend(parts);
    }

    /// Replaces the file, so that a kill at any time leaves the old or the new one. The rows that it records must be
    /// durable in the target.
    pub fn write(&self) -> Result<(), ImportError> {
        let Some(path) = &self.path else { return Ok(()) };
        let failed = |error: io::Error| ImportError::Progress { path: path.clone(), why: error.to_string() };
        let text = serde_json::to_string(&self.record).map_err(|error| failed(error.into()))?;
        let new = path.with_extension("new");
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&new, path)).map_err(failed)
    }
}

fn names_of(tables: &[SstableFile]) -> Vec<String> {
    tables.iter().map(|table| table.path.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sstable::Descriptor;

    fn open(path: &Path, to: &str, as_of: Option<&str>, now_s: i32) -> Result<ImportProgress, String> {
        let as_of = as_of.map(|text| text.parse().unwrap());
        ImportProgress::open(Some(path), to, as_of, now_s).map_err(|error| error.to_string())
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
        fs::write(&path, r#"{"version":1,"to":"data:a","done":["x-1-Data.db"]}"#).unwrap();
        assert!(open(&path, "data:a", None, 0).unwrap().is_done("x-1-Data.db"));
    }

    #[test]
    fn the_clock_of_the_first_run_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("import.json");
        let date = Some("2014-03-01");
        let second = 1_393_632_000;
        assert_eq!(open(&path, "data:a", date, second + 50).unwrap().shift(), ClockShift(50));
        assert_eq!(open(&path, "data:a", date, second + 90).unwrap().shift(), ClockShift(50));
        let error = open(&path, "data:a", None, second).unwrap_err();
        assert!(error.contains("another --as-of"), "{error}");
    }
}
