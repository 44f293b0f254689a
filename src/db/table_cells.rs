//! What a Thrift client may write into a table of CQL: cells of columns that it has, with values of their types.

use std::sync::LazyLock;

use bytes::Bytes;

use super::Error;
use crate::marshal::{BytesType, CqlType, TypeRef, Types, components};
use crate::schema::{CfDef, ColumnKind, TableDef};
use crate::util::Release;

static TYPES: LazyLock<Types> = LazyLock::new(Types::builtin);

/// Whether a name, which the comparator takes, leads to a column of the table. 1.2 does not ask.
pub(super) fn check_name(cf: &CfDef, table: &TableDef, name: &Bytes) -> Result<(), Error> {
    let is_static = name.starts_with(&crate::marshal::STATIC_PREFIX);
    let parts = components(if is_static { &name[2..] } else { name }).unwrap_or_default();
    let wanted = table.clustering.len() + 1;
    let Some(column) = parts.get(wanted - 1) else {
        return Err(Error::invalid(format!(
            "Not enough components (found {} but {wanted} expected) for column name since {} is a CQL3 table",
            parts.len(),
            cf.name
        )));
    };
    let is_known = column.is_empty() || table.others.values().any(|other| other.cell_name == *column);
    if is_known {
        return Ok(());
    }
    let text = CqlType::of_class("UTF8Type").type_ref(&TYPES).to_text(column);
    Err(Error::invalid(format!(
        "Invalid cell for CQL3 table {}. The CQL3 column component ({text}) does not correspond to a defined CQL3 column",
        cf.name
    )))
}

/// What the cell of a name holds: a collection's cells its elements or its values, a row's marker nothing special.
pub(super) fn value_validator(table: &TableDef, name: &Bytes) -> TypeRef {
    let column = table.place_of(name).and_then(|place| place.column);
    let column = column.and_then(|column| table.others.values().find(|other| other.cell_name == column));
    let value = match column.map(|column| &column.cql_type) {
        Some(CqlType::List { element, is_frozen: false }) => Some(&**element),
        Some(CqlType::Map { value, is_frozen: false, .. }) => Some(&**value),
        Some(CqlType::Set { is_frozen: false, .. }) | None => None,
        Some(single) => Some(single),
    };
    value.map_or_else(|| std::sync::Arc::new(BytesType) as TypeRef, |value| value.type_ref(&TYPES))
}

/// Whether describe_keyspace shows a column family. Tables of CQL are not Thrift's, but for those without any regular
/// column: the old servers do not tell them from compact ones (1.2 nor those without a clustering column).
pub(super) fn is_shown(cf: &CfDef, release: Release) -> bool {
    let Some(table) = &cf.table else { return true };
    let has_regular = table.others.values().any(|column| column.kind == ColumnKind::Regular);
    !has_regular && (!table.clustering.is_empty() || release < Release::V2_0)
}
