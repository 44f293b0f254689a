//! Runs QUERY, PREPARE, EXECUTE and BATCH.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::error::{FailedOperation, FailedStatement, NativeError};
use super::metadata::result_id;
use super::request::{self, BatchItem, BatchRequest, BatchStatement, Execute};
use super::result::{KnownColumns, write_outcome, write_prepared};
use super::service::StatementContext;
use super::statement_request::StatementRequest;
use crate::tracer::Tracer;
use base::model::StatementId;
use base::util::meter;
use cql::{CqlError, Outcome, Prepared, QueryOptions, QueryState};
use cql_syntax::BatchKind;
use wire::native::{BodyReader, RequestCode};

/// The result of a statement.
pub(super) struct StatementReply {
    /// The body of a RESULT.
    pub body: BytesMut,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

type StatementResult = Result<StatementReply, FailedStatement>;

impl StatementRequest<'_> {
    /// Runs the statement of an opened body.
    pub(super) async fn run_statement(&self, body: BodyReader, tracer: &Tracer<'_>) -> StatementResult {
        match self.code {
            RequestCode::Query => self.query(body, tracer).await,
            RequestCode::Prepare => self.prepare(body, tracer).await,
            RequestCode::Execute => self.execute(body, tracer).await,
            _ => self.batch(body, tracer).await,
        }
    }

    async fn query(&self, mut body: BodyReader, tracer: &Tracer<'_>) -> StatementResult {
        let query = request::query(&mut body)?;
        let context = self.context(&body, query.parameters.keyspace.as_deref());
        let (state, options) = (self.service.state(&context), &query.parameters.options);
        let text = &query.text;
        tracer.statement("Parsing", text);
        tracer.options(options);
        let prepared = meter::retried(|| cql::prepare_shared(&state, text.clone())).await?;
        tracer.step(|| "Executing statement".to_owned());
        let outcome = cql::execute_once(&state, &prepared, options).await;
        let outcome = outcome.map_err(|error| failed(error, doing(options, &prepared)))?;
        tracer.outcome(&outcome);
        self.enter(&outcome);
        Ok(reply(&body, &outcome, &KnownColumns::default(), Some(&prepared)))
    }

    async fn prepare(&self, mut body: BodyReader, tracer: &Tracer<'_>) -> StatementResult {
        let prepare = request::prepare(&mut body)?;
        let context = self.context(&body, prepare.keyspace.as_deref());
        let state = self.service.state(&context);
        let text = &*prepare.text;
        tracer.statement("Preparing", text);
        let statements = &self.service.statements;
        let (id, prepared) = meter::retried(|| statements.prepare(&state, text, StatementId::md5)).await?;
        Ok(StatementReply { body: write_prepared(id, &prepared, body.version), warnings: Vec::new() })
    }

    async fn execute(&self, mut body: BodyReader, tracer: &Tracer<'_>) -> StatementResult {
        let Execute { id, result_id, parameters } = request::execute(&mut body)?;
        let context = self.context(&body, parameters.keyspace.as_deref());
        let state = self.service.state(&context);
        let prepared = self.prepared(&state, id)?;
        tracer.statement("Executing", &prepared.text);
        tracer.options(&parameters.options);
        let outcome = cql::execute_prepared(&state, &prepared, &parameters.options).await;
        let outcome = outcome.map_err(|error| failed(error, doing(&parameters.options, &prepared)))?;
        tracer.outcome(&outcome);
        self.enter(&outcome);
        let known = known(&prepared, &outcome, parameters.skips_metadata, result_id);
        Ok(reply(&body, &outcome, &known, Some(&prepared)))
    }

