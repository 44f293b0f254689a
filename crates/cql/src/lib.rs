//! CQL: statements on the same cells that Thrift reads and writes.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]

mod access;
mod column_text;
mod comma_list;
pub mod cql2;
pub mod define;
mod describe;
mod error;
mod explain;
mod journal_arguments;
pub mod json;
pub mod limits;
mod marker_note;
pub mod modify;
mod options;
mod outcome;
mod prepared;
mod relation_text;
pub mod remote;
mod run;
mod run_script;
mod select;
mod state;
mod stored_row;
pub mod system;
pub mod values;

pub use describe::definitions_of;
pub use error::CqlError;
pub use explain::explain;
pub use marker_note::{MarkerSpec, marker_notes};
pub use options::QueryOptions;
pub use outcome::{ChangeKind, ChangedTarget, ColumnSpec, Outcome, ResultSet, SchemaChange};
pub use prepared::{PreparedStatements, unknown_statement, unprepared};
pub use run::{
    Execution, Prepared, check_batch_values, execute_batch, execute_once, execute_prepared, prepare, query,
};
pub use run_script::{ScriptError, ScriptOutcome, error_text, run_script, run_script_of_operator};
pub use select::{AccessPath, PathIndex, PathPartitions, Reach};
pub use state::{QueryState, Table, TypesOf};
pub use stored_row::stored_row;
