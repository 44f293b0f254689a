//! The names of a compact table's columns in CQL.

use serde::{Deserialize, Serialize};

/// Names set by CREATE TABLE or ALTER TABLE RENAME. The table has all its other properties from the column family, so a
/// Thrift client can change them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompactNames {
    /// The names of the partition key's columns. If there is only one, `CfDef::key_alias` can name it too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partition_key: Vec<Option<String>>,
    /// Of the clustering columns, from the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clustering: Vec<Option<String>>,
    /// The name of a dense table's value column. Empty: the table has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl CompactNames {
    /// Returns whether no column has a name of its own.
    pub fn is_default(&self) -> bool {
        *self == CompactNames::default()
    }

    /// Returns the name of the column at a position, if it was set.
    pub fn at(names: &[Option<String>], position: usize) -> Option<&str> {
        names.get(position)?.as_deref()
    }

    /// Sets the name of the column at a position.
    pub fn set(names: &mut Vec<Option<String>>, position: usize, name: String) {
        if names.len() <= position {
            names.resize(position + 1, None);
        }
        names[position] = Some(name);
    }
}
