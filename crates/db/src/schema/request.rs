//! Requests for changes of the schema in a form common to all protocols. Nothing here has been validated yet.

use std::collections::BTreeMap;

use bytes::Bytes;

use base::schema::{IndexKind, Setting};

/// The requested definition of a column; types are given by their class names.
#[derive(Debug, Clone)]
pub struct ColumnRequest {
    /// The name of the column, as stored.
    pub name: Bytes,
    /// The type of its values.
    pub validation_class: String,
    /// The kind of its index; `None` without an index.
    pub index_kind: Option<IndexKind>,
    /// The name of its index. A missing one is chosen by the server.
    pub index_name: Option<String>,
    /// The options of its index.
    pub index_options: Option<BTreeMap<String, String>>,
}

/// The requested definition of a column family; types are given by their class names.
#[derive(Debug, Clone, Default)]
pub struct CfRequest {
    /// The keyspace of the column family.
    pub keyspace: String,
    /// The name of the column family.
    pub name: String,
    /// `Standard` or `Super`.
    pub column_type: Option<String>,
    /// The type of its column names, or of the names of its super columns.
    pub comparator_type: Option<String>,
    /// The type of the column names in its super columns.
    pub subcomparator_type: Option<String>,
    /// A description for users.
    pub comment: Option<String>,
    /// The time for which tombstones are kept.
    pub gc_grace_seconds: Option<i32>,
    /// The type of values in columns that are not defined.
    pub default_validation_class: Option<String>,
    /// The type of its row keys.
    pub key_validation_class: Option<String>,
    /// The name of the row key in CQL.
    pub key_alias: Option<Bytes>,
    /// The id of the column family, by which 0.7 to 1.1 identify the one to update.
    pub id: Option<i32>,
    /// The definitions of its columns.
    pub columns: Vec<ColumnRequest>,
    /// The settings without an effect on this server, which are stored and shown to clients.
    pub settings: BTreeMap<String, Setting>,
}

/// The requested definition of a keyspace.
#[derive(Debug, Clone, Default)]
pub struct KsRequest {
    /// The name of the keyspace.
    pub name: String,
    /// The class of its replication strategy.
    pub strategy_class: String,
    /// The options of its replication strategy.
    pub strategy_options: BTreeMap<String, String>,
    /// Required in 0.7, honoured up to 1.0.
    pub replication_factor: Option<i32>,
    /// Whether writes are logged (0.8 and later). It has no effect on this server.
    pub durable_writes: Option<bool>,
    /// The definitions of its column families.
    pub column_families: Vec<CfRequest>,
}
