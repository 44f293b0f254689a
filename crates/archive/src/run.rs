//! The run that a server writes, and how it claims it.
//!
//! The data directory's file `ARCHIVE` has the last run that was written from it. The next run of that line is claimed by
//! creating its object `begin`, which only one server can do. If another one was faster, or the line is not in this
//! archive, a new line begins.
//!
//! ```text
//!   ARCHIVE: line A, run 3, claiming n1     written before the claim
//!   lines/A/000004/begin: nonce n1          created
//!   ARCHIVE: line A, run 4                  written after the claim
//! ```
//!
//! If the process is killed between these steps, or the reply to the request is lost, the nonce shows whose claim it is.

use std::path::Path as FilePath;

use base::util::{replace_file, sync_name};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bucket::Bucket;
use crate::names::RunName;
use crate::object::{self, ObjectKind};
use crate::time::{name_of_time, now_us};
use crate::{ArchiveError, Result};

/// The name of the file in the data directory.
pub(crate) const STATE_FILE: &str = "ARCHIVE";

/// The contents of the file `ARCHIVE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveState {
    pub line: String,
    pub run: u32,
    /// Whether the directory was restored from this run, and so begins a new line.
    pub is_restored: bool,
    /// The nonce of the claim that is under way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claiming: Option<String>,
}

/// Why a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunReason {
    /// The server was started.
    Start,
    /// The archive could not follow.
    Gap,
}

/// The object `begin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunBegin {
    pub nonce: String,
    /// In microseconds since 1970.
    pub at_us: i64,
    pub reason: RunReason,
    /// Why the archive could not follow.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// The run that a new line continues: its data directory was restored from it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restored_from: Option<(String, u32)>,
    /// The version of the program.
    pub version: String,
}

impl RunBegin {
    pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<RunBegin> {
        object::decode(name, ObjectKind::Begin, bytes).map(|(begin, _)| begin)
    }
}

impl ArchiveState {
    /// Returns the file's contents.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(|error| ArchiveError::Refused(error.to_string()))
    }

    /// Reads the file of a data directory. `None` if the directory was never archived.
    fn read(directory: &FilePath) -> Result<Option<ArchiveState>> {
        let path = directory.join(STATE_FILE);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ArchiveError::of_file(&path, &error)),
            // With a damaged file the directory begins a new line, which loses nothing.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        }
    }

    fn write(&self, directory: &FilePath) -> Result<()> {
        let path = directory.join(STATE_FILE);
        let written = replace_file(&path, &self.encode()?).and_then(|()| sync_name(&path));
        written.map_err(|error| ArchiveError::of_file(&path, &error))
    }
}

