//! CQL 3, and CQL 2 ([`cql2`]): executes statements on the same cells that Thrift reads and writes.
//!
//! ```text
//!   SELECT title FROM books WHERE author = ?      its text, parsed by the crate cql_syntax
//!        |
//!     prepare              finds names in the schema, checks types, plans           Prepared
//!        |                   select, modify    partition: the value of ?; column: title
//!        |                   define, access    planned when they are executed
//!     execute_prepared     binds the values: 'austen'                               QueryOptions
//!        |                   the rights of the user, then reads or writes of db     QueryState
//!        v
//!   [['Emma']]             the rows, as bytes of their types                        Outcome
//! ```
//!
//! [`query`] does all of it, and [`run_script()`] does it with each statement of a text. A [`QueryState`] is the session:
//! database, release, keyspace and user. A [`Prepared`] statement is kept in [`PreparedStatements`] and planned again
//! once the schema has changed. A [`CqlError`] has a kind for each error code of the native protocol. [`remote`] sends
//! texts to a cluster instead; [`explain()`] tells the cells that a statement reads and writes.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

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
mod modify;
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
mod system;
pub mod values;

pub use describe::definitions_of;
pub use error::{CqlError, Result};
pub use explain::explain;
pub use marker_note::{MarkerSpec, marker_notes};
pub use options::QueryOptions;
pub use outcome::{ChangeKind, ChangedTarget, ColumnSpec, Outcome, ResultSet, SchemaChange};
pub use prepared::{PreparedStatements, unknown_statement, unprepared};
pub use run::{
    Execution, Prepared, check_batch_values, execute_batch, execute_once, execute_prepared, prepare,
    prepare_shared, query,
};
pub use run_script::{ScriptError, ScriptOutcome, error_text, run_script, run_script_of_operator};
pub use select::{AccessPath, PathIndex, PathPartitions, Reach, RowAssembler};
pub use state::{QueryState, Table, TypesOf};
pub use stored_row::stored_row;
pub use system::system_view;
