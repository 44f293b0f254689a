//! Requests in a form common to all API generations and to CQL; each protocol's decoder produces these types. Nothing
//! here has been validated yet.

use bytes::Bytes;

/// A column family, and perhaps a super column in it.
#[derive(Debug, Clone)]
pub struct ColumnParent {
    pub column_family: Bytes,
    pub super_column: Option<Bytes>,
}

/// A column family, and perhaps a super column or column in it.
#[derive(Debug, Clone)]
pub struct ColumnPath {
    pub column_family: Bytes,
    pub super_column: Option<Bytes>,
    pub column: Option<Bytes>,
}

/// The range of a slice, as the client sent it.
#[derive(Debug, Clone)]
pub struct RequestedRange {
    pub start: Bytes,
    pub finish: Bytes,
    pub reversed: bool,
    pub count: i32,
}

/// Selects columns by names or by a range; a client can send both or neither.
#[derive(Debug, Clone, Default)]
pub struct SlicePredicate {
    pub column_names: Option<Vec<Bytes>>,
    pub slice_range: Option<RequestedRange>,
}

/// A range of rows by keys or by tokens; a client can send any mixture.
#[derive(Debug, Clone)]
pub struct KeyRange {
    pub start_key: Option<Bytes>,
    pub end_key: Option<Bytes>,
    pub start_token: Option<Bytes>,
    pub end_token: Option<Bytes>,
    pub count: i32,
    /// The result contains only rows that meet all of these conditions (1.1 and later).
    pub row_filter: Vec<IndexExpression>,
}

impl KeyRange {
    /// Returns a range from one key to another, of at most `count` rows.
    pub fn of_keys(start: Bytes, end: Bytes, count: i32) -> KeyRange {
        KeyRange {
            start_key: Some(start),
            end_key: Some(end),
            start_token: None,
            end_token: None,
            count,
            row_filter: Vec::new(),
        }
    }
}

/// The comparison between a column's value and the value of the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexOperator {
    Eq,
    Gte,
    Gt,
    Lte,
    Lt,
}

/// A condition on a column of a row.
#[derive(Debug, Clone)]
pub struct IndexExpression {
    pub column_name: Bytes,
    pub operator: IndexOperator,
    pub value: Bytes,
}

/// Selects at most `count` rows, from `start_key` on, that meet all conditions (0.7 and later).
#[derive(Debug, Clone)]
pub struct IndexClause {
    pub expressions: Vec<IndexExpression>,
    pub start_key: Bytes,
    pub count: i32,
}

/// A column to write. The release decides whether value and timestamp may be absent.
#[derive(Debug, Clone)]
pub struct NewColumn {
    pub name: Bytes,
    pub value: Option<Bytes>,
    pub timestamp: Option<i64>,
    /// Seconds until it expires (0.7 and later).
    pub ttl_s: Option<i32>,
}

/// An increment of a counter (0.8 and later).
#[derive(Debug, Clone)]
pub struct CounterColumn {
    pub name: Bytes,
    pub delta: i64,
}

/// Increments of the counters in a super column.
#[derive(Debug, Clone)]
pub struct CounterSuper {
    pub name: Bytes,
    pub columns: Vec<CounterColumn>,
}

/// A super column to write.
#[derive(Debug, Clone)]
pub struct NewSuper {
    pub name: Bytes,
    pub columns: Vec<NewColumn>,
}

/// An insert in a batch; a valid one has exactly one of the four fields. Most are columns, so the other three are
/// boxed to keep lists of inserts small.
#[derive(Debug, Clone, Default)]
pub struct ColumnOrSuper {
    pub column: Option<NewColumn>,
    pub super_column: Option<Box<NewSuper>>,
    pub counter: Option<Box<CounterColumn>>,
    pub counter_super: Option<Box<CounterSuper>>,
}

/// A deletion in a batch.
#[derive(Debug, Clone)]
pub struct Deletion {
    /// Deletions of counters may omit it; the server uses its own time for them in any case.
    pub timestamp: Option<i64>,
    pub super_column: Option<Bytes>,
    pub predicate: Option<SlicePredicate>,
}

/// One element of a batch; a valid one has exactly one of the two fields.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest {
    pub insert: Option<ColumnOrSuper>,
    pub deletion: Option<Box<Deletion>>,
}

impl MutationRequest {
    /// Returns whether the element writes anything. A super column without columns writes nothing.
    pub fn writes_anything(&self) -> bool {
        let inserts = self.insert.as_ref().is_some_and(|insert| {
            insert.column.is_some()
                || insert.counter.is_some()
                || insert.super_column.as_ref().is_some_and(|given| !given.columns.is_empty())
                || insert.counter_super.as_ref().is_some_and(|given| !given.columns.is_empty())
        });
        inserts || self.deletion.is_some()
    }
}

/// All elements of a batch for one row, by column family, in the order in which the client sent them.
#[derive(Debug, Clone)]
pub struct RowBatch {
    pub key: Bytes,
    pub families: Vec<(Bytes, Vec<MutationRequest>)>,
}
