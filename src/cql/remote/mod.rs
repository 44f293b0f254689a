//! Statements for a store that is a cluster: it runs them itself.
//!
//! What is the session's stays here: its keyspace, which is written into the text, its user and what they may do, and
//! the statements that clients have prepared. Users and roles are this server's own, so statements about them do not
//! reach the cluster.

mod guard;
mod kept;
mod statement;
mod values;

use std::sync::Arc;

use bytes::Bytes;

pub use kept::{RemotePrepared, RemoteStatements};
use statement::{RemoteStatement, Route};
use values::{column, result, sent_form};

use super::{BoundValue, CqlError, Outcome, QueryOptions, QueryState, StatementId, access};
use crate::compat::texts;
use crate::db;
use crate::storage::{RemoteCql, RemoteLevels};

/// Runs a statement whose text comes without values.
pub async fn query(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    text: &str,
    options: &QueryOptions,
) -> Result<Outcome, CqlError> {
    let statement = RemoteStatement::read(text, state.keyspace)?;
    check(state, remote, &statement).await?;
    match &statement.route {
        Route::LocalStatement(_) => run_here(state, remote, &statement).await,
        Route::There { sent, is_paged } => {
            let outcome = remote.query(sent, levels(options, *is_paged)).await;
            result(outcome.map_err(db::Error::from)?, &statement, state)
        }
    }
}

/// Prepares a statement and keeps it, for all connections.
pub async fn prepare(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    statements: &RemoteStatements,
    text: &str,
    id: StatementId,
) -> Result<Arc<RemotePrepared>, CqlError> {
    kept::check_length(text)?;
    let statement = RemoteStatement::read(text, state.keyspace)?;
    check(state, remote, &statement).await?;
    let markers = match &statement.route {
        Route::LocalStatement(_) => Vec::new(),
        Route::There { sent, .. } => remote.prepare(sent).await.map_err(db::Error::from)?,
    };
    let markers = markers.into_iter().map(|marker| column(marker, state.behaviour.release)).collect();
    let keyspace = state.keyspace.map(str::to_owned);
    let prepared = Arc::new(RemotePrepared { statement, keyspace, markers });
    statements.keep(id, prepared.clone());
    Ok(prepared)
}

/// Runs a prepared statement with the values that its markers stand for.
pub async fn execute_prepared(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    prepared: &RemotePrepared,
    options: &QueryOptions,
) -> Result<Outcome, CqlError> {
    // Its names are in the keyspace in which it was prepared, whatever the session uses by now.
    let state = &QueryState { keyspace: prepared.keyspace.as_deref(), ..*state };
    check(state, remote, &prepared.statement).await?;
    let (markers, values) = (prepared.markers.len(), options.values.len());
    if markers != values {
        return Err(CqlError::invalid(texts::wrong_bound_count(state.behaviour, markers, values)));
    }
    match &prepared.statement.route {
        Route::LocalStatement(_) => run_here(state, remote, &prepared.statement).await,
        Route::There { sent, is_paged } => {
            let values = bound(prepared, options)?;
            let outcome = remote.execute(sent, &values, levels(options, *is_paged)).await;
            result(outcome.map_err(db::Error::from)?, &prepared.statement, state)
        }
    }
}

async fn check(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    statement: &RemoteStatement,
) -> Result<(), CqlError> {
    if statement.is_definition() {
        // Another server may have made just now what is to be changed.
        state.database.stored_schema().refresh().await?;
    }
    guard::check(state, remote, statement)
}

/// The values as a cluster wants them.
fn bound(prepared: &RemotePrepared, options: &QueryOptions) -> Result<Vec<Bytes>, CqlError> {
    let value = |(marker, value): (&super::ColumnSpec, &BoundValue)| match value {
        BoundValue::Value(bytes) => sent_form(&marker.cql_type, bytes, options.collection_form),
        BoundValue::Null | BoundValue::Unset => {
            Err(CqlError::invalid(format!("the value of {} is not there", marker.name)))
        }
    };
    prepared.markers.iter().zip(&options.values).map(value).collect()
}

fn levels(options: &QueryOptions, is_paged: bool) -> RemoteLevels {
    let QueryOptions { consistency, serial_consistency, .. } = *options;
    RemoteLevels { consistency, serial_consistency, is_paged }
}

/// Runs what is the session's or this server's own.
async fn run_here(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    statement: &RemoteStatement,
) -> Result<Outcome, CqlError> {
    match &statement.route {
        Route::LocalStatement(statement::LocalStatement::Use(keyspace)) => {
            check_keyspace(state, remote, keyspace).await?;
            Ok(Outcome::Keyspace(keyspace.clone()))
        }
        Route::LocalStatement(statement::LocalStatement::Access(statement)) => {
            access::run(state, statement).await
        }
        Route::There { .. } => Ok(Outcome::Void),
    }
}

/// Whether a session may use a keyspace: one of ours or one that the cluster has besides.
pub async fn check_keyspace(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    keyspace: &str,
) -> Result<(), CqlError> {
    guard::check_open(remote, keyspace)?;
    let Err(unknown) = state.database.describe(state.behaviour).check_keyspace(keyspace.as_bytes()) else {
        return Ok(());
    };
    if remote.has_keyspace(keyspace).await.map_err(db::Error::from)? {
        return Ok(());
    }
    Err(unknown.into())
}
