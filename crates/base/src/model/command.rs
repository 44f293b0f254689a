//! The commands of reads.

use std::sync::Arc;

use bytes::Bytes;

use crate::compat::Behaviour;
use crate::schema::CfDef;

/// A slice of names. Both bounds are inclusive, and empty bounds are open. A reversed slice starts at the larger name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceRange {
    /// The name at which the slice begins. Empty: at the end of the row that is read first.
    pub start: Bytes,
    /// The name at which the slice ends. Empty: at the other end of the row.
    pub finish: Bytes,
    /// Whether names are returned in descending order.
    pub reversed: bool,
    /// Most columns or super columns to return.
    pub count: usize,
}

impl SliceRange {
    /// Returns the lowest and the highest name. Empty: the end of the row.
    pub fn ends(&self) -> (&Bytes, &Bytes) {
        if self.reversed { (&self.finish, &self.start) } else { (&self.start, &self.finish) }
    }

    /// Returns the slice of all columns in ascending order.
    pub fn all() -> SliceRange {
        SliceRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: usize::MAX }
    }
}

/// The columns of a row that a read selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// The columns with these names. They are returned in the comparator's order, not in the list's.
    Names(Vec<Bytes>),
    /// The columns of a slice of names.
    Range(SliceRange),
}

/// A read of one row, or of each row of a scan.
#[derive(Debug, Clone)]
pub struct ReadCommand {
    /// The column family to read.
    pub cf: Arc<CfDef>,
    /// The super column to read from. `None`: the row's columns.
    pub super_column: Option<Bytes>,
    /// The columns to read, of the row or of the super column.
    pub predicate: Predicate,
    /// The rules of the release whose client asks.
    pub behaviour: &'static Behaviour,
    /// Whether to return tombstones within gc_grace too, as Cassandra's replicas do. For get_count and get of 0.4.
    pub with_tombstones: bool,
    /// Tombstones with this local deletion time or an earlier one are treated as removed.
    pub gc_before: i32,
    /// The current second of the server's clock, which decides whether cells have expired.
    pub now_s: i32,
}

/// The rows of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    /// From the token of key `start` to the token of key `end`, both inclusive. An empty key is an open bound.
    Keys {
        /// The first row's key.
        start: Bytes,
        /// The last row's key.
        end: Bytes,
    },
    /// From the token of a key, inclusive (an empty key is open), to a token, inclusive (`None` is open).
    KeyToToken {
        /// The first row's key.
        start: Bytes,
        /// The last token, in its stored form.
        end: Option<Vec<u8>>,
    },
    /// After token `start` up to token `end`, inclusive. The range wraps around the ring if `end` is not after `start`.
    Tokens {
        /// The token before the first, in its stored form.
        start: Vec<u8>,
        /// The last token, in its stored form.
        end: Vec<u8>,
    },
}

/// A read of many rows, in the order of the ring.
#[derive(Debug, Clone)]
pub struct RangeCommand {
    /// The rows to read.
    pub bounds: Bounds,
    /// Limit of the rows to return, rows without columns included.
    pub max_rows: usize,
    /// The read of each row.
    pub read: ReadCommand,
    /// Whether to omit rows without live columns (get_key_range of 0.4 and 0.5).
    pub skip_empty: bool,
}
