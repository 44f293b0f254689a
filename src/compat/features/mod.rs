//! The features of releases: syntax and types of CQL, fields of structs, consistency levels, classes, versions.

mod cf_fields;
mod claim;
mod compaction;
mod consistency;
mod family;
mod language;
pub mod releases;
pub mod syntax;
mod versions;

pub use cf_fields::{CF_FIELDS, CfField, FieldDefault, FieldKind};
pub use claim::Claim;
pub use compaction::{compaction_options, has_compressor};
pub use consistency::{ConsistencyLevel, consistency_of};
pub use family::Family;
pub use language::Language;
pub use syntax::Syntax;
pub use versions::{api_version, cql3_version};
