//! Statements for a store that is a cluster, which executes them itself.
//!
//! The session's state stays here: its keyspace, which is written into the text, its user and permissions, and the
//! prepared statements of clients. Users and roles are this server's own, so statements about them are not sent to the
//! cluster.

mod guard;
mod kept;
mod statement;
mod values;

use std::sync::Arc;

use bytes::Bytes;

pub use kept::{RemotePrepared, RemoteStatements};
use statement::{RemoteStatement, StatementRoute};
use values::{column, result, sent_form};

use super::{Execution, Outcome, QueryOptions, QueryState, access};
use crate::Result;
use crate::error::invalid;
use base::compat::texts;
use base::model::{BoundValue, StatementId};
use cql_syntax::StatementTarget;
use store::{RemoteCql, RemoteLevels};

/// Executes a statement without values.
pub fn query<'a>(
    state: &'a QueryState<'a>,
    remote: &'a dyn RemoteCql,
    text: &'a str,
    options: &'a QueryOptions,
) -> Execution<'a> {
    Box::pin(async move {
        let statement = RemoteStatement::read(text, state.keyspace)?;
        check(state, remote, &statement).await?;
        match &statement.route {
            StatementRoute::LocalStatement(_) => run_here(state, remote, &statement).await,
            StatementRoute::There { sent, is_paged } => {
                let outcome = remote.query(sent, levels(options, *is_paged)).await;
                result(outcome.map_err(db::Error::from)?, &statement, state)
            }
        }
    })
}

/// Returns the kind of a statement and the table that it works on, and whether it only reads.
pub fn target(text: &str) -> Result<(StatementTarget, bool)> {
    let statement = RemoteStatement::read(text, None)?;
    Ok((statement.target(), statement.only_reads()))
}

/// Prepares a statement and stores it for all connections.
pub fn prepare<'a>(
    state: &'a QueryState<'a>,
    remote: &'a dyn RemoteCql,
    statements: &'a RemoteStatements,
    text: &'a str,
    id: StatementId,
) -> Execution<'a, Arc<RemotePrepared>> {
    Box::pin(async move {
        kept::check_length(text)?;
        let statement = RemoteStatement::read(text, state.keyspace)?;
        check(state, remote, &statement).await?;
        let markers = match &statement.route {
            StatementRoute::LocalStatement(_) => Vec::new(),
            StatementRoute::There { sent, .. } => remote.prepare(sent).await.map_err(db::Error::from)?,
        };
        let markers = markers.into_iter().map(|marker| column(marker, state.behaviour.release)).collect();
        let keyspace = state.keyspace.map(str::to_owned);
        let prepared = Arc::new(RemotePrepared { statement, keyspace, markers });
        statements.keep(id, prepared.clone());
        Ok(prepared)
    })
}

/// Executes a prepared statement with the values of its markers.
pub fn execute_prepared<'a>(
    state: &'a QueryState<'a>,
    remote: &'a dyn RemoteCql,
    prepared: &'a RemotePrepared,
    options: &'a QueryOptions,
) -> Execution<'a> {
    Box::pin(async move {
        // Its names are in the keyspace in which it was prepared, whatever keyspace the session uses now.
        let state = &QueryState { keyspace: prepared.keyspace.as_deref(), ..*state };
        check(state, remote, &prepared.statement).await?;
        let (markers, values) = (prepared.markers.len(), options.values.len());
        if markers != values {
            return invalid(texts::wrong_bound_count(state.behaviour, markers, values));
        }
        match &prepared.statement.route {
            StatementRoute::LocalStatement(_) => run_here(state, remote, &prepared.statement).await,
            StatementRoute::There { sent, is_paged } => {
                let values = bound(prepared, options)?;
                let outcome = remote.execute(sent, &values, levels(options, *is_paged)).await;
                result(outcome.map_err(db::Error::from)?, &prepared.statement, state)
            }
        }
    })
}

async fn check(state: &QueryState<'_>, remote: &dyn RemoteCql, statement: &RemoteStatement) -> Result<()> {
    if statement.is_definition() {
        // Another server may have just created the element that the statement changes.
        state.database.stored_schema().refresh().await?;
    }
    guard::check(state, remote, statement)
}

/// Returns the values in the form that a cluster requires.
fn bound(prepared: &RemotePrepared, options: &QueryOptions) -> Result<Vec<Bytes>> {
    let values = prepared.markers.iter().zip(&options.values).map(|(marker, value)| match value {
        BoundValue::Value(bytes) => sent_form(&marker.cql_type, bytes, options.collection_form),
        BoundValue::Null | BoundValue::Unset => invalid(format!("the value of {} is missing", marker.name)),
    });
    values.collect()
}

fn levels(options: &QueryOptions, is_paged: bool) -> RemoteLevels {
    let QueryOptions { consistency, serial_consistency, .. } = *options;
    RemoteLevels { consistency, serial_consistency, is_paged }
}

/// Executes a statement that concerns only the session or this server.
async fn run_here(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    statement: &RemoteStatement,
) -> Result<Outcome> {
    match &statement.route {
        StatementRoute::LocalStatement(statement::LocalStatement::Use(keyspace)) => {
            check_keyspace(state, remote, keyspace).await?;
            Ok(Outcome::Keyspace(keyspace.clone()))
        }
        StatementRoute::LocalStatement(statement::LocalStatement::Access(statement)) => {
            access::run(state, statement).await
        }
        StatementRoute::There { .. } => Ok(Outcome::Void),
    }
}

/// Checks whether a session may use a keyspace, which is one of ours or another one of the cluster.
pub fn check_keyspace<'a>(
    state: &'a QueryState<'a>,
    remote: &'a dyn RemoteCql,
    keyspace: &'a str,
) -> Execution<'a, ()> {
    Box::pin(async move {
        guard::check_open(remote, keyspace)?;
        let Err(unknown) = state.database.describe(state.behaviour).check_keyspace(keyspace.as_bytes())
        else {
            return Ok(());
        };
        if remote.has_keyspace(keyspace).await.map_err(db::Error::from)? {
            return Ok(());
        }
        Err(unknown.into())
    })
}
