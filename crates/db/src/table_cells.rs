//! Checks of Thrift writes into CQL tables: clients may write cells of existing columns, with values of their types.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::Result;
use crate::error::invalid;
use base::compat::Behaviour;
use base::marshal::{BytesType, CqlType, TypeRef, Types, components};
use base::schema::{CfDef, ColumnKind, Layout, TableDef};
use base::util::Release;

static TYPES: LazyLock<Types> = LazyLock::new(Types::builtin);

/// Checks whether a cell name, which the comparator accepts, belongs to a column of the table. 1.2 does not check
/// this.
pub(super) fn check_name(cf: &CfDef, table: &TableDef, name: &Bytes) -> Result<()> {
    let is_static = name.starts_with(&base::marshal::STATIC_PREFIX);
    let parts = components(if is_static { &name[2..] } else { name }).unwrap_or_default();
    let wanted = table.clustering.len() + 1;
    let Some(column) = parts.get(wanted - 1) else {
        return invalid(format!(
            "Not enough components (found {} but {wanted} expected) for column name since {} is a CQL3 table",
            parts.len(),
            cf.name
        ));
    };
    let is_known = column.is_empty() || table.others.values().any(|other| other.cell_name == *column);
    if is_known {
        return Ok(());
    }
    let text = CqlType::of_class("UTF8Type").type_ref(&TYPES).to_text(column);
    invalid(format!(
        "Invalid cell for CQL3 table {}. The CQL3 column component ({text}) does not correspond to a defined CQL3 column",
        cf.name
    ))
}

/// Returns the type of the value in a cell of a column family, whether Thrift or CQL has created it.
pub fn type_of_value(cf: &CfDef, name: &Bytes) -> TypeRef {
    match &cf.table {
        Some(table) if table.layout == Layout::Sparse => value_validator(table, name),
        _ => cf.value_validator(name).clone(),
    }
}

/// Returns the type of the value in the cell with this name: the type of the elements or values in the cells of a
/// collection, of the field in a cell of a user-defined type, bytes for a row marker.
pub(super) fn value_validator(table: &TableDef, name: &Bytes) -> TypeRef {
    let place = table.place_of(name);
    let (column, element) = place.map(|place| (place.column, place.element)).unwrap_or_default();
    let column = column.and_then(|column| table.others.values().find(|other| other.cell_name == column));
    let value = match column.map(|column| &column.cql_type) {
        Some(CqlType::List { element, is_frozen: false }) => Some(&**element),
        Some(CqlType::Map { value, is_frozen: false, .. }) => Some(&**value),
        Some(CqlType::Set { is_frozen: false, .. }) | None => None,
        Some(CqlType::User { user, is_frozen: false }) => {
            let at =
                element.and_then(|element| <[u8; 2]>::try_from(&element[..]).ok()).map(u16::from_be_bytes);
            at.and_then(|at| user.fields.get(usize::from(at))).map(|(_, of)| of)
        }
        Some(single) => Some(single),
    };
    value.map_or_else(|| std::sync::Arc::new(BytesType) as TypeRef, |value| value.type_ref(&TYPES))
}

/// Returns whether describe_keyspace shows a column family. It hides CQL tables, except tables without any regular
/// column, which the old servers cannot distinguish from compact tables (1.2 cannot either if there is no clustering
/// column).
pub(super) fn is_shown(cf: &CfDef, release: Release) -> bool {
    let Some(table) = &cf.table else { return true };
    let has_regular = table.others.values().any(|column| column.kind == ColumnKind::Regular);
    !has_regular
        && (!table.clustering.is_empty() || Behaviour::of(release).schema.lists_tables_without_clustering)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use base::schema::TableColumn;

    fn column(name: &str, kind: ColumnKind, class: &str) -> TableColumn {
        let cell_name = Bytes::copy_from_slice(name.as_bytes());
        let cql_type = CqlType::of_class(class);
        TableColumn { name: name.to_owned(), kind, position: 0, cql_type, is_reversed: false, cell_name }
    }

    fn family(clustering: bool, others: &[(&str, &str)]) -> CfDef {
        let others: BTreeMap<String, TableColumn> = others
            .iter()
            .map(|(name, class)| ((*name).to_owned(), column(name, ColumnKind::Regular, class)))
            .collect();
        let mut cf = CfDef::new("k", "user2");
        cf.table = Some(Arc::new(TableDef {
            layout: Layout::Sparse,
            partition_key: vec![column("k", ColumnKind::PartitionKey, "Int32Type")],
            clustering: clustering
                .then(|| column("c", ColumnKind::Clustering, "UTF8Type"))
                .into_iter()
                .collect(),
            others,
            dropped: BTreeMap::new(),
        }));
        cf
    }

    #[test]
    fn cell_names_must_belong_to_a_defined_column() {
        let cf = family(true, &[("v", "Int32Type"), ("m", "MapType(UTF8Type,LongType)")]);
        let table = cf.table.clone().unwrap();
        let check = |name: &'static [u8]| check_name(&cf, &table, &Bytes::from_static(name));
        let error = |name: &'static [u8]| check(name).unwrap_err().to_string();
        assert!(check(b"\0\x01a\0\0\x01v\0").is_ok());
        assert!(check(b"\0\x01a\0\0\0\0").is_ok(), "the row's marker");
        assert_eq!(
            error(b"\0\x01a\0\0\x03abc\0"),
            "Invalid cell for CQL3 table user2. The CQL3 column component (abc) does not correspond to a defined CQL3 column"
        );
        assert_eq!(
            error(b"\0\x01a\0"),
            "Not enough components (found 1 but 2 expected) for column name since user2 is a CQL3 table"
        );
        let class = |name: &'static [u8]| {
            value_validator(&table, &Bytes::from_static(name))
                .class_name()
                .rsplit('.')
                .next()
                .map(str::to_owned)
        };
        assert_eq!(class(b"\0\x01a\0\0\x01v\0").as_deref(), Some("Int32Type"));
        assert_eq!(class(b"\0\x01a\0\0\x01m\0\0\x01x\0").as_deref(), Some("LongType"));
        assert_eq!(class(b"\0\x01a\0\0\0\0").as_deref(), Some("BytesType"));
    }

    #[test]
    fn tables_with_regular_columns_are_hidden_from_thrift() {
        let some = [("v", "Int32Type")];
        assert!(!is_shown(&family(true, &some), Release::V2_1));
        assert!(is_shown(&family(true, &[]), Release::V2_1));
        assert!(!is_shown(&family(false, &[]), Release::V2_1));
        assert!(is_shown(&family(false, &[]), Release::V1_2));
        assert!(is_shown(&CfDef::new("k", "thrift"), Release::V2_1));
    }
}
