//! Definitions of single columns of a column family (0.7 and later).

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use strum::{EnumString, FromRepr, IntoStaticStr};

use crate::marshal::TypeRef;

/// The kind of an index, with its number in the Thrift interface. Only `Keys` has an effect; the others are stored and returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, FromRepr, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "UPPERCASE")]
#[serde(rename_all = "UPPERCASE")]
#[repr(i32)]
pub enum IndexKind {
    /// An index from values to row keys (0.7 and later).
    Keys,
    /// An index by a class of the user (1.0 and later).
    Custom,
    /// An index of a CQL table (1.2 and later).
    Composites,
}

impl IndexKind {
    /// Returns the kind with this name in a server's own tables.
    pub fn of_name(name: &str) -> Option<IndexKind> {
        name.parse().ok()
    }

    /// Returns the name in a server's own tables.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An index on a column's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDef {
    /// The way in which the index is stored.
    pub kind: IndexKind,
    /// Unique in the keyspace. The server chooses one if the client gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kept for clients that ask; they have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<BTreeMap<String, String>>,
}

impl IndexDef {
    /// Returns whether the index has an option.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.as_ref().is_some_and(|options| options.contains_key(name))
    }
}

/// The definition of a column: its validator and its index.
#[derive(Debug, Clone)]
pub struct ColumnDef {
    /// The column's name, as cells have it.
    pub name: Bytes,
    /// The type that values must be valid for.
    pub validator: TypeRef,
    /// `None`: the values are not indexed.
    pub index: Option<IndexDef>,
}
