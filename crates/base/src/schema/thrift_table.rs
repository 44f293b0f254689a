//! Derives the table of a column family that was created by Thrift clients, by the configuration, or WITH COMPACT
//! STORAGE.
//!
//! Without definitions of columns the table is dense: the names of cells are the values of clustering columns. With
//! definitions it has these columns, and CQL cannot see others.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{CfDef, ColumnKind, CompactNames, Layout, TableColumn, TableDef};
use crate::marshal;
use crate::marshal::{CqlType, Native, TypeRef, composite_parts, unreversed};
use crate::util::Release;

/// Returns the table of a column family without a `TableDef`.
pub(super) fn table_of(cf: &CfDef, release: Release) -> TableDef {
    let has_columns = !cf.column_metadata.is_empty();
    let (layout, clustering) = match (cf.subcomparator(), has_columns) {
        (Some(sub), false) => (Layout::Super, vec![single(&cf.comparator), single(sub)]),
        (Some(_), true) => (Layout::Super, vec![single(&cf.comparator)]),
        (None, true) => (Layout::StaticCompact, Vec::new()),
        (None, false) => match composite_parts(cf.comparator.class_name()) {
            Some(parts) => (Layout::CompositeDense, parts.into_iter().map(of_text).collect()),
            None => (Layout::Dense, vec![single(&cf.comparator)]),
        },
    };
    let mut taken: BTreeSet<String> =
        cf.column_metadata.keys().map(|name| column_name(cf, name, release)).collect();
    let partition_key = partition_key(cf, &mut taken);
    let clustering = clustering_columns(cf, clustering, &mut taken);
    let others = if has_columns {
        declared(cf, release)
    } else {
        value_of(cf, &mut taken).map(|value| (value.name.clone(), value)).into_iter().collect()
    };
    debug_assert!(
        partition_key.iter().chain(&clustering).all(|column| !others.contains_key(&column.name)),
        "two columns of {} have the same name",
        cf.name
    );
    TableDef { layout, partition_key, clustering, others, dropped: BTreeMap::new() }
}

struct Sorted {
    cql_type: CqlType,
    /// Whether its order is descending.
    is_reversed: bool,
}

/// Returns a type in ascending order.
fn ascending(cql_type: CqlType) -> Sorted {
    Sorted { cql_type, is_reversed: false }
}

fn of_text(class: &str) -> Sorted {
    let (inner, is_reversed) = unreversed(class);
    Sorted { cql_type: CqlType::of_class(inner), is_reversed }
}

fn single(comparator: &TypeRef) -> Sorted {
    match unreversed(comparator.class_name()) {
        (inner, true) => Sorted { cql_type: CqlType::of_class(inner), is_reversed: true },
        _ => ascending(CqlType::of(comparator)),
    }
}

fn column(name: String, kind: ColumnKind, position: usize, sorted: Sorted) -> TableColumn {
    let Sorted { cql_type, is_reversed } = sorted;
    let cell_name = Bytes::copy_from_slice(name.as_bytes());
    TableColumn { name, kind, position, cql_type, is_reversed, cell_name }
}