/// Claims the next run for a data directory. `why` is set if the archive could not follow.
pub(crate) async fn claim(bucket: &Bucket, directory: &FilePath, why: Option<&str>) -> Result<RunName> {
    let state = ArchiveState::read(directory)?;
    let mut begin = RunBegin {
        nonce: Uuid::new_v4().simple().to_string(),
        at_us: now_us(),
        reason: if why.is_some() { RunReason::Gap } else { RunReason::Start },
        why: why.map(str::to_owned),
        restored_from: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    if let Some(state) = state {
        let last = RunName { line: state.line.clone(), run: state.run };
        if state.is_restored {
            begin.restored_from = Some((last.line, last.run));
        } else if bucket.get(&last.begin()).await?.is_some()
            && let Some(run) = claim_next(bucket, directory, &last, state.claiming, &begin).await?
        {
            return Ok(run);
        }
    }
    let line = format!("{}-{}", name_of_time(begin.at_us), begin.nonce.get(..8).unwrap_or_default());
    let first = RunName { line, run: 1 };
    let object = Bytes::from(object::encode(ObjectKind::Begin, &begin, &[])?);
    // After a lost reply it exists, and the name has a part of the nonce.
    bucket.create(&first.begin(), object).await?;
    write_state(directory, &first, None)?;
    Ok(first)
}

/// Claims the run after `last`. `None` if another server has it.
async fn claim_next(
    bucket: &Bucket,
    directory: &FilePath,
    last: &RunName,
    claimed: Option<String>,
    begin: &RunBegin,
) -> Result<Option<RunName>> {
    let next = last.next();
    let is_ours = |nonce: &str| nonce == begin.nonce || claimed.as_deref() == Some(nonce);
    if let Some(found) = bucket.get(&next.begin()).await? {
        let found = RunBegin::decode(&bucket.object(&next.begin()), &found)?;
        if !is_ours(&found.nonce) {
            return Ok(None);
        }
    } else {
        write_state(directory, last, Some(begin.nonce.clone()))?;
        let object = Bytes::from(object::encode(ObjectKind::Begin, begin, &[])?);
        if !bucket.create(&next.begin(), object).await? {
            let name = bucket.object(&next.begin());
            let found = bucket.get(&next.begin()).await?.ok_or(ArchiveError::Missing(name.clone()))?;
            if !is_ours(&RunBegin::decode(&name, &found)?.nonce) {
                return Ok(None);
            }
        }
    }
    write_state(directory, &next, None)?;
    Ok(Some(next))
}

fn write_state(directory: &FilePath, run: &RunName, claiming: Option<String>) -> Result<()> {
    ArchiveState { line: run.line.clone(), run: run.run, is_restored: false, claiming }.write(directory)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;

    use super::*;
    use crate::ArchiveLocation;

    fn run_of(line: &str, run: u32) -> RunName {
        RunName { line: line.to_owned(), run }
    }

    #[tokio::test]
    async fn a_line_is_continued_by_one_data_directory_only() {
        let bucket = Bucket::for_reader(ArchiveLocation::new(Arc::new(InMemory::new()), "memory"));
        let [first, copy] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let begun = claim(&bucket, first.path(), None).await.unwrap();
        assert_eq!(begun.run, 1);
        std::fs::copy(first.path().join(STATE_FILE), copy.path().join(STATE_FILE)).unwrap();
        assert_eq!(claim(&bucket, first.path(), Some("away")).await.unwrap(), run_of(&begun.line, 2));
        let other = claim(&bucket, copy.path(), None).await.unwrap();
        assert!(other.line != begun.line && other.run == 1, "{other:?}");
        assert_eq!(claim(&bucket, copy.path(), None).await.unwrap(), run_of(&other.line, 2));
        let elsewhere = Bucket::for_reader(ArchiveLocation::new(Arc::new(InMemory::new()), "memory"));
        assert_eq!(claim(&elsewhere, first.path(), None).await.unwrap().run, 1);
    }

    #[tokio::test]
    async fn a_claim_whose_reply_was_lost_is_recognized() {
        let bucket = Bucket::for_reader(ArchiveLocation::new(Arc::new(InMemory::new()), "memory"));
        let directory = tempfile::tempdir().unwrap();
        let begun = claim(&bucket, directory.path(), None).await.unwrap();
        let second = claim(&bucket, directory.path(), None).await.unwrap();
        let object = bucket.get(&second.begin()).await.unwrap().unwrap();
        let nonce = RunBegin::decode("begin", &object).unwrap().nonce;
        // The process was killed before it wrote the state.
        write_state(directory.path(), &begun, Some(nonce)).unwrap();
        assert_eq!(claim(&bucket, directory.path(), None).await.unwrap(), second);
        write_state(directory.path(), &begun, Some("another".to_owned())).unwrap();
        assert_ne!(claim(&bucket, directory.path(), None).await.unwrap().line, begun.line);
    }

    #[tokio::test]
    async fn a_restored_directory_begins_a_new_line_that_names_the_old_one() {
        let bucket = Bucket::for_reader(ArchiveLocation::new(Arc::new(InMemory::new()), "memory"));
        let directory = tempfile::tempdir().unwrap();
        let state = ArchiveState { line: "old".to_owned(), run: 3, is_restored: true, claiming: None };
        state.write(directory.path()).unwrap();
        let run = claim(&bucket, directory.path(), None).await.unwrap();
        let object = bucket.get(&run.begin()).await.unwrap().unwrap();
        let begin = RunBegin::decode("begin", &object).unwrap();
        assert_eq!((begin.restored_from, begin.reason), (Some(("old".to_owned(), 3)), RunReason::Start));
    }
}
