//! Runs QUERY, PREPARE, EXECUTE and BATCH.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::error::{FailedOperation, FailedStatement, NativeError};
use super::identity::Identity;
use super::metadata::result_id;
use super::request::{self, BatchItem, BatchRequest, BatchStatement, Execute};
use super::result::{KnownColumns, write_outcome, write_prepared};
use super::service::NativeService;
use crate::tracer::Tracer;
use base::model::StatementId;
use base::util::meter;
use cql::{CqlError, Outcome, Prepared, QueryOptions, QueryState};
use cql_syntax::BatchKind;
use wire::native::{BodyReader, MessageText, RequestCode};

/// The result of a statement.
pub struct StatementReply {
    /// The body of a RESULT.
    pub body: BytesMut,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

/// Runs a request with a statement.
pub async fn run(
    service: &NativeService,
    identity: &Identity,
    code: RequestCode,
    body: BodyReader,
    tracer: &Tracer<'_>,
) -> Result<StatementReply, FailedStatement> {
    match code {
        RequestCode::Query => query(service, identity, body, tracer).await,
        RequestCode::Prepare => prepare(service, identity, body, tracer).await,
        RequestCode::Execute => execute(service, identity, body, tracer).await,
        _ => batch(service, identity, body, tracer).await,
    }
}

async fn query(
    service: &NativeService,
    identity: &Identity,
    mut body: BodyReader,
    tracer: &Tracer<'_>,
) -> Result<StatementReply, FailedStatement> {
    let query = request::query(&mut body)?;
    let context = service.context(identity, body.version, query.parameters.keyspace.as_deref());
    let (state, options) = (service.state(&context), &query.parameters.options);
    let text = query.text.as_str();
    tracer.statement("Parsing", text);
    tracer.options(options);
    let prepared = meter::retried(|| cql::prepare(&state, text)).await?;
    tracer.step(|| "Executing statement".to_owned());
    let outcome = cql::execute_once(&state, &prepared, options).await;
    let outcome = outcome.map_err(|error| failed(error, doing(options, &prepared)))?;
    tracer.outcome(&outcome);
    enter(identity, &outcome);
    Ok(StatementReply {
        body: write_outcome(&outcome, &KnownColumns::default(), body.version),
        warnings: warnings(&outcome, Some(&*prepared)),
    })
}

/// Returns the text of a request's statement; for a batch the text of the first statement. `None` if the statement is
/// not prepared, or the request cannot be read.
pub(super) fn text_of(
    service: &NativeService,
    identity: &Identity,
    code: RequestCode,
    mut body: BodyReader,
) -> Option<String> {
    let context = service.context(identity, body.version, None);
    let by_id = |id| Some(service.statements.get(&service.state(&context), id).ok()?.text.to_string());
    match code {
        RequestCode::Query | RequestCode::Prepare => body.long_string().ok().map(MessageText::into_string),
        RequestCode::Execute => by_id(request::execute(&mut body).ok()?.id),
        _ => match request::batch(&mut body).ok()?.items.into_iter().next()?.statement {
            BatchStatement::Text(text) => Some(text.into_string()),
            BatchStatement::Prepared(id) => by_id(id),
        },
    }
}

fn warnings(outcome: &Outcome, prepared: Option<&Prepared>) -> Vec<String> {
    let of_outcome = match outcome {
        Outcome::Warned(warning) => Some(warning.clone()),
        _ => None,
    };
    let of_statement = prepared.and_then(Prepared::warning).map(str::to_owned);
    of_outcome.into_iter().chain(of_statement).collect()
}

/// Selects the keyspace of a successful USE for later requests.
fn enter(identity: &Identity, outcome: &Outcome) {
    if let Outcome::Keyspace(keyspace) = outcome {
        identity.enter(keyspace);
    }
}

fn failed(error: CqlError, operation: FailedOperation) -> FailedStatement {
    FailedStatement { error: error.into(), operation }
}

fn doing(options: &QueryOptions, prepared: &Prepared) -> FailedOperation {
    FailedOperation {
        consistency: options.consistency,
        write_type: prepared.write_type(),
        is_truncate: prepared.is_truncate(),
    }
}

async fn prepare(
    service: &NativeService,
    identity: &Identity,
    mut body: BodyReader,
    tracer: &Tracer<'_>,
) -> Result<StatementReply, FailedStatement> {
    let prepare = request::prepare(&mut body)?;
    let context = service.context(identity, body.version, prepare.keyspace.as_deref());
    let state = service.state(&context);
    let text = prepare.text.as_str();
    tracer.statement("Preparing", text);
    let (id, prepared) =
        meter::retried(|| service.statements.prepare(&state, text, StatementId::md5)).await?;
    Ok(StatementReply { body: write_prepared(id, &prepared, body.version), warnings: Vec::new() })
}

/// Returns a prepared statement. If it is unknown, the error makes the client prepare it again.
fn prepared(
    service: &NativeService,
    state: &QueryState<'_>,
    id: StatementId,
) -> Result<Arc<Prepared>, NativeError> {
    service.statements.get(state, id).map_err(|error| match (error, id) {
        (CqlError::Unprepared(_), StatementId::Md5(id)) => NativeError::unprepared(id.to_vec()),
        (error, _) => error.into(),
    })
}

async fn execute(
    service: &NativeService,
    identity: &Identity,
    mut body: BodyReader,
    tracer: &Tracer<'_>,
) -> Result<StatementReply, FailedStatement> {
    let Execute { id, result_id, parameters } = request::execute(&mut body)?;
    let context = service.context(identity, body.version, parameters.keyspace.as_deref());
    let state = service.state(&context);
    let prepared = prepared(service, &state, id)?;
    tracer.statement("Executing", &prepared.text);
    tracer.options(&parameters.options);
    let outcome = cql::execute_prepared(&state, &prepared, &parameters.options).await;
    let outcome = outcome.map_err(|error| failed(error, doing(&parameters.options, &prepared)))?;
    tracer.outcome(&outcome);
    enter(identity, &outcome);
    let known = known(&prepared, &outcome, parameters.skips_metadata, result_id);
    Ok(StatementReply {
        body: write_outcome(&outcome, &known, body.version),
        warnings: warnings(&outcome, Some(&*prepared)),
    })
}

/// Decides whether the reply has the metadata of the result's columns. The client's wish to skip it is ignored in two
/// cases: if the columns were not known when the statement was prepared (as for conditional updates, which have no id
/// either), and before version 5 if the client may know other columns.
fn known(prepared: &Prepared, outcome: &Outcome, skips_metadata: bool, id: Option<Bytes>) -> KnownColumns {
    let columns = prepared.columns();
    let Outcome::Rows(rows) = outcome else { return KnownColumns::default() };
    let are_prepared = std::ptr::eq(&*rows.columns, columns);
    let id = id.filter(|_| !columns.is_empty());
    let is_sure = id.is_some() || !prepared.had_other_columns();
    let new_id = id.and_then(|id| {
        let now =
            if are_prepared { prepared.columns_id(result_id).clone() } else { result_id(&rows.columns) };
        (now != id).then_some(now)
    });
    KnownColumns { is_skipped: skips_metadata && are_prepared && is_sure && new_id.is_none(), new_id }
}

async fn batch(
    service: &NativeService,
    identity: &Identity,
    body: BodyReader,
    tracer: &Tracer<'_>,
) -> Result<StatementReply, FailedStatement> {
    let request = meter::retried(|| request::batch(&mut body.clone())).await?;
    let BatchRequest { kind, items, parameters } = request;
    let context = service.context(identity, body.version, parameters.keyspace.as_deref());
    let (state, options) = (service.state(&context), &parameters.options);
    let statements = items.into_iter().map(|item| statement(service, &state, options, item));
    let statements = statements.collect::<Result<Vec<_>, _>>()?;
    tracer.options(options);
    tracer.step(|| format!("Executing a batch of {} statements", statements.len()));
    let outcome = cql::execute_batch(&state, kind, &statements, options).await;
    let outcome = outcome.map_err(|error| failed(error, doing_batch(kind, options, &statements)))?;
    tracer.outcome(&outcome);
    Ok(StatementReply {
        body: write_outcome(&outcome, &KnownColumns::default(), body.version),
        warnings: warnings(&outcome, None),
    })
}

/// Returns a statement of a batch with its values.
fn statement(
    service: &NativeService,
    state: &QueryState<'_>,
    options: &QueryOptions,
    item: BatchItem,
) -> Result<(Arc<Prepared>, QueryOptions), NativeError> {
    let prepared = match item.statement {
        BatchStatement::Text(text) => cql::prepare(state, text.as_str())?,
        BatchStatement::Prepared(id) => prepared(service, state, id)?,
    };
    cql::check_batch_values(&prepared, item.values.len())?;
    Ok((prepared, QueryOptions { values: item.values, ..options.clone() }))
}

fn doing_batch(
    kind: BatchKind,
    options: &QueryOptions,
    statements: &[(Arc<Prepared>, QueryOptions)],
) -> FailedOperation {
    let write_type = match kind {
        _ if statements.iter().any(|(prepared, _)| prepared.write_type() == Some("CAS")) => "CAS",
        BatchKind::Logged => "BATCH",
        BatchKind::Unlogged => "UNLOGGED_BATCH",
        BatchKind::Counter => "COUNTER",
    };
    FailedOperation { consistency: options.consistency, write_type: Some(write_type), is_truncate: false }
}
