//! Converts the driver's types of columns to `CqlType`.

use std::sync::Arc;

use scylla::cluster::ClusterState;
use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType, NativeType};

use base::marshal::{CqlType, Native, UserType};
use store::RemoteColumn;

/// Converts the columns of a result or of markers. Results do not say whether a collection is frozen, so that is taken
/// from the schema.
pub(super) fn columns(state: &ClusterState, specs: &[ColumnSpec<'_>]) -> Vec<RemoteColumn> {
    let mut columns = Vec::with_capacity(specs.len());
    for spec in specs {
        let (keyspace, table) = (spec.table_spec().ks_name(), spec.table_spec().table_name());
        let mut cql_type = cql_type(spec.typ());
        if cql_type.is_multi_cell() && is_frozen(state, keyspace, table, spec.name()) {
            cql_type = cql_type.frozen();
        }
        let (keyspace, table, name) = (keyspace.to_owned(), table.to_owned(), spec.name().to_owned());
        columns.push(RemoteColumn { keyspace, table, name, cql_type });
    }
    columns
}

fn is_frozen(state: &ClusterState, keyspace: &str, table: &str, column: &str) -> bool {
    let table = state.get_keyspace(keyspace).and_then(|keyspace| keyspace.tables.get(table));
    let column = table.and_then(|table| table.columns.get(column));
    column.is_some_and(|column| matches!(column.typ, ColumnType::Collection { frozen: true, .. }))
}

/// Converts a type. Types that old clients do not know become `blob`. Types within a collection are always frozen.
fn cql_type(of: &ColumnType<'_>) -> CqlType {
    let held = |of: &ColumnType<'_>| cql_type(of).frozen();
    let boxed = |of: &ColumnType<'_>| Box::new(held(of));
    match of {
        ColumnType::Native(of) => CqlType::Native(native(of)),
        ColumnType::Collection { frozen, typ } => {
            let is_frozen = *frozen;
            match typ {
                CollectionType::List(element) => CqlType::List { element: boxed(element), is_frozen },
                CollectionType::Set(element) => CqlType::Set { element: boxed(element), is_frozen },
                CollectionType::Map(key, value) => {
                    CqlType::Map { key: boxed(key), value: boxed(value), is_frozen }
                }
                _ => CqlType::Native(Native::Blob),
            }
        }
        ColumnType::Tuple(fields) => CqlType::Tuple(fields.iter().map(held).collect()),
        ColumnType::UserDefinedType { definition, .. } => {
            let fields = definition.field_types.iter();
            let fields = fields.map(|(name, of)| (name.clone().into_owned(), held(of))).collect();
            CqlType::frozen_user(Arc::new(UserType::new(&definition.keyspace, &definition.name, fields)))
        }
        _ => CqlType::Native(Native::Blob),
    }
}

fn native(of: &NativeType) -> Native {
    match of {
        NativeType::Ascii => Native::Ascii,
        NativeType::BigInt => Native::Bigint,
        NativeType::Boolean => Native::Boolean,
        NativeType::Counter => Native::Counter,
        NativeType::Date => Native::Date,
        NativeType::Decimal => Native::Decimal,
        NativeType::Double => Native::Double,
        NativeType::Duration => Native::Duration,
        NativeType::Float => Native::Float,
        NativeType::Inet => Native::Inet,
        NativeType::Int => Native::Int,
        NativeType::SmallInt => Native::Smallint,
        NativeType::Text => Native::Text,
        NativeType::Time => Native::Time,
        NativeType::Timestamp => Native::Timestamp,
        NativeType::Timeuuid => Native::Timeuuid,
        NativeType::TinyInt => Native::Tinyint,
        NativeType::Uuid => Native::Uuid,
        NativeType::Varint => Native::Varint,
        _ => Native::Blob,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_class_names_of_old_releases() {
        let int = || Box::new(ColumnType::Native(NativeType::Int));
        let set = ColumnType::Collection { frozen: false, typ: CollectionType::Set(int()) };
        let map = CollectionType::Map(Box::new(ColumnType::Native(NativeType::Text)), Box::new(set.clone()));
        let map = ColumnType::Collection { frozen: false, typ: map };
        let vector = ColumnType::Vector { typ: int(), dimensions: 3 };
        let tuple = ColumnType::Tuple(vec![ColumnType::Native(NativeType::BigInt), set.clone()]);
        let cases = [
            (set, "SetType(Int32Type)"),
            (map, "MapType(UTF8Type,FrozenType(SetType(Int32Type)))"),
            (tuple, "TupleType(LongType,SetType(Int32Type))"),
            (vector, "BytesType"),
        ];
        for (of, expected) in cases {
            assert_eq!(cql_type(&of).class_name().replace("org.apache.cassandra.db.marshal.", ""), expected);
        }
    }
}
