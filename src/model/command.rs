//! What a read asks for.

use std::sync::Arc;

use bytes::Bytes;

use crate::compat::Behaviour;
use crate::schema::CfDef;

/// A run of names. Empty bounds are open; both are inclusive. Reversed slices start at the larger name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceRange {
    pub start: Bytes,
    pub finish: Bytes,
    pub reversed: bool,
    pub count: usize,
}

impl SliceRange {
    /// Everything, in order.
    pub fn all() -> SliceRange {
        SliceRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: usize::MAX }
    }
}

/// Which columns of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// Those of these names, in the comparator's order whatever the order asked in.
    Names(Vec<Bytes>),
    Range(SliceRange),
}

/// A read inside one row, or the same read of many.
#[derive(Debug, Clone)]
pub struct ReadCommand {
    pub cf: Arc<CfDef>,
    /// Look inside this super column; else at the row's own columns.
    pub super_column: Option<Bytes>,
    pub predicate: Predicate,
    pub behaviour: &'static Behaviour,
    /// Return tombstones that gc_grace still keeps beside what is live, as Cassandra's own replicas do. For
    /// 0.4's get_count and get.
    pub with_tombstones: bool,
    /// Tombstones made at this second or before are forgotten.
    pub gc_before: i32,
    /// The server's second at which expiring cells are looked at.
    pub now_s: i32,
}

/// The rows of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    /// From the token of the first to the token of the second, both inclusive; an empty key is an open end.
    Keys { start: Bytes, end: Bytes },
    /// From the token of a key on, inclusive (empty: from the first), to a token (`None`: to the last).
    KeyToToken { start: Bytes, end: Option<Vec<u8>> },
    /// After the first token, to the second; when it does not come later, round through the ring's end.
    Tokens { start: Vec<u8>, end: Vec<u8> },
}

/// A read of many rows in ring order.
#[derive(Debug, Clone)]
pub struct RangeCommand {
    pub bounds: Bounds,
    /// Most rows to return, empty ones included.
    pub max_rows: usize,
    /// What to read in each.
    pub read: ReadCommand,
    /// Leave out rows in which nothing is live (get_key_range of 0.4 and 0.5).
    pub skip_empty: bool,
}