    async fn batch(&self, body: BodyReader, tracer: &Tracer<'_>) -> StatementResult {
        let request = meter::retried(|| request::batch(&mut body.clone())).await?;
        let BatchRequest { kind, items, parameters } = request;
        let context = self.context(&body, parameters.keyspace.as_deref());
        let (state, options) = (self.service.state(&context), &parameters.options);
        let statements = items.into_iter().map(|item| self.statement(&state, options, item));
        let statements = statements.collect::<Result<Vec<_>, _>>()?;
        tracer.options(options);
        tracer.step(|| format!("Executing a batch of {} statements", statements.len()));
        let outcome = cql::execute_batch(&state, kind, &statements, options).await;
        let outcome = outcome.map_err(|error| failed(error, doing_batch(kind, options, &statements)))?;
        tracer.outcome(&outcome);
        Ok(reply(&body, &outcome, &KnownColumns::default(), None))
    }

    /// Returns a statement of a batch with its values.
    fn statement(
        &self,
        state: &QueryState<'_>,
        options: &QueryOptions,
        item: BatchItem,
    ) -> Result<(Arc<Prepared>, QueryOptions), NativeError> {
        let prepared = match item.statement {
            BatchStatement::Text(text) => cql::prepare_shared(state, text)?,
            BatchStatement::Prepared(id) => self.prepared(state, id)?,
        };
        cql::check_batch_values(&prepared, item.values.len())?;
        Ok((prepared, QueryOptions { values: item.values, ..options.clone() }))
    }

    /// Returns a prepared statement. If it is unknown, the error makes the client prepare it again.
    fn prepared(&self, state: &QueryState<'_>, id: StatementId) -> Result<Arc<Prepared>, NativeError> {
        self.service.statements.get(state, id).map_err(|error| match (error, id) {
            (CqlError::Unprepared(_), StatementId::Md5(id)) => NativeError::unprepared(id.to_vec()),
            (error, _) => error.into(),
        })
    }

    /// Returns the text of the statement; for a batch of the first one. `None` if the statement is not prepared, or the
    /// request cannot be read.
    pub(super) fn statement_text(&self, mut body: BodyReader) -> Option<String> {
        let id = match self.code {
            RequestCode::Query | RequestCode::Prepare => return Some(body.long_string().ok()?.to_string()),
            RequestCode::Execute => request::execute(&mut body).ok()?.id,
            _ => match request::batch(&mut body).ok()?.items.into_iter().next()?.statement {
                BatchStatement::Text(text) => return Some(text.to_string()),
                BatchStatement::Prepared(id) => id,
            },
        };
        let context = self.context(&body, None);
        let prepared = self.service.statements.get(&self.service.state(&context), id).ok()?;
        Some(prepared.text.to_string())
    }

    fn context(&self, body: &BodyReader, keyspace: Option<&str>) -> StatementContext {
        self.service.context(self.identity, body.version, keyspace)
    }

    /// Selects the keyspace of a successful USE for later requests.
    fn enter(&self, outcome: &Outcome) {
        if let Outcome::Keyspace(keyspace) = outcome {
            self.identity.enter(keyspace);
        }
    }
}

fn reply(
    body: &BodyReader,
    outcome: &Outcome,
    known: &KnownColumns,
    prepared: Option<&Prepared>,
) -> StatementReply {
    let of_outcome = match outcome {
        Outcome::Warned(warning) => Some(warning.clone()),
        _ => None,
    };
    let of_statement = prepared.and_then(Prepared::warning).map(str::to_owned);
    let warnings = of_outcome.into_iter().chain(of_statement).collect();
    StatementReply { body: write_outcome(outcome, known, body.version), warnings }
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

fn doing_batch(
    kind: BatchKind,
    options: &QueryOptions,
    statements: &[(Arc<Prepared>, QueryOptions)],
) -> FailedOperation {
    let is_conditional = statements.iter().any(|(prepared, _)| prepared.write_type() == Some("CAS"));
    let write_type = Some(if is_conditional { "CAS" } else { kind.write_type() });
    FailedOperation { consistency: options.consistency, write_type, is_truncate: false }
}
