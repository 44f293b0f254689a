//! Runs statements.

use std::sync::Arc;

use bytes::Bytes;

use super::form::{AskForm, AskLanguage};
use super::recorder::RequestRecorder;
use super::result::ShownResult;
use super::typed::bytes_of;
use crate::failure::{AdminError, Result, invalid};
use crate::limits::ASK_ROWS_MAX;
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use cql::cql2::Cql2Outcome;
use cql::{AccessPath, CqlError, Outcome, Prepared, QueryOptions, QueryState, Reach, cql2};
use cql_syntax::StatementTarget;
use db::Database;
use store::RemoteCql;

/// The error of CQL 2 if the store is a cluster.
const NO_CQL2: &str =
    "this server is a gateway, and its cluster only runs CQL 3: ask in CQL, or by a Thrift call";

/// The answer to a statement.
#[derive(Default)]
pub(super) struct StatementAnswer {
    /// `None`: the statement has no rows.
    pub result: Option<ShownResult>,
    /// The effect of the statement, if it has no rows.
    pub done: String,
    /// The writes of a statement that was not run.
    pub would_write: String,
    pub path: Option<AccessPath>,
    pub reach: Option<Reach>,
    /// The release of the types.
    pub is_cql2: bool,
}

/// A statement with its visitor.
pub(super) struct AskedStatement<'a> {
    pub state: &'a AdminState,
    pub visitor: &'a Visitor,
    pub form: &'a AskForm,
    pub level: ConsistencyLevel,
}

