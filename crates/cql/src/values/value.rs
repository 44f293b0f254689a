//! The value of a term in one execution.

use bytes::Bytes;

use base::marshal::{CollectionForm, list_to_bytes, map_to_bytes, tuple_to_bytes};

/// A value with the type of its receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A marker that is bound as unset.
    Unset,
    /// NULL, which deletes the cell.
    Null,
    /// The bytes of one cell, which may be a frozen collection.
    Single(Bytes),
    /// Collections that are not frozen: the bytes of their elements. The elements of a set, and the entries of a map by
    /// key, are sorted and distinct.
    List(Vec<Bytes>),
    /// See `List`.
    Set(Vec<Bytes>),
    /// See `List`: keys with their values.
    Map(Vec<(Bytes, Bytes)>),
    /// A user-defined type that is not frozen: the bytes of its fields. The last ones may be missing.
    Fields(Vec<Option<Bytes>>),
}

impl Value {
    /// Returns the whole value as bytes; `None` is null or unset. Collections have long lengths.
    pub fn into_bytes(self) -> Option<Bytes> {
        match self {
            Value::Null | Value::Unset => None,
            Value::Single(bytes) => Some(bytes),
            Value::List(elements) | Value::Set(elements) => {
                Some(list_to_bytes(&elements, CollectionForm::Long))
            }
            Value::Map(entries) => Some(map_to_bytes(&entries, CollectionForm::Long)),
            Value::Fields(fields) => Some(tuple_to_bytes(&fields)),
        }
    }
}
