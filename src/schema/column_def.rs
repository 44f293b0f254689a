//! What a schema says of single columns of a column family (0.7 and later).

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::marshal::TypeRef;

/// How an index is kept. Only `Keys` is; the others are remembered and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// From each value to the rows that hold it (0.7 and later).
    Keys,
    /// By a class of the user's (1.0 and later).
    Custom,
    /// As CQL's tables have them (1.2 and later).
    Composites,
}

/// An index on a column's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDef {
    pub kind: IndexKind,
    /// Unique in the keyspace; given by the server where the client gives none.
    pub name: Option<String>,
    pub options: Option<BTreeMap<String, String>>,
}

/// One column: which values it takes, and whether they are indexed.
#[derive(Debug, Clone)]
pub struct ColumnDef {
    pub name: Bytes,
    pub validator: TypeRef,
    pub index: Option<IndexDef>,
}
