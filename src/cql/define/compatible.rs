//! Which type may take the place of another, over values that are there.

use crate::marshal::{CqlType, Native, widens};

/// Whether values keep their order, and the bytes that they are stored and looked up by.
pub fn keeps_order(new: &CqlType, old: &CqlType) -> bool {
    widens(&old.class_name(), &new.class_name())
}

/// Whether the cells of one collection are those of another: what stands in their names keeps its order, and their
/// values are values of the other.
pub fn takes_elements(new: &CqlType, old: &CqlType) -> bool {
    match (old, new) {
        (
            CqlType::List { element: old, is_frozen: false },
            CqlType::List { element: new, is_frozen: false },
        ) => takes_values(new, old),
        (
            CqlType::Set { element: old, is_frozen: false },
            CqlType::Set { element: new, is_frozen: false },
        ) => keeps_order(new, old),
        (
            CqlType::Map { key: old_key, value: old, is_frozen: false },
            CqlType::Map { key: new_key, value: new, is_frozen: false },
        ) => keeps_order(new_key, old_key) && takes_values(new, old),
        _ => false,
    }
}

/// Whether values of one type are values of another.
pub fn takes_values(new: &CqlType, old: &CqlType) -> bool {
    let native = |cql_type: &CqlType| match cql_type {
        CqlType::Native(native) => Some(*native),
        _ => None,
    };
    match (native(new), native(old)) {
        (Some(Native::Blob), Some(old)) => old != Native::Counter,
        (Some(Native::Blob), None) => true,
        (Some(Native::Text), Some(Native::Ascii))
        | (Some(Native::Uuid), Some(Native::Timeuuid))
        | (Some(Native::Varint), Some(Native::Int | Native::Bigint | Native::Timestamp))
        | (Some(Native::Bigint), Some(Native::Timestamp))
        | (Some(Native::Timestamp), Some(Native::Bigint)) => true,
        _ => keeps_order(new, old),
    }
}
