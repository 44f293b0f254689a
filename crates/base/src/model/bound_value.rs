//! The value of a marker.

use bytes::Bytes;

/// The value that a client binds to a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundValue {
    /// These bytes.
    Value(Bytes),
    /// No value.
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
