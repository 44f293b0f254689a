//! The form in which a table's declaration and user types are kept.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{ColumnKind, CompactNames, DroppedColumn, Layout, TableColumn, TableDef};
use crate::marshal::{CqlType, UserType};

/// A table without COMPACT STORAGE: those with it are told by their column families.
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
    /// Older schemas do not tell it.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    is_static: bool,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct StoredTableColumn {
    name: String,
    #[serde(rename = "type")]
    class: String,
    #[serde(default, skip_serializing_if = "is_false")]
    is_static: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    is_reversed: bool,
}

#[derive(PartialEq, Serialize, Deserialize, Default)]
pub(super) struct StoredNames {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    partition_key: Vec<Option<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clustering: Vec<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

#[derive(PartialEq, Serialize, Deserialize)]
pub(super) struct StoredUserType {
    name: String,
    fields: Vec<(String, String)>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl StoredTable {
    pub fn of(table: &TableDef) -> StoredTable {
        StoredTable {
            partition_key: table.partition_key.iter().map(StoredTableColumn::of).collect(),
            clustering: table.clustering.iter().map(StoredTableColumn::of).collect(),
            columns: table.others.values().map(StoredTableColumn::of).collect(),
            dropped: table.dropped.iter().map(StoredDrop::of).collect(),
        }
    }

    pub fn restore(self) -> TableDef {
        let all = |columns: Vec<StoredTableColumn>, kind: ColumnKind| -> Vec<TableColumn> {
            columns.into_iter().enumerate().map(|(position, column)| column.restore(kind, position)).collect()
        };
        let others = self.columns.into_iter().map(|column| {
            let kind = if column.is_static { ColumnKind::Static } else { ColumnKind::Regular };
            (column.name.clone(), column.restore(kind, 0))
        });
        TableDef {
            layout: Layout::Sparse,
            partition_key: all(self.partition_key, ColumnKind::PartitionKey),
            clustering: all(self.clustering, ColumnKind::Clustering),
            others: others.collect(),
            dropped: self.dropped.into_iter().map(StoredDrop::restore).collect(),
        }
    }
}

impl StoredDrop {
    fn of((name, column): (&Bytes, &DroppedColumn)) -> StoredDrop {
        StoredDrop {
            name: String::from_utf8_lossy(name).into_owned(),
            at_us: column.at_us,
            class: Some(column.cql_type.class_name()),
            is_static: column.is_static,
        }
    }

    fn restore(self) -> (Bytes, DroppedColumn) {
        let cql_type = CqlType::of_class(self.class.as_deref().unwrap_or_default());
        (
            self.name.into_bytes().into(),
            DroppedColumn { at_us: self.at_us, is_static: self.is_static, cql_type },
        )
    }
}

impl StoredTableColumn {
    fn of(column: &TableColumn) -> StoredTableColumn {
        StoredTableColumn {
            name: column.name.clone(),
            class: column.cql_type.class_name(),
            is_static: column.kind == ColumnKind::Static,
            is_reversed: column.is_reversed,
        }
    }

    fn restore(self, kind: ColumnKind, position: usize) -> TableColumn {
        TableColumn {
            cell_name: self.name.clone().into_bytes().into(),
            cql_type: CqlType::of_class(&self.class),
            is_reversed: self.is_reversed,
            name: self.name,
            kind,
            position,
        }
    }
}

impl StoredNames {
    pub fn of(names: &CompactNames) -> StoredNames {
        let CompactNames { partition_key, clustering, value } = names.clone();
        StoredNames { partition_key, clustering, value }
    }

    pub fn restore(self) -> CompactNames {
        CompactNames { partition_key: self.partition_key, clustering: self.clustering, value: self.value }
    }

    pub fn is_default(&self) -> bool {
        self.partition_key.is_empty() && self.clustering.is_empty() && self.value.is_none()
    }
}

impl StoredUserType {
    pub fn of(user_type: &UserType) -> StoredUserType {
        let field = |(name, cql_type): &(String, CqlType)| (name.clone(), cql_type.class_name());
        StoredUserType { name: user_type.name.clone(), fields: user_type.fields.iter().map(field).collect() }
    }

    pub fn restore(self, keyspace: &str) -> Arc<UserType> {
        let field = |(name, class): (String, String)| (name, CqlType::of_class(&class));
        let fields = self.fields.into_iter().map(field).collect();
        Arc::new(UserType { keyspace: keyspace.to_owned(), name: self.name, fields })
    }
}
