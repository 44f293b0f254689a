//! The features of releases: syntax and types of CQL, fields of structs, consistency levels, classes, versions.

mod api_generation;
mod cf_fields;
mod compaction;
mod consistency;
mod language;
pub mod releases;
mod reported_version;
pub mod restrictions;
pub mod syntax;
mod system_columns;
mod system_families;
mod versions;

pub use api_generation::ApiGeneration;
pub use cf_fields::{CF_FIELDS, CfField, FieldDefault, FieldKind};
pub use compaction::{compaction_options, has_compressor};
pub use consistency::{ConsistencyLevel, consistency_of};
pub use language::{Language, is_function_of_2_2};
pub use reported_version::ReportedVersion;
pub use restrictions::LaterFeature;
pub use syntax::Syntax;
pub use system_columns::{
    SCHEMA_LISTS_SYSTEM, SYSTEM_COLUMNS, SYSTEM_ROWS_HAVE_MARKERS, SystemColumn, SystemValue,
};
pub use system_families::{SYSTEM_COLUMN_FAMILIES, SystemFamily};
pub use versions::{api_version, cql3_version, last_version};