/// Returns a name that no other column has: `key`, `key2` and so on.
fn free_name(base: &str, position: usize, is_first_plain: bool, taken: &mut BTreeSet<String>) -> String {
    let mut number = position + 1;
    loop {
        let name = if number == 1 && is_first_plain { base.to_owned() } else { format!("{base}{number}") };
        if taken.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
}

fn partition_key(cf: &CfDef, taken: &mut BTreeSet<String>) -> Vec<TableColumn> {
    let types: Vec<Sorted> = match &cf.key_validator {
        None => vec![ascending(CqlType::Native(Native::Blob))],
        Some(validator) => match composite_parts(validator.class_name()) {
            Some(parts) => parts.into_iter().map(of_text).collect(),
            None => vec![single(validator)],
        },
    };
    let alias = cf.key_alias.as_ref().filter(|_| types.len() == 1);
    let alias = alias.and_then(|alias| String::from_utf8(alias.to_vec()).ok());
    let mut columns = Vec::new();
    for (position, sorted) in types.into_iter().enumerate() {
        let given = CompactNames::at(&cf.names.partition_key, position).map(str::to_owned);
        let name = alias.clone().or(given).filter(|name| taken.insert(name.clone()));
        let name = name.unwrap_or_else(|| free_name("key", position, true, taken));
        columns.push(column(name, ColumnKind::PartitionKey, position, sorted));
    }
    columns
}

fn clustering_columns(cf: &CfDef, types: Vec<Sorted>, taken: &mut BTreeSet<String>) -> Vec<TableColumn> {
    let mut columns = Vec::new();
    for (position, sorted) in types.into_iter().enumerate() {
        let given = CompactNames::at(&cf.names.clustering, position).map(str::to_owned);
        let name = given.filter(|name| taken.insert(name.clone()));
        let name = name.unwrap_or_else(|| free_name("column", position, false, taken));
        columns.push(column(name, ColumnKind::Clustering, position, sorted));
    }
    columns
}

/// Returns the value column of a dense table. `None` if CREATE TABLE declared none.
fn value_of(cf: &CfDef, taken: &mut BTreeSet<String>) -> Option<TableColumn> {
    let name = match cf.names.value.as_deref() {
        Some("") => return None,
        Some(name) => name.to_owned(),
        None => free_name("value", 0, true, taken),
    };
    let sorted = ascending(CqlType::of(&cf.default_validator));
    Some(column(name, ColumnKind::CompactValue, 0, sorted))
}

/// Returns a column's name: the text form of its bytes by the comparator.
fn column_name(cf: &CfDef, name: &Bytes, release: Release) -> String {
    let comparator = cf.subcomparator().unwrap_or(&cf.comparator);
    marshal::at(&**comparator, release).to_text(name)
}

fn declared(cf: &CfDef, release: Release) -> BTreeMap<String, TableColumn> {
    let declared = cf.column_metadata.values().map(|definition| {
        let name = column_name(cf, &definition.name, release);
        let sorted = ascending(CqlType::of(&definition.validator));
        let mut column = column(name.clone(), ColumnKind::Regular, 0, sorted);
        column.cell_name = definition.name.clone();
        (name, column)
    });
    declared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::Types;
    use crate::schema::{ColumnDef, ColumnType};

    fn cf(comparator: &str, key: &str) -> CfDef {
        let resolve = |class: &str| Types::builtin().resolve(class).unwrap();
        let mut cf = CfDef::new("Blog", "Posts");
        cf.comparator = resolve(comparator);
        cf.key_validator = Some(resolve(key));
        cf
    }

    fn with_column(mut cf: CfDef, name: &'static [u8]) -> CfDef {
        let name = Bytes::from_static(name);
        let validator = Types::builtin().resolve("UTF8Type").unwrap();
        cf.column_metadata.insert(name.clone(), ColumnDef { name, validator, index: None });
        cf
    }

    fn shown(cf: &CfDef) -> (Layout, String) {
        let table = table_of(cf, Release::V2_1);
        let text = |column: &TableColumn| {
            let order = if column.is_reversed { " DESC" } else { "" };
            format!("{} {}{order}", column.name, column.cql_type)
        };
        (table.layout, table.columns().map(text).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn column_families_without_columns_are_dense() {
        let dense = cf("LongType", "UTF8Type");
        assert_eq!(shown(&dense), (Layout::Dense, "key text, column1 bigint, value blob".into()));
        let reversed = cf("ReversedType(TimeUUIDType)", "UTF8Type");
        assert_eq!(shown(&reversed).1, "key text, column1 timeuuid DESC, value blob");
        let composite =
            cf("CompositeType(UTF8Type,ReversedType(Int32Type))", "CompositeType(UTF8Type,LongType)");
        let columns = "key text, key2 bigint, column1 text, column2 int DESC, value blob";
        assert_eq!(shown(&composite), (Layout::CompositeDense, columns.into()));
        let mut supers = cf("UTF8Type", "UTF8Type");
        supers.column_type =
            ColumnType::Super { subcomparator: Types::builtin().resolve("LongType").unwrap() };
        let columns = "key text, column1 text, column2 bigint, value blob";
        assert_eq!(shown(&supers), (Layout::Super, columns.into()));
    }

    #[test]
    fn declared_columns_are_named_by_the_text_of_their_bytes() {
        let columns = with_column(cf("UTF8Type", "Int32Type"), b"b");
        assert_eq!(shown(&columns), (Layout::StaticCompact, "key int, b text".into()));
        let bytes = with_column(cf("BytesType", "Int32Type"), b"abc");
        assert_eq!(shown(&bytes).1, "key int, 616263 text");
        let taken = with_column(cf("UTF8Type", "Int32Type"), b"key");
        assert_eq!(shown(&taken).1, "key2 int, key text");
    }

    #[test]
    fn names_set_by_clients_are_used() {
        let mut dense = cf("LongType", "UTF8Type");
        dense.key_alias = Some(Bytes::from_static(b"uid"));
        dense.names.clustering = vec![Some("at".to_owned())];
        dense.names.value = Some(String::new());
        assert_eq!(shown(&dense).1, "uid text, at bigint");
    }
}