impl AskedStatement<'_> {
    /// Runs the statement if it only reads, and otherwise explains what it would write. Nothing is changed.
    pub(super) async fn read(&self, recorder: &RequestRecorder) -> Result<StatementAnswer> {
        match self.state.database.remote_cql() {
            Some(remote) => self.metered(self.read_on_cluster(remote)).await,
            None => self.metered(self.read_on(&recorder.database)).await,
        }
    }

    /// Runs the statement, which may change data.
    pub(super) async fn change(&self) -> Result<StatementAnswer> {
        self.metered(self.change_on(&self.state.database)).await
    }

    /// Returns the kind of the statement and the table that it works on, and whether it only reads.
    pub(super) fn target(&self) -> Result<(StatementTarget, bool)> {
        let is_remote = self.state.database.remote_cql().is_some();
        match self.form.with {
            AskLanguage::Cql2 if is_remote => invalid(NO_CQL2),
            AskLanguage::Cql2 => {
                let prepared = self.prepared2()?;
                Ok((prepared.target(), prepared.only_reads()))
            }
            _ if is_remote => cql::remote::target(&self.form.cql).map_err(|error| self.failed(&error)),
            _ => {
                let prepared = self.prepared(&self.query_state(&self.state.database))?;
                Ok((prepared.target(), prepared.only_reads()))
            }
        }
    }

    async fn metered<T>(&self, run: impl Future<Output = T>) -> T {
        self.state.database.metered(&self.state.console.settings.limits, run).await
    }

    fn query_state<'s>(&'s self, database: &'s Arc<Database>) -> QueryState<'s> {
        let compat = &self.state.console.settings.compat;
        QueryState {
            language: compat.language,
            keyspace: (!self.form.keyspace.is_empty()).then_some(&*self.form.keyspace),
            user: Some(&self.visitor.user),
            ..QueryState::of_release(database, Behaviour::of(compat.after_set_keyspace))
        }
    }

    fn options(&self) -> Result<QueryOptions> {
        let page = bytes_of(None, &format!("0x{}", self.form.page), "page")?;
        Ok(QueryOptions {
            consistency: self.level,
            page_size: Some(ASK_ROWS_MAX),
            paging_state: Some(page).filter(|page: &Bytes| !page.is_empty()),
            ..QueryOptions::default()
        })
    }

    fn prepared(&self, state: &QueryState<'_>) -> Result<Arc<Prepared>> {
        cql::prepare(state, &self.form.cql).map_err(|error| self.failed(&error))
    }

    fn prepared2(&self) -> Result<cql2::Prepared2> {
        cql2::prepare(&self.form.cql).map_err(|error| self.failed(&error))
    }

    async fn read_on(&self, database: &Arc<Database>) -> Result<StatementAnswer> {
        let state = self.query_state(database);
        if self.form.with == AskLanguage::Cql2 {
            if self.prepared2()?.only_reads() {
                return self.run2(&state).await;
            }
            return invalid("what a statement of CQL 2 would write is not explained");
        }
        let prepared = self.prepared(&state)?;
        let options = self.options()?;
        if !prepared.only_reads() {
            if prepared.write_type().is_none() {
                return invalid(
                    "Ask does not run this statement: it changes the schema, users, or a whole table. The button Run, with \
                     changes, does",
                );
            }
            let text =
                cql::explain(&state, &self.form.cql, &QueryOptions { page_size: None, ..options }).await;
            let would_write = text.map_err(|error| self.failed(&error))?;
            return Ok(StatementAnswer { would_write, ..StatementAnswer::default() });
        }
        // A database over a recorder has no traces and no versions of the schema.
        let own = self.query_state(&self.state.database);
        let reader = if prepared.reads_system_table() { &own } else { &state };
        let outcome = cql::execute_once(reader, &prepared, &options).await;
        let outcome = outcome.map_err(|error| self.failed(&error))?;
        let path = prepared.path(&state, &options).map_err(|error| self.failed(&error))?;
        let reach = prepared.reach(&state, &options).map_err(|error| self.failed(&error))?;
        Ok(StatementAnswer { path, reach, ..answered(&state, &outcome) })
    }

    /// Sends the statement to the cluster if it only reads.
    async fn read_on_cluster(&self, remote: &dyn RemoteCql) -> Result<StatementAnswer> {
        let (_, only_reads) = self.target()?;
        if !only_reads {
            return invalid(
                "what the statement would write is not known here: this server is a gateway, and its cluster plans and runs \
                 statements. Nothing was sent to it. The button Run, with changes, sends the statement",
            );
        }
        let state = self.query_state(&self.state.database);
        let outcome = cql::remote::query(&state, remote, &self.form.cql, &self.options()?).await;
        Ok(answered(&state, &outcome.map_err(|error| self.failed(&error))?))
    }

    async fn change_on(&self, database: &Arc<Database>) -> Result<StatementAnswer> {
        let state = self.query_state(database);
        if self.form.with == AskLanguage::Cql2 {
            return self.run2(&state).await;
        }
        let options = self.options()?;
        let outcome = match database.remote_cql() {
            Some(remote) => cql::remote::query(&state, remote, &self.form.cql, &options).await,
            None => cql::query(&state, &self.form.cql, &options).await,
        };
        Ok(answered(&state, &outcome.map_err(|error| self.failed(&error))?))
    }

    async fn run2(&self, state: &QueryState<'_>) -> Result<StatementAnswer> {
        let outcome = cql2::execute(state, &self.form.cql).await.map_err(|error| self.failed(&error))?;
        let mut answer = StatementAnswer { is_cql2: true, ..StatementAnswer::default() };
        match outcome {
            Cql2Outcome::Void => answer.done = "Done. The statement has no result.".to_owned(),
            Cql2Outcome::Keyspace(keyspace) => answer.done = used(&keyspace),
            Cql2Outcome::Count(count) => answer.done = format!("The row has {count} columns."),
            Cql2Outcome::Rows(found) => answer.result = Some(ShownResult::of_cql2(state, &found)),
        }
        Ok(answer)
    }

    fn failed(&self, error: &CqlError) -> AdminError {
        let why = cql::error_text(error, &self.form.cql);
        match error {
            CqlError::Unauthorized(_) => AdminError::forbidden(why),
            CqlError::Failed(error) => AdminError { why, ..error.clone().into() },
            _ => AdminError::invalid(why),
        }
    }
}

fn answered(state: &QueryState<'_>, outcome: &Outcome) -> StatementAnswer {
    let mut answer = StatementAnswer::default();
    match outcome {
        Outcome::Rows(found) => answer.result = Some(ShownResult::of_rows(state, found)),
        Outcome::Void => answer.done = "Done. The statement has no result.".to_owned(),
        Outcome::Warned(warning) => answer.done = format!("Done, with a warning: {warning}"),
        Outcome::Keyspace(keyspace) => answer.done = used(keyspace),
        Outcome::Schema(_) => answer.done = "Done. The schema was changed.".to_owned(),
    }
    answer
}

fn used(keyspace: &str) -> String {
    format!(
        "The keyspace {keyspace} exists. Each question has its own keyspace: type it into the field Keyspace."
    )
}
