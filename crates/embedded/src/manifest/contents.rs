//! The contents of the manifest.

use bytes::Bytes;

use super::family_record::FamilyRecord;
use super::tree_record::TreeRecord;
use base::schema::FamilyName;
use base::util::SharedMap;

/// The range of commit log segments in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogSpan {
    /// The first segment with records that are not in tables.
    pub first: u64,
    /// The last segment that must exist.
    pub last: u64,
}

/// The contents of the manifest. A clone shares the entries of the maps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The partitioner's class name. Empty if the directory has never been opened completely.
    pub partitioner: String,
    /// The node's token, as text.
    pub token: Option<String>,
    /// `None` if there is no log yet.
    pub log: Option<LogSpan>,
    /// Column families that hold or have held data.
    pub families: SharedMap<FamilyName, FamilyRecord>,
    /// Directories of tables.
    pub tables: SharedMap<String, TreeRecord>,
    /// Metadata records of the layers above: schema that clients have created, roles, the state of indexes.
    pub records: SharedMap<String, Bytes>,
}

impl Contents {
    /// Returns the column family that has an id.
    pub(crate) fn family_of_id(&self, id: u32) -> Option<(&FamilyName, &FamilyRecord)> {
        self.families.iter().find(|(_, record)| record.id == id)
    }

    /// Returns an id that no column family has.
    pub(crate) fn next_id(&self) -> u32 {
        self.families.values().map(|record| record.id + 1).max().unwrap_or(1)
    }
}
