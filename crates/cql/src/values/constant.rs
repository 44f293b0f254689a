//! Converts the text of constants to the bytes of a type.

use bytes::Bytes;

use super::TypeScope;
use crate::error::invalid;
use crate::{ColumnSpec, Result};
use base::compat::{Behaviour, texts};
use base::marshal::{AbstractType, BytesType, CqlType, Native, at, is_date_of};
use cql_syntax::ConstantKind;

/// Checks whether a constant of a kind can be assigned to a type. Custom classes and tuples accept any text, as in
/// Cassandra, and in releases before 3.6 user-defined types do too.
pub(super) fn fits(kind: ConstantKind, cql_type: &CqlType, scope: &TypeScope<'_>) -> bool {
    use Native::{
        Ascii, Bigint, Blob, Boolean, Counter, Date, Decimal, Double, Duration, Float, Inet, Int,
        OldTimestamp, Smallint, Text, Time, Timestamp, Timeuuid, Tinyint, Uuid, Varint,
    };
    let native = match cql_type {
        CqlType::Native(native) => *native,
        CqlType::Custom(_) | CqlType::Tuple(_) => return true,
        CqlType::User { is_frozen: true, .. } => return !scope.has_multi_cell_user_types,
        _ => return false,
    };
    match kind {
        // 1.2 still accepted hex in quotes for a blob.
        ConstantKind::String if native == Blob => Behaviour::of(scope.release).cql.blobs_in_quotes,
        ConstantKind::String => {
            matches!(native, Ascii | Text | Inet | Timestamp | OldTimestamp | Date | Time | Duration)
        }
        ConstantKind::Integer => matches!(
            native,
            Bigint
                | Counter
                | Decimal
                | Double
                | Float
                | Int
                | Timestamp
                | OldTimestamp
                | Varint
                | Date
                | Time
                | Smallint
                | Tinyint
        ),
        ConstantKind::Uuid => matches!(native, Uuid | Timeuuid),
        ConstantKind::Float => matches!(native, Decimal | Double | Float),
        ConstantKind::Boolean => native == Boolean,
        ConstantKind::Hex => native == Blob,
        ConstantKind::Duration => native == Duration,
    }
}

/// Returns the bytes of a constant, or `None` for the timestamp `'now'`, which differs at each execution.
pub(super) fn bytes_of(
    kind: ConstantKind,
    text: &str,
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
) -> Result<Option<Bytes>> {
    let cql_type = &receiver.cql_type;
    if !fits(kind, cql_type, scope) {
        let column = receiver.name.to_string();
        return invalid(texts::wrong_constant(
            scope.release,
            kind.into(),
            text,
            &column,
            &cql_type.to_string(),
        ));
    }
    let is_moment = matches!(cql_type, CqlType::Native(Native::Timestamp | Native::OldTimestamp));
    if is_moment && text.eq_ignore_ascii_case("now") {
        return Ok(None);
    }
    if is_moment && kind == ConstantKind::Integer && text.parse::<i64>().is_err() {
        return invalid(texts::too_long_date(scope.line, text));
    }
    if is_moment && !is_date_of(text, scope.release) {
        return invalid(texts::unreadable_date(scope.line, text));
    }
    let class = cql_type.type_ref(scope.types);
    let class = at(&*class, scope.release);
    let parsed = if kind == ConstantKind::Hex {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        // A custom class or user-defined type does not accept all bytes.
        BytesType.parse_text(digits).and_then(|bytes| class.validate(&bytes).map(|()| bytes))
    } else {
        class.parse_text(text)
    };
    let other = text.chars().find(|character| !character.is_ascii());
    match (parsed, other) {
        (Err(error), Some(other)) if *cql_type == CqlType::Native(Native::Ascii) => {
            invalid(texts::not_ascii(scope.release, &error.0, other.len_utf16()))
        }
        (Err(error), _) => invalid(texts::value_mistake(scope.line, &error.0)),
        (Ok(bytes), _) => Ok(Some(Bytes::from(bytes))),
    }
}
