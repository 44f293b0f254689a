//! What comes with a statement.

use bytes::Bytes;

use crate::model::ConsistencyLevel;

/// How the lengths in a collection's value are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionForm {
    /// 16 bits: Thrift, and protocols 1 and 2.
    Short,
    /// 32 bits: protocol 3 and later, and every frozen collection.
    Long,
}

/// The values and settings of one execution.
#[derive(Debug, Clone)]
pub struct QueryOptions {
    pub consistency: ConsistencyLevel,
    pub serial_consistency: ConsistencyLevel,
    /// The markers' values, `None` for null.
    pub values: Vec<Option<Bytes>>,
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
            values: Vec::new(),
            collection_form: CollectionForm::Short,
            timestamp: None,
            page_size: None,
            paging_state: None,
        }
    }
}
