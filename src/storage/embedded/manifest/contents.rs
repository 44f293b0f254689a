//! What the manifest says.

use bytes::Bytes;

use super::family_record::FamilyRecord;
use crate::util::SharedMap;

/// Keyspace and name of a column family.
pub type FamilyName = (String, String);

/// Segments of the commit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSpan {
    /// The first that holds records that no table has.
    pub first: u64,
    /// The last that must exist.
    pub last: u64,
}

/// All that the store knows about itself. A copy shares what is in the maps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The partitioner's class name. Empty in a directory that was never opened to its end.
    pub partitioner: String,
    /// The node's token, as text.
    pub token: Option<String>,
    /// `None`: there is no log yet.
    pub log: Option<LogSpan>,
    /// Column families that hold or held data.
    pub families: SharedMap<FamilyName, FamilyRecord>,
    /// Directories with tables, each with a timestamp that no cell in it exceeds, where that is known.
    pub tables: SharedMap<String, Option<i64>>,
    /// Metadata records of the layers above: the schema that clients have made, roles, the state of indexes.
    pub records: SharedMap<String, Bytes>,
}

impl Contents {
    /// The record of a column family's id.
    pub fn family_of_id(&self, id: u32) -> Option<(&FamilyName, &FamilyRecord)> {
        self.families.iter().find(|(_, record)| record.id == id)
    }

    /// An id that no column family has.
    pub fn next_id(&self) -> u32 {
        self.families.values().map(|record| record.id + 1).max().unwrap_or(1)
    }
}
