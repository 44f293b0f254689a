//! Requests in a form common to all API generations and to CQL; each protocol's decoder produces these types. Nothing
//! here has been validated yet.

use bytes::Bytes;
use strum::FromRepr;

/// A column family, and perhaps a super column in it.
#[derive(Debug, Clone)]
pub struct ColumnParent {
    /// The name of the column family.
    pub column_family: Bytes,
    /// The name of the super column; `None` for the row itself.
    pub super_column: Option<Bytes>,
}

/// A column family, and perhaps a super column or column in it.
#[derive(Debug, Clone)]
pub struct ColumnPath {
    /// The name of the column family.
    pub column_family: Bytes,
    /// The name of the super column, if the path has one.
    pub super_column: Option<Bytes>,
    /// The name of the column; `None` for the whole super column or row.
    pub column: Option<Bytes>,
}

/// The range of a slice, as the client sent it.
#[derive(Debug, Clone)]
pub struct RequestedRange {
    /// The first name. Empty means the beginning of the row, or its end if the range is reversed.
    pub start: Bytes,
    /// The last name, which is included. Empty means the end of the row, or its beginning if the range is reversed.
    pub finish: Bytes,
    /// Whether columns are returned in descending order.
    pub reversed: bool,
    /// The largest number of columns to return.
    pub count: i32,
}

/// Selects columns by names or by a range; a client can send both or neither.
#[derive(Debug, Clone, Default)]
pub struct SlicePredicate {
    /// The names of the columns.
    pub column_names: Option<Vec<Bytes>>,
    /// The range of the columns.
    pub slice_range: Option<RequestedRange>,
}

/// A range of rows by keys or by tokens; a client can send any mixture.
#[derive(Debug, Clone)]
pub struct KeyRange {
    /// The first key, which is included.
    pub start_key: Option<Bytes>,
    /// The last key, which is included. Empty means the end of the ring.
    pub end_key: Option<Bytes>,
    /// The start of a range of tokens, which is not included.
    pub start_token: Option<Bytes>,
    /// The end of a range of tokens, which is included.
    pub end_token: Option<Bytes>,
    /// The largest number of rows to return.
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

/// The comparison between a column's value and the value of the condition, with its number in the Thrift interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr)]
#[repr(i32)]
pub enum IndexOperator {
    /// The column's value is equal.
    Eq,
    /// The column's value is greater or equal.
    Gte,
    /// The column's value is greater.
    Gt,
    /// The column's value is less or equal.
    Lte,
    /// The column's value is less.
    Lt,
}

/// A condition on a column of a row.
#[derive(Debug, Clone)]
pub struct IndexExpression {
    /// The name of the column.
    pub column_name: Bytes,
    /// The comparison.
    pub operator: IndexOperator,
    /// The value to compare with.
    pub value: Bytes,
}

/// Selects at most `count` rows, from `start_key` on, that meet all conditions (0.7 and later).
#[derive(Debug, Clone)]
pub struct IndexClause {
    /// The conditions. At least one must be an equality on an indexed column.
    pub expressions: Vec<IndexExpression>,
    /// The key of the first row to consider; empty for the beginning of the ring.
    pub start_key: Bytes,
    /// The largest number of rows to return.
    pub count: i32,
}

/// A column to write. The release decides whether value and timestamp may be absent.
#[derive(Debug, Clone)]
pub struct NewColumn {
    /// The name of the column.
    pub name: Bytes,
    /// The value to write.
    pub value: Option<Bytes>,
    /// The timestamp of the write, usually in microseconds since 1970.
    pub timestamp: Option<i64>,
    /// Seconds until it expires (0.7 and later).
    pub ttl_s: Option<i32>,
}

/// An increment of a counter (0.8 and later).
#[derive(Debug, Clone)]
pub struct CounterColumn {
    /// The name of the counter.
    pub name: Bytes,
    /// The number to add, which may be negative.
    pub delta: i64,
}

/// Increments of the counters in a super column.
#[derive(Debug, Clone)]
pub struct CounterSuper {
    /// The name of the super column.
    pub name: Bytes,
    /// The increments.
    pub columns: Vec<CounterColumn>,
}

/// A super column to write.
#[derive(Debug, Clone)]
pub struct NewSuper {
    /// The name of the super column.
    pub name: Bytes,
    /// The columns to write into it.
    pub columns: Vec<NewColumn>,
}

/// An insert in a batch; a valid one has exactly one of the four fields. Most are columns, so the other three are
/// boxed to keep lists of inserts small.
#[derive(Debug, Clone, Default)]
pub struct ColumnOrSuper {
    /// A column to write.
    pub column: Option<NewColumn>,
    /// A super column to write.
    pub super_column: Option<Box<NewSuper>>,
    /// An increment.
    pub counter: Option<Box<CounterColumn>>,
    /// Increments in a super column.
    pub counter_super: Option<Box<CounterSuper>>,
}

/// A deletion in a batch.
#[derive(Debug, Clone)]
pub struct Deletion {
    /// Deletions of counters may omit it; the server uses its own time for them in any case.
    pub timestamp: Option<i64>,
    /// The super column to delete, or to delete from.
    pub super_column: Option<Bytes>,
    /// The columns to delete; `None` for the whole row or super column.
    pub predicate: Option<SlicePredicate>,
}

/// One element of a batch; a valid one has exactly one of the two fields.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest {
    /// The columns to write or counters to increment.
    pub insert: Option<ColumnOrSuper>,
    /// The deletion.
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
    /// The key of the row.
    pub key: Bytes,
    /// The names of column families, each with its elements.
    pub families: Vec<(Bytes, Vec<MutationRequest>)>,
}
