//! CQL: statements over the same cells that Thrift reads and writes.

pub mod cql2;
mod error;
mod options;
mod outcome;
mod run;
mod state;
pub mod syntax;
pub mod values;

pub use error::{CqlError, Place};
pub use options::{CollectionForm, QueryOptions};
pub use outcome::{ChangeKind, ChangedTarget, ColumnSpec, Outcome, ResultSet, SchemaChange};
pub use run::{Prepared, execute, prepare};
pub use state::{QueryState, Table};
