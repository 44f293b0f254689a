//! One column family's definition.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{ColumnDef, CompactNames, Setting, TableDef};
use crate::marshal::{BytesType, COUNTER_COLUMN_TYPE, TypeRef};

/// Whether the columns of a row hold values or further columns.
#[derive(Debug, Clone)]
pub enum ColumnType {
    Standard,
    /// Super columns, whose own columns sort by this type.
    Super {
        subcomparator: TypeRef,
    },
}

/// Words that 0.4 lets a schema choose for describe_keyspace's "Desc" and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CfLabels {
    pub super_column_map: String,
    pub super_column_key: String,
    pub column_map: String,
    pub column_key: String,
    pub column_value: String,
    pub column_timestamp: String,
}

impl Default for CfLabels {
    fn default() -> CfLabels {
        CfLabels {
            super_column_map: "SUPER_COLUMN_MAP".into(),
            super_column_key: "SUPER_COLUMN_KEY".into(),
            column_map: "COLUMN_MAP".into(),
            column_key: "COLUMN_KEY".into(),
            column_value: "COLUMN_VALUE".into(),
            column_timestamp: "COLUMN_TIMESTAMP".into(),
        }
    }
}

/// A column family: its names' types and its settings.
#[derive(Debug, Clone)]
pub struct CfDef {
    pub keyspace: String,
    pub name: String,
    pub column_type: ColumnType,
    /// Sorts the columns of a row; the super columns of a Super column family.
    pub comparator: TypeRef,
    pub comment: Option<String>,
    pub labels: CfLabels,
    /// Seconds for which tombstones are kept.
    pub gc_grace_s: i32,
    /// 0.4 shows it in describe_keyspace; nothing is flushed by it.
    pub flush_period_minutes: i32,
    /// The number that 0.7 to 1.1 know it by; theirs begin at 1000.
    pub id: i32,
    /// What values are, where a column has no definition of its own.
    pub default_validator: TypeRef,
    /// What row keys are; `None` takes any bytes.
    pub key_validator: Option<TypeRef>,
    /// What CQL calls the row key.
    pub key_alias: Option<Bytes>,
    /// Columns with definitions of their own, by name; inside super columns in a Super column family.
    pub column_metadata: BTreeMap<Bytes, ColumnDef>,
    /// What clients have said and this server only repeats.
    pub settings: BTreeMap<String, Setting>,
    /// What CREATE TABLE said of a table without COMPACT STORAGE; `None` for all others, which the types and the
    /// columns above tell.
    pub table: Option<Arc<TableDef>>,
    /// What CQL calls the columns of the others.
    pub names: CompactNames,
    /// The column families that hold its indexes, by the columns' names. Clients do not see them.
    pub index_families: BTreeMap<Bytes, Arc<CfDef>>,
}

/// Numbers of column families begin here, as in 0.7.
pub const FIRST_CF_ID: i32 = 1000;

impl CfDef {
    /// A Standard column family of bytes, with the defaults of every release.
    pub fn new(keyspace: &str, name: &str) -> CfDef {
        CfDef {
            keyspace: keyspace.to_owned(),
            name: name.to_owned(),
            column_type: ColumnType::Standard,
            comparator: Arc::new(BytesType),
            comment: None,
            labels: CfLabels::default(),
            gc_grace_s: 864_000,
            flush_period_minutes: 0,
            id: FIRST_CF_ID,
            default_validator: Arc::new(BytesType),
            key_validator: None,
            key_alias: None,
            column_metadata: BTreeMap::new(),
            settings: BTreeMap::new(),
            table: None,
            names: CompactNames::default(),
            index_families: BTreeMap::new(),
        }
    }

    /// Gives each indexed column the column family that its index is kept in. Its name cannot be a client's:
    /// theirs have no full stop.
    #[must_use]
    pub fn with_indexes(mut self) -> CfDef {
        let index = |column: &ColumnDef| {
            let hex: String = column.name.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = format!("{}.{hex}", self.name);
            let family = CfDef { gc_grace_s: self.gc_grace_s, ..CfDef::new(&self.keyspace, &name) };
            (column.name.clone(), Arc::new(family))
        };
        self.index_families = self.indexed_columns().map(index).collect();
        self
    }

    /// Whether its columns are counters.
    pub fn is_counter(&self) -> bool {
        self.default_validator.class_name() == COUNTER_COLUMN_TYPE
    }

    /// What the values of a column are.
    pub fn value_validator(&self, name: &[u8]) -> &TypeRef {
        self.column_metadata.get(name).map_or(&self.default_validator, |column| &column.validator)
    }

    /// Columns that are indexed.
    pub fn indexed_columns(&self) -> impl Iterator<Item = &ColumnDef> {
        self.column_metadata.values().filter(|column| column.index.is_some())
    }

    /// Seconds after which columns expire that are written without a time of their own (2.0 and later).
    pub fn default_ttl_s(&self) -> Option<i32> {
        match self.settings.get("default_time_to_live") {
            Some(Setting::Int(seconds)) if *seconds > 0 => Some(*seconds),
            _ => None,
        }
    }

    pub fn is_super(&self) -> bool {
        matches!(self.column_type, ColumnType::Super { .. })
    }

    /// The type of the columns inside a super column; `None` in a Standard column family.
    pub fn subcomparator(&self) -> Option<&TypeRef> {
        match &self.column_type {
            ColumnType::Standard => None,
            ColumnType::Super { subcomparator } => Some(subcomparator),
        }
    }

    /// `"Standard"` or `"Super"`.
    pub fn type_name(&self) -> &'static str {
        match self.column_type {
            ColumnType::Standard => "Standard",
            ColumnType::Super { .. } => "Super",
        }
    }
}
