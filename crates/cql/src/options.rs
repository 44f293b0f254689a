//! The options and bound values of an execution.

use bytes::Bytes;

use base::compat::features::ConsistencyLevel;
use base::marshal::CollectionForm;
use base::model::BoundValue;

/// The values and settings of one execution.
#[derive(Debug, Clone)]
pub struct QueryOptions {
    /// The level of reads and writes, and of the commit of a conditional update.
    pub consistency: ConsistencyLevel,
    /// The level of the read and of the proposal of a conditional update: SERIAL or LOCAL_SERIAL.
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
    /// The position of the page, from the result before it; `None` for the first page.
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
