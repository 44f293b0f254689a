//! The file that records which SSTables are imported, so that another run goes on there.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ImportError;

const VERSION: u32 = 1;
/// Longest accepted file: paths of some hundred thousand SSTables.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    /// The target.
    to: String,
    /// The Data files that are imported completely, and the names of families of counters.
    done: BTreeSet<String>,
}

/// Which parts of an import are done. Without a path nothing is recorded.
#[derive(Debug)]
pub struct Progress {
    path: Option<PathBuf>,
    record: Record,
}

impl Progress {
    /// Reads the file, if there is one.
    ///
    /// # Errors
    ///
    /// If the file is of an import into another target, or cannot be read.
    pub fn open(path: Option<&Path>, to: &str) -> Result<Progress, ImportError> {
        let record = Record { version: VERSION, to: to.to_owned(), done: BTreeSet::new() };
        let mut progress = Progress { path: path.map(Path::to_path_buf), record };
        let Some(path) = path else { return Ok(progress) };
        let failed = |why: String| ImportError::Progress { path: path.to_owned(), why };
        let mut text = String::new();
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error.to_string())),
            Ok(file) => {
                let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
                read.map_err(|error| failed(error.to_string()))?;
                let found: Record = serde_json::from_str(&text)
                    .map_err(|error| failed(format!("it is not one of this program: {error}")))?;
                if found.version != VERSION || found.to != to {
                    return Err(failed(format!(
                        "it belongs to an import into {}, by version {} of the file; choose another file",
                        found.to, found.version
                    )));
                }
                progress.record = found;
            }
        }
        progress.write()?;
        Ok(progress)
    }

    pub fn is_done(&self, part: &str) -> bool {
        self.record.done.contains(part)
    }

    /// Records a part, whose rows must be durable in the target.
    pub fn finish(&mut self, part: String) -> Result<(), ImportError> {
        self.record.done.insert(part);
        self.write()
    }

    /// Replaces the file, so that a kill at any time leaves the old or the new one.
    fn write(&self) -> Result<(), ImportError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_run_goes_on_and_another_target_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("import.json");
        let mut progress = Progress::open(Some(&path), "data:a").unwrap();
        progress.finish("x-1-Data.db".to_owned()).unwrap();
        let again = Progress::open(Some(&path), "data:a").unwrap();
        assert!(again.is_done("x-1-Data.db") && !again.is_done("x-2-Data.db"));
        let error = Progress::open(Some(&path), "data:b").unwrap_err().to_string();
        assert!(error.contains("an import into data:a"), "{error}");
        fs::write(&path, "rubbish").unwrap();
        assert!(
            Progress::open(Some(&path), "data:a")
                .unwrap_err()
                .to_string()
                .contains("not one of this program")
        );
    }
}
