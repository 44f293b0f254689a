//! CQL 2, the language of Cassandra 0.8 to 2.1: statements on column families as Thrift defines them.

mod change;
mod define;
mod lookup;
mod outcome;
mod properties;
mod select;
mod table;
mod time_text;
mod values;

pub use outcome::{Cql2Column, Cql2Outcome, Cql2Result, Cql2Row};
pub use properties::request_of;
use values::Cql2Values;

use super::journal_arguments::note_query;
use super::system::{is_system, system_view};
use super::{Execution, QueryState};
use crate::Result;
use crate::error::invalid;
use base::compat::features::releases::CQL_2;
use base::compat::texts;
use base::util::meter;
use base::util::meter::RequestKind;
use bytes::Bytes;
use cql_syntax::StatementTarget;
use cql_syntax::cql2::{Statement2, parse};

/// A parsed statement, which can be executed many times.
#[derive(Debug, Clone)]
pub struct Prepared2 {
    statement: Statement2,
    /// The number of markers; any term can be a marker, including names.
    pub markers: usize,
}

impl Prepared2 {
    /// Returns whether the statement only reads, whatever its values are: SELECT and USE.
    pub fn only_reads(&self) -> bool {
        matches!(self.statement, Statement2::Select(_) | Statement2::Use(_))
    }

    /// Returns the kind of the statement and the element that it works on.
    pub fn target(&self) -> StatementTarget {
        self.statement.target()
    }
}

/// Parses a statement.
pub fn prepare(text: &str) -> Result<Prepared2> {
    let (statement, markers) = parse(text)?;
    Ok(Prepared2 { statement, markers })
}

/// Parses and executes a statement.
pub fn execute<'a>(state: &'a QueryState<'a>, text: &'a str) -> Execution<'a, Cql2Outcome> {
    Box::pin(async move {
        note_query(state.database, text);
        run(state, &prepare(text)?, &[]).await
    })
}

/// Executes a statement with values for its markers.
pub fn run<'a>(
    state: &'a QueryState<'a>,
    prepared: &'a Prepared2,
    values: &'a [Bytes],
) -> Execution<'a, Cql2Outcome> {
    Box::pin(async move {
        if prepared.markers != values.len() {
            return invalid(texts::wrong_bound_count(CQL_2, prepared.markers, values.len()));
        }
        let target = prepared.statement.target();
        let keyspace = target.keyspace.as_deref().or(state.keyspace).unwrap_or_default();
        let view = system_view(state, keyspace.as_bytes());
        let state = &QueryState { database: view.as_ref().unwrap_or(state.database), ..*state };
        let values = Cql2Values { bound: values, state };
        match &prepared.statement {
            Statement2::Select(select) => {
                meter::within(Some(RequestKind::Range), select::run(state, select, values)).await
            }
            Statement2::Change(changes) => {
                meter::within(Some(RequestKind::Write), change::run(state, changes, values)).await
            }
            Statement2::Use(name) => match state.database.catalog().keyspace(name) {
                Some(_) => Ok(Cql2Outcome::Keyspace(name.clone())),
                None if is_system(name) => Ok(Cql2Outcome::Keyspace(name.clone())),
                None => invalid(texts::unknown_keyspace_of_use(CQL_2, name)),
            },
            Statement2::Truncate(table) => {
                meter::within(Some(RequestKind::Truncate), table::truncate(state, table)).await
            }
            Statement2::CreateKeyspace { name, properties } => {
                define::create_keyspace(state, name, properties).await
            }
            Statement2::DropKeyspace(name) => define::drop_keyspace(state, name).await,
            Statement2::CreateTable(create) => table::create(state, create).await,
            Statement2::AlterTable { table, alter } => table::alter(state, table, alter).await,
            Statement2::DropTable(table) => table::drop_table(state, table).await,
            Statement2::CreateIndex { name, table, column } => {
                define::create_index(state, name.as_deref(), table, column, values).await
            }
            Statement2::DropIndex(name) => define::drop_index(state, name).await,
        }
    })
}

#[cfg(test)]
mod tests;
