//! The stored form of a CQL table.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{ColumnKind, DroppedColumn, KeyspaceDef, Layout, TableColumn, TableDef};
use crate::marshal::CqlType;

/// A table without COMPACT STORAGE. Tables with it are derived from their column families.
#[derive(PartialEq, Serialize, Deserialize)]
pub(super) struct StoredTable {
    partition_key: Vec<StoredTableColumn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clustering: Vec<StoredTableColumn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<StoredTableColumn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<StoredDrop>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct StoredDrop {
    name: String,
    /// Microseconds since 1970.
    at_us: i64,
    /// Missing in records of older versions.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    is_static: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    has_cells_of_fields: bool,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct StoredTableColumn {
    name: String,
    #[serde(rename = "type")]
    class: String,
    #[serde(default, skip_serializing_if = "is_false")]
    is_static: bool,
    /// Whether it is a user-defined type that is not frozen. Its class is the same.
    #[serde(default, skip_serializing_if = "is_false")]
    has_cells_of_fields: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    is_reversed: bool,
}

/// The ways to encode types.
#[derive(Clone, Copy)]
pub(super) enum ClassForm {
    /// As full class names, which every version can read.
    Full,
    /// With user types by keyspace and name: these have their own records.
    ByName,
}

impl ClassForm {
    pub(super) fn class_of(self, cql_type: &CqlType) -> String {
        match self {
            ClassForm::Full => cql_type.class_name(),
            ClassForm::ByName => cql_type.class_by_name(),
        }
    }
}

/// Returns the type of a class name, with user types of the keyspace. A user type has a cell for each field if the
/// record says so.
fn type_of(class: &str, has_cells_of_fields: bool, keyspace: &KeyspaceDef) -> CqlType {
    let find =
        |of: &str, name: &str| (of == keyspace.name).then(|| keyspace.user_types.get(name).cloned())?;
    let found = CqlType::of_class_with(class, &find);
    if has_cells_of_fields { found.with_cells_of_fields() } else { found }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl StoredTable {
    pub(super) fn of(table: &TableDef, form: ClassForm) -> StoredTable {
        let of_column = |column: &TableColumn| StoredTableColumn::of(column, form);
        StoredTable {
            partition_key: table.partition_key.iter().map(of_column).collect(),
            clustering: table.clustering.iter().map(of_column).collect(),
            columns: table.others.values().map(of_column).collect(),
            dropped: table.dropped.iter().map(|(name, column)| StoredDrop::of(name, column, form)).collect(),
        }
    }

    /// Returns the table, with user types of the keyspace.
    pub(super) fn restore(self, keyspace: &KeyspaceDef) -> TableDef {
        let all = |columns: Vec<StoredTableColumn>, kind: ColumnKind| -> Vec<TableColumn> {
            columns
                .into_iter()
                .enumerate()
                .map(|(position, column)| column.restore(kind, position, keyspace))
                .collect()
        };
        let others = self.columns.into_iter().map(|column| {
            let kind = if column.is_static { ColumnKind::Static } else { ColumnKind::Regular };
            (column.name.clone(), column.restore(kind, 0, keyspace))
        });
        TableDef {
            layout: Layout::Sparse,
            partition_key: all(self.partition_key, ColumnKind::PartitionKey),
            clustering: all(self.clustering, ColumnKind::Clustering),
            others: others.collect(),
            dropped: self.dropped.into_iter().map(|dropped| dropped.restore(keyspace)).collect(),
        }
    }
}

impl StoredDrop {
    fn of(name: &Bytes, column: &DroppedColumn, form: ClassForm) -> StoredDrop {
        StoredDrop {
            name: String::from_utf8_lossy(name).into_owned(),
            at_us: column.at_us,
            class: Some(form.class_of(&column.cql_type)),
            is_static: column.is_static,
            has_cells_of_fields: column.cql_type.multi_cell_user_type().is_some(),
        }
    }

    fn restore(self, keyspace: &KeyspaceDef) -> (Bytes, DroppedColumn) {
        let class = self.class.as_deref().unwrap_or_default();
        let cql_type = type_of(class, self.has_cells_of_fields, keyspace);
        (
            self.name.into_bytes().into(),
            DroppedColumn { at_us: self.at_us, is_static: self.is_static, cql_type },
        )
    }
}

impl StoredTableColumn {
    fn of(column: &TableColumn, form: ClassForm) -> StoredTableColumn {
        StoredTableColumn {
            name: column.name.clone(),
            class: form.class_of(&column.cql_type),
            is_static: column.kind == ColumnKind::Static,
            has_cells_of_fields: column.cql_type.multi_cell_user_type().is_some(),
            is_reversed: column.is_reversed,
        }
    }

    fn restore(self, kind: ColumnKind, position: usize, keyspace: &KeyspaceDef) -> TableColumn {
        TableColumn {
            cell_name: self.name.clone().into_bytes().into(),
            cql_type: type_of(&self.class, self.has_cells_of_fields, keyspace),
            is_reversed: self.is_reversed,
            name: self.name,
            kind,
            position,
        }
    }
}
