//! The definition of a column family.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{ColumnDef, CompactNames, Setting, TableDef};
use crate::marshal::{BytesType, COUNTER_COLUMN_TYPE, TypeRef};
use crate::util::hex;

/// Whether the columns of a row have values or are super columns.
#[derive(Debug, Clone)]
pub enum ColumnType {
    /// Columns hold values.
    Standard,
    /// Super columns, with the comparator of the columns in them.
    Super {
        /// Sorts the columns in a super column.
        subcomparator: TypeRef,
    },
}

/// Labels that a schema of 0.4 can define. They are only used in the "Desc" of describe_keyspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CfLabels {
    /// The word for the super columns of a row.
    pub super_column_map: String,
    /// The word for the name of a super column.
    pub super_column_key: String,
    /// The word for the columns of a row or of a super column.
    pub column_map: String,
    /// The word for the name of a column.
    pub column_key: String,
    /// The word for the value of a column.
    pub column_value: String,
    /// The word for the timestamp of a column.
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

/// A column family: its comparators, validators and settings.
#[derive(Debug, Clone)]
pub struct CfDef {
    /// The name of the keyspace that the column family is in.
    pub keyspace: String,
    /// Unique in the keyspace.
    pub name: String,
    /// Standard or Super.
    pub column_type: ColumnType,
    /// The comparator of a row's columns, which are super columns in a Super column family.
    pub comparator: TypeRef,
    /// Free text for people; it has no effect.
    pub comment: Option<String>,
    /// The words of 0.4's describe_keyspace.
    pub labels: CfLabels,
    /// gc_grace: seconds for which tombstones are kept.
    pub gc_grace_s: i32,
    /// 0.4 returns it in describe_keyspace. It has no effect.
    pub flush_period_minutes: i32,
    /// The id that 0.7 to 1.1 return to clients.
    pub id: i32,
    /// The validator of values in columns without a definition.
    pub default_validator: TypeRef,
    /// The validator of row keys. `None` accepts any bytes.
    pub key_validator: Option<TypeRef>,
    /// The name of the row key in CQL.
    pub key_alias: Option<Bytes>,
    /// Definitions of columns, by name. In a Super column family, of columns in super columns.
    pub column_metadata: BTreeMap<Bytes, ColumnDef>,
    /// Settings that clients have set and that this server only returns.
    pub settings: BTreeMap<String, Setting>,
    /// The table, if it was created by CREATE TABLE without COMPACT STORAGE. `None` for all others, whose table is
    /// derived from the types and columns above.
    pub table: Option<Arc<TableDef>>,
    /// The names of the other tables' columns in CQL.
    pub names: CompactNames,
    /// The column families of its indexes, by the columns' names. Clients cannot see them.
    pub index_families: BTreeMap<Bytes, Arc<CfDef>>,
}

/// The first id of a column family, as in 0.7.
pub const FIRST_CF_ID: i32 = 1000;

impl CfDef {
    /// Returns whether the column family holds the entries of an index, which clients cannot see. No other has a full
    /// stop in its name.
    pub fn is_index(&self) -> bool {
        self.name.contains('.')
    }

    /// Returns a Standard column family of BytesType with the defaults of all releases.
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

    /// Adds the column family of the index of each indexed column. Its name cannot be one of a client's, since those
    /// have no full stop.
    #[must_use]
    pub fn with_indexes(mut self) -> CfDef {
        let mut families = BTreeMap::new();
        for column in self.indexed_columns() {
            let name = format!("{}.{}", self.name, hex(&column.name));
            let family = CfDef { gc_grace_s: self.gc_grace_s, ..CfDef::new(&self.keyspace, &name) };
            families.insert(column.name.clone(), Arc::new(family));
        }
        self.index_families = families;
        self
    }

    /// Returns whether its columns are counters.
    pub fn is_counter(&self) -> bool {
        self.default_validator.class_name() == COUNTER_COLUMN_TYPE
    }

    /// Returns the validator of a column's values.
    pub fn value_validator(&self, name: &[u8]) -> &TypeRef {
        self.column_metadata.get(name).map_or(&self.default_validator, |column| &column.validator)
    }

    /// Returns the indexed columns.
    pub fn indexed_columns(&self) -> impl Iterator<Item = &ColumnDef> {
        self.column_metadata.values().filter(|column| column.index.is_some())
    }

    /// Returns the default time to live of columns, in seconds (2.0 and later).
    pub fn default_ttl_s(&self) -> Option<i32> {
        match self.settings.get("default_time_to_live") {
            Some(Setting::Int(seconds)) if *seconds > 0 => Some(*seconds),
            _ => None,
        }
    }

    /// Returns whether rows have super columns.
    pub fn is_super(&self) -> bool {
        matches!(self.column_type, ColumnType::Super { .. })
    }

    /// Returns the comparator of columns in super columns. `None` for a Standard column family.
    pub fn subcomparator(&self) -> Option<&TypeRef> {
        match &self.column_type {
            ColumnType::Standard => None,
            ColumnType::Super { subcomparator } => Some(subcomparator),
        }
    }

    /// Returns `"Standard"` or `"Super"`.
    pub fn type_name(&self) -> &'static str {
        match self.column_type {
            ColumnType::Standard => "Standard",
            ColumnType::Super { .. } => "Super",
        }
    }
}
