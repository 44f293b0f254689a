//! The schema that a server kept in its own tables: 0.7 to 1.0 in `system.Schema`, 1.1 to 2.2 in `system.schema_*`, 3.0 and
//! later in `system_schema`.
//!
//! ```text
//!   found             finds the schema
//!   found_schema      the schema that was found
//!   system_rows       rows of a server's own tables  schema_tables    their names and keys
//!   versioned_table   `system.Schema`            avro             its values
//!   old_tables        `system.schema_keyspaces`, `schema_columnfamilies`, `schema_columns`, `schema_usertypes`
//!   new_tables        `system_schema.keyspaces`, `tables`, `columns`, `types`, `indexes`, `dropped_columns`
//!   table_settings    settings of all releases   left_out         triggers, functions, views
//!   cql_table         a table of CQL             table_statement  CREATE TABLE          vectors   vectors as blobs
//!   define            creates the objects that the target does not have
//! ```
//!
//! Tables of CQL are created by statements. Column families without them, which CQL can describe in part only, become
//! definitions as Thrift clients send them.

mod avro;
mod cql_table;
mod define;
mod found;
mod found_schema;
mod left_out;
mod new_tables;
mod old_tables;
mod schema_tables;
mod system_rows;
mod table_settings;
mod table_statement;
mod vectors;
mod versioned_table;

pub use define::Defined;
pub(crate) use found::ServerTable;
pub(super) use found::family_ids;
pub use found_schema::{FoundSchema, SchemaSource};
pub(crate) use schema_tables::{NEW_TABLES, OLD_TABLES, OLD_USER_TYPES, SchemaTable, SchemaTables};
pub(super) use system_rows::read as read_system_rows;
pub(crate) use system_rows::{SchemaRow, rows_of_cells};
pub(super) use vectors::{VectorClasses, vector_classes};
