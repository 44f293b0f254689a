//! Reads a recording, whether it is a file of the recorder or lines of JSON.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::file::{BlockSelection, Ending, PartReader};
use super::json_lines::JsonLines;
use super::{Event, TrafficError};

/// Iterates over the events of a recording, with the memory of one block or line.
///
/// After [`TrafficError::Damaged`] the iteration goes on behind the damage. Other errors end it.
#[derive(Debug)]
pub enum Recording {
    /// The files of a recorder.
    File(Box<PartReader>),
    /// Lines of JSON.
    Json(Box<JsonLines>),
}

impl Recording {
    /// Opens a recording. A file that begins with `{` has lines of JSON.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a recording.
    pub fn open(path: &Path) -> Result<Recording, TrafficError> {
        let mut first = [0];
        let read = File::open(path).and_then(|mut file| file.read(&mut first));
        match (read, first) {
            (Err(why), _) => Err(TrafficError::Unreadable { file: path.to_owned(), why }),
            (Ok(1), [b'{']) => Ok(Recording::Json(Box::new(JsonLines::open(path)?))),
            _ => Ok(Recording::File(Box::new(PartReader::open(path)?))),
        }
    }

    /// Reads only blocks that may have events of the selection. Lines of JSON have no blocks.
    #[must_use]
    pub fn only(self, selection: BlockSelection) -> Recording {
        match self {
            Recording::File(reader) => Recording::File(Box::new(reader.only(selection))),
            lines @ Recording::Json(_) => lines,
        }
    }

    /// Returns the servers that answered.
    pub fn upstreams(&self) -> String {
        match self {
            Recording::File(reader) => reader.header().upstreams.join(", "),
            Recording::Json(lines) => lines.upstream().to_owned(),
        }
    }

    /// Returns the roles that are redacted, and the fingerprint of the key of its hashes.
    pub fn redaction(&self) -> (Vec<String>, Option<String>) {
        match self {
            Recording::File(reader) => {
                (reader.header().redacted.clone(), reader.header().redaction_key.clone())
            }
            Recording::Json(_) => (Vec::new(), None),
        }
    }

    /// Returns whether the recorder did not close the file, once all events have been read.
    pub fn was_cut_off(&self) -> bool {
        match self {
            Recording::File(reader) => matches!(reader.ending(), Some(Ending::Open { .. })),
            Recording::Json(_) => false,
        }
    }
}

impl Iterator for Recording {
    type Item = Result<Event, TrafficError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Recording::File(reader) => reader.next(),
            Recording::Json(lines) => lines.next(),
        }
    }
}
