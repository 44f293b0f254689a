//! Requests for changes of the schema in a form common to all protocols. Nothing here has been validated yet.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::schema::{IndexKind, Setting};

/// The requested definition of a column; types are given by their class names.
#[derive(Debug, Clone)]
pub struct ColumnRequest {
    pub name: Bytes,
    pub validation_class: String,
    pub index_kind: Option<IndexKind>,
    pub index_name: Option<String>,
    pub index_options: Option<BTreeMap<String, String>>,
}

/// The requested definition of a column family; types are given by their class names.
#[derive(Debug, Clone, Default)]
pub struct CfRequest {
    pub keyspace: String,
    pub name: String,
    pub column_type: Option<String>,
    pub comparator_type: Option<String>,
    pub subcomparator_type: Option<String>,
    pub comment: Option<String>,
    pub gc_grace_seconds: Option<i32>,
    pub default_validation_class: Option<String>,
    pub key_validation_class: Option<String>,
    pub key_alias: Option<Bytes>,
    pub id: Option<i32>,
    pub columns: Vec<ColumnRequest>,
    pub settings: BTreeMap<String, Setting>,
}

/// The requested definition of a keyspace.
#[derive(Debug, Clone, Default)]
pub struct KsRequest {
    pub name: String,
    pub strategy_class: String,
    pub strategy_options: BTreeMap<String, String>,
    /// Required in 0.7, honoured up to 1.0.
    pub replication_factor: Option<i32>,
    pub durable_writes: Option<bool>,
    pub column_families: Vec<CfRequest>,
}
