//! Requests in neutral words: what every dialect decodes to. Nothing in here has been checked.

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

/// A slice's range as asked for.
#[derive(Debug, Clone)]
pub struct RequestedRange {
    pub start: Bytes,
    pub finish: Bytes,
    pub reversed: bool,
    pub count: i32,
}

/// Names, or a range; a client can send both or neither.
#[derive(Debug, Clone, Default)]
pub struct SlicePredicate {
    pub column_names: Option<Vec<Bytes>>,
    pub slice_range: Option<RequestedRange>,
}

/// Rows by keys or by tokens; a client can send any mixture.
#[derive(Debug, Clone)]
pub struct KeyRange {
    pub start_key: Option<Bytes>,
    pub end_key: Option<Bytes>,
    pub start_token: Option<Bytes>,
    pub end_token: Option<Bytes>,
    pub count: i32,
    /// Only rows that meet all of these (1.1 and later).
    pub row_filter: Vec<IndexExpression>,
}

impl KeyRange {
    /// Rows from one key to another, at most so many.
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

/// How a column's value must stand to the one that is given.
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

/// Rows that meet all conditions, from a key on, at most so many (0.7 and later).
#[derive(Debug, Clone)]
pub struct IndexClause {
    pub expressions: Vec<IndexExpression>,
    pub start_key: Bytes,
    pub count: i32,
}

/// A column to write. Whether value and timestamp may be absent is the release's to say.
#[derive(Debug, Clone)]
pub struct NewColumn {
    pub name: Bytes,
    pub value: Option<Bytes>,
    pub timestamp: Option<i64>,
    /// Seconds until it expires (0.7 and later).
    pub ttl_s: Option<i32>,
}

/// What is added to a counter (0.8 and later).
#[derive(Debug, Clone)]
pub struct CounterColumn {
    pub name: Bytes,
    pub delta: i64,
}

/// What is added to counters of a super column.
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

/// What a batch writes: one of them, by right. Most are columns: the others stand apart, so that a list of these is
/// short.
#[derive(Debug, Clone, Default)]
pub struct ColumnOrSuper {
    pub column: Option<NewColumn>,
    pub super_column: Option<Box<NewSuper>>,
    pub counter: Option<Box<CounterColumn>>,
    pub counter_super: Option<Box<CounterSuper>>,
}

/// What a batch deletes.
#[derive(Debug, Clone)]
pub struct Deletion {
    /// Counters' deletions may do without, and are given the server's time anyway.
    pub timestamp: Option<i64>,
    pub super_column: Option<Bytes>,
    pub predicate: Option<SlicePredicate>,
}

/// One element of a batch: one of the two, by right.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest {
    pub insert: Option<ColumnOrSuper>,
    pub deletion: Option<Box<Deletion>>,
}

impl MutationRequest {
    /// Whether there is anything in it: a super column without columns is nothing.
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

/// All elements of a batch for one row, by column family, in the order sent.
#[derive(Debug, Clone)]
pub struct RowBatch {
    pub key: Bytes,
    pub families: Vec<(Bytes, Vec<MutationRequest>)>,
}
