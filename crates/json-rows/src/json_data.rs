//! The whole document: column families with their rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JsonRow;

/// Column families with their rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonData {
    /// The column families that have rows.
    pub column_families: Vec<JsonFamily>,
}

/// A column family, which the schema defines, with rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonFamily {
    /// The name of its keyspace.
    pub keyspace: String,
    /// Its name.
    pub name: String,
    /// Its rows. Several can be parts of one row.
    pub rows: Vec<JsonRow>,
}
