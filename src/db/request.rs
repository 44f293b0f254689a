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
}

/// A column to write.
#[derive(Debug, Clone)]
pub struct NewColumn {
    pub name: Bytes,
    pub value: Bytes,
    pub timestamp: i64,
}

/// A super column to write.
#[derive(Debug, Clone)]
pub struct NewSuper {
    pub name: Bytes,
    pub columns: Vec<NewColumn>,
}

/// What a batch writes: one of the two, by right.
#[derive(Debug, Clone, Default)]
pub struct ColumnOrSuper {
    pub column: Option<NewColumn>,
    pub super_column: Option<NewSuper>,
}

/// What a batch deletes.
#[derive(Debug, Clone)]
pub struct Deletion {
    pub timestamp: i64,
    pub super_column: Option<Bytes>,
    pub predicate: Option<SlicePredicate>,
}

/// One element of a batch: one of the two, by right.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest {
    pub insert: Option<ColumnOrSuper>,
    pub deletion: Option<Deletion>,
}

/// All elements of a batch for one row, by column family, in the order sent.
#[derive(Debug, Clone)]
pub struct RowBatch {
    pub key: Bytes,
    pub families: Vec<(Bytes, Vec<MutationRequest>)>,
}
