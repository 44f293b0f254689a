//! What is defined: keyspaces, their column families, and the catalog that holds them.

mod catalog;
mod cf_def;
mod keyspace_def;

pub use catalog::Catalog;
pub use cf_def::{CfDef, CfLabels, ColumnType};
pub use keyspace_def::KeyspaceDef;
