//! Deletions of rows, super columns and ranges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JsonBytes;
use base::model::DeletionTime;

/// A deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonDeletion {
    /// Older cells are deleted.
    pub timestamp: i64,
    /// When it was deleted, in seconds since 1970: gc_grace counts from here.
    pub deleted_at_s: i32,
}

/// The deletion of a super column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonSuperDeletion {
    /// The super column.
    pub name: JsonBytes,
    /// Its deletion.
    pub deletion: JsonDeletion,
}

/// The deletion of a range of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonRange {
    /// The super column that the names are in; without it, they are of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub super_column: Option<JsonBytes>,
    /// The first name; empty for the beginning.
    pub start: JsonBytes,
    /// The last name; empty for the end.
    pub finish: JsonBytes,
    /// Its deletion.
    pub deletion: JsonDeletion,
}

impl From<JsonDeletion> for DeletionTime {
    fn from(json: JsonDeletion) -> DeletionTime {
        DeletionTime { marked_for_delete_at: json.timestamp, local_deletion_time: json.deleted_at_s }
    }
}

impl From<DeletionTime> for JsonDeletion {
    fn from(deletion: DeletionTime) -> JsonDeletion {
        let (timestamp, deleted_at_s) = (deletion.marked_for_delete_at, deletion.local_deletion_time);
        JsonDeletion { timestamp, deleted_at_s }
    }
}
