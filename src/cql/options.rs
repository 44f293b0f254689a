//! What comes with a statement.

use bytes::Bytes;

use crate::compat::features::ConsistencyLevel;

/// How the lengths in a collection's value are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionForm {
    /// 16 bits: Thrift, and protocols 1 and 2.
    Short,
    /// 32 bits: protocol 3 and later, and every frozen collection.
    Long,
}

/// What a client binds to a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundValue {
    Value(Bytes),
    Null,
    /// Nothing at all (protocol 4 and later): what the marker is the value of stays as it is.
    Unset,
}

impl From<Option<Bytes>> for BoundValue {
    /// `None` is null.
    fn from(value: Option<Bytes>) -> BoundValue {
        value.map_or(BoundValue::Null, BoundValue::Value)
    }
}

/// The values and settings of one execution.
#[derive(Debug, Clone)]
pub struct QueryOptions {
    pub consistency: ConsistencyLevel,
    pub serial_consistency: ConsistencyLevel,
    /// Version 1 of the native protocol has no conditional updates.
    pub has_conditions: bool,
    /// The markers' values, in the order of the markers unless they have names.
    pub values: Vec<BoundValue>,
    /// For each value the name of its marker (protocol 3 and later); empty where they are bound by their places.
    pub names: Vec<String>,
    /// Of the collections among the values.
    pub collection_form: CollectionForm,
    /// The client's own timestamp (protocol 3 and later).
    pub timestamp: Option<i64>,
    /// Rows of a page; `None`: all of them.
    pub page_size: Option<usize>,
    pub paging_state: Option<Bytes>,
}

impl Default for QueryOptions {
    /// No values, and level ONE.
    fn default() -> QueryOptions {
        QueryOptions {
            consistency: ConsistencyLevel::One,
            serial_consistency: ConsistencyLevel::Serial,
            has_conditions: true,
            values: Vec::new(),
            names: Vec::new(),
            collection_form: CollectionForm::Short,
            timestamp: None,
            page_size: None,
            paging_state: None,
        }
    }
}
