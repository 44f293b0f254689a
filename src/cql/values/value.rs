//! What a term is in one execution.

use bytes::Bytes;

use super::collections::{list_to_bytes, map_to_bytes};
use crate::cql::CollectionForm;

/// A value of the type of what receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A marker that nothing is bound to.
    Unset,
    Null,
    /// The bytes of one cell; a frozen collection too.
    Single(Bytes),
    /// Collections that are not frozen: the elements' bytes. A set's are in order and different, a map's by its keys.
    List(Vec<Bytes>),
    Set(Vec<Bytes>),
    Map(Vec<(Bytes, Bytes)>),
}

impl Value {
    /// The whole as one value; `None` is null, or nothing at all. Collections have long lengths.
    pub fn into_bytes(self) -> Option<Bytes> {
        match self {
            Value::Null | Value::Unset => None,
            Value::Single(bytes) => Some(bytes),
            Value::List(elements) | Value::Set(elements) => {
                Some(list_to_bytes(&elements, CollectionForm::Long))
            }
            Value::Map(entries) => Some(map_to_bytes(&entries, CollectionForm::Long)),
        }
    }
}
