//! Decides which type may replace another type if values already exist.

use base::compat::rules::CqlRules;
use base::marshal::{CqlType, Native, widens};

/// Checks whether values keep their order, and the bytes that they are stored and looked up by.
pub fn keeps_order(new: &CqlType, old: &CqlType) -> bool {
    widens(&old.class_name(), &new.class_name())
}

/// Checks whether the cells of one collection are valid for another: the parts of cell names must keep their order, and
/// the cell values must be valid values.
pub(super) fn takes_elements(new: &CqlType, old: &CqlType) -> bool {
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
        // The cells are named by the positions of the fields.
        (CqlType::User { is_frozen: false, .. }, CqlType::User { is_frozen: false, .. }) => {
            keeps_order(new, old)
        }
        _ => false,
    }
}

/// Checks whether ALTER TYPE may replace the type of a column that is not a clustering column.
pub(super) fn may_replace(new: &CqlType, old: &CqlType, rules: &CqlRules) -> bool {
    if old.is_multi_cell() {
        return rules.collections_take_elements && takes_elements(new, old);
    }
    let takes_any = rules.types_take_values || *new == CqlType::Native(Native::Blob);
    if takes_any { takes_values(new, old) } else { keeps_order(new, old) }
}

/// Checks whether all stored values of a column of the old type are values of one of the new type.
pub fn accepts_values(new: &CqlType, old: &CqlType) -> bool {
    if old.is_multi_cell() { takes_elements(new, old) } else { takes_values(new, old) }
}

/// Checks whether all values of the old type are values of the new type.
fn takes_values(new: &CqlType, old: &CqlType) -> bool {
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
