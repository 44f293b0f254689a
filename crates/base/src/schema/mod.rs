//! The schema: keyspaces, column families, tables and user types, and the catalog of all of them.

mod catalog;
mod cf_def;
mod column_def;
mod compact_names;
mod cql_name;
mod family_name;
mod keyspace_def;
mod schema_change;
mod setting;
pub mod show;
mod stored;
mod stored_table;
mod stored_user_type;
mod system_keyspaces;
mod table_def;
mod table_names;
pub mod table_types;
mod thrift_table;

pub use catalog::{Catalog, StoredChanges};
pub use cf_def::{CfDef, CfLabels, ColumnType, FIRST_CF_ID};
pub use column_def::{ColumnDef, IndexDef, IndexKind};
pub use compact_names::CompactNames;
pub use cql_name::{is_reserved, name_text, quoted_name, quoted_text};
pub use family_name::FamilyName;
pub use keyspace_def::KeyspaceDef;
pub use schema_change::{ChangeKind, ChangedTarget, SchemaChange};
pub use setting::Setting;
pub use stored::{
    KeyspaceRecords, StoredError, family_to_json, is_same_family, keyspace_from_json, keyspace_from_records,
    keyspace_properties_to_json, keyspace_to_json, user_type_to_json,
};
pub use system_keyspaces::is_system_keyspace;
pub use table_def::{ColumnKind, DroppedColumn, Layout, TableColumn, TableDef};
pub use table_names::{CellPlace, row_key, row_key_parts};
