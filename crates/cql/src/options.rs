//! The options and bound values of an execution.

use bytes::Bytes;

use crate::compat::features::ConsistencyLevel;

/// The size of the lengths in a collection's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionForm {
    /// 16 bits: Thrift, and native protocol versions 1 and 2.
    Short,
    /// 32 bits: native protocol version 3 and later, and all frozen collections.
    Long,
}

/// The value that a client binds to a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundValue {
    Value(Bytes),
    Null,
    /// Unset (protocol 4 and later): the marker's receiver keeps its value.
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
    /// Whether conditional updates are possible. Version 1 of the native protocol has none.
    pub has_conditions: bool,
    /// The values, in the order of the markers unless `names` is set.
    pub values: Vec<BoundValue>,
    /// The marker name of each value (protocol 3 and later); empty if the values are bound by position.
    pub names: Vec<String>,
    /// The form of the collections among the values.
    pub collection_form: CollectionForm,
    /// The client's timestamp (protocol 3 and later).
    pub timestamp: Option<i64>,
    /// The maximum number of rows of a page; `None` means all rows.
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
