//! `CAST(value AS type)`, as in 3.2.

use bytes::Bytes;

use super::moment;
use super::number::Number;
use crate::TypesOf;
use crate::json::to_json;
use base::marshal::{CqlType, Native, ValueKind};

fn is_number(native: Native) -> bool {
    native.kind().is_number()
}

fn is_text(native: Native) -> bool {
    native.kind() == ValueKind::Text
}

/// Checks whether values of one type can be cast to another.
pub(super) fn is_possible(from: Native, to: Native) -> bool {
    use Native::{Blob, Boolean, Counter, Date, Inet, OldTimestamp, Time, Timestamp, Timeuuid, Uuid};
    if from == to {
        return true;
    }
    match (from, to) {
        (Timeuuid, Timestamp | Date) | (Timestamp | OldTimestamp, Date) | (Date, Timestamp) => true,
        (Boolean | Date | Inet | Time | Timestamp | OldTimestamp | Timeuuid | Uuid, to) => is_text(to),
        (Native::Ascii, Native::Text) => true,
        (Blob, _) | (_, Counter) => false,
        (from, to) => is_number(from) && (is_number(to) || is_text(to)),
    }
}

/// Casts a value, or returns `None` if it has no value in the new type.
pub(super) fn cast(from: Native, to: Native, value: &[u8], types: TypesOf<'_>) -> Option<Bytes> {
    let whole = || Bytes::copy_from_slice(value);
    if from == to || from == Native::Ascii {
        return Some(whole());
    }
    if is_text(to) {
        // The text is the same as in JSON, without quotes.
        let json = to_json(&CqlType::Native(from), Some(&whole()), types);
        return Some(Bytes::from(json.trim_matches('"').to_owned()));
    }
    if is_number(from) {
        return Number::of(from, value)?.bytes(to);
    }
    moment::of_ms(moment::ms_of(from, value)?, to)
}
