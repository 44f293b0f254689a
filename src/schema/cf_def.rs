//! One column family's definition.

use crate::marshal::TypeRef;

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
}

impl CfDef {
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
