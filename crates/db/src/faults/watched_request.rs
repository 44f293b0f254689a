//! A request of a server with faults: its known properties, and the decisions of the rules.

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::argument_text::ArgumentText;
use super::journal::{JournalEntry, JournalResult, JournalRow};
use super::rule::{Condition, FaultRule, Operation, RequestFacts};
use super::{Faults, ReplyFault, RequestOrigin, key_text};
use crate::Error;
use crate::request_log::{RequestLogSwitch, WatchPurpose};
use base::compat::features::ConsistencyLevel;
use base::schema::CfDef;

/// Rows of a request that the journal lists.
const JOURNAL_ROWS_MAX: usize = 16;

tokio::task_local! {
    static REQUEST: Arc<WatchedRequest>;
}

/// The operation of a request on a row, or on a range of rows.
pub(super) struct RowAccess<'a> {
    pub operation: Operation,
    pub cf: &'a CfDef,
    pub key: Option<&'a Bytes>,
}

/// A request that rules of faults, the journal, the log of requests or its followers need.
pub struct WatchedRequest {
    /// `None` if the server has no faults.
    faults: Option<Arc<Faults>>,
    log: Option<(Arc<RequestLogSwitch>, WatchPurpose)>,
    origin: RequestOrigin,
    /// Whether rules that only ask for the origin have their effect before the request runs. Otherwise they have it with
    /// its first row, where errors know what failed.
    meets_rules_first: bool,
    began: Instant,
    state: Mutex<WatchState>,
}

/// When a request is compared with the rules.
pub(super) enum Stage<'a> {
    /// Before the request runs.
    First,
    /// When it reads or writes rows.
    Rows(&'a [RowAccess<'a>]),
    /// When it has ended.
    Last,
}

#[derive(Default)]
pub(super) struct WatchState {
    pub keyspace: Option<String>,
    pub consistency: Option<ConsistencyLevel>,
    pub statement: Option<&'static str>,
    pub arguments: Map<String, Value>,
    pub result: Option<JournalResult>,
    rows: Vec<JournalRow>,
    /// The rules whose condition the request has met. Each counts it once.
    met: Vec<u64>,
    /// The rules that have had an effect.
    effective: Vec<String>,
    /// An error that replaces the request's outcome.
    error: Option<Error>,
    reply: Option<ReplyFault>,
}

/// The effects of the rules on a request at some time.
#[derive(Default)]
pub(super) struct Effects {
    pub delay: Duration,
    /// Changes when all rules are removed, which ends the delay. It is from before the rules were read.
    pub cleared: Option<watch::Receiver<u64>>,
    /// The error of the request, and whether it is carried out before.
    pub error: Option<(Error, bool)>,
}

impl Effects {
    /// Waits as long as the rules want. Ends early if all rules are removed, so that a reset never waits for a delay.
    pub(super) async fn pause(&mut self) {
        let Some(cleared) = self.cleared.as_mut().filter(|_| !self.delay.is_zero()) else { return };
        tokio::select! {
            () = tokio::time::sleep(self.delay) => {}
            _ = cleared.changed() => {}
        }
    }
}

/// Returns the request that runs here, if it is watched.
pub(crate) fn current() -> Option<Arc<WatchedRequest>> {
    REQUEST.try_with(Arc::clone).ok()
}

/// Runs work of a watched request on another task.
pub(crate) async fn run_for<F: Future>(request: Option<Arc<WatchedRequest>>, work: F) -> F::Output {
    match request {
        Some(request) => REQUEST.scope(request, work).await,
        None => work.await,
    }
}

/// Changes the state of the request that runs here, if it is watched.
pub(super) fn with_state(change: impl FnOnce(&mut WatchState)) {
    let _ = REQUEST.try_with(|request| change(&mut request.state.lock()));
}

impl WatchedRequest {
    /// Begins a request; `None` if nothing needs to know it.
    pub(crate) fn begin(
        faults: Option<&Arc<Faults>>,
        log: &Arc<RequestLogSwitch>,
        origin: RequestOrigin,
    ) -> Option<Arc<WatchedRequest>> {
        let purpose = log.purpose();
        if faults.is_none() && purpose.is_none() {
            return None;
        }
        let faults = faults.cloned();
        let log = purpose.map(|purpose| (log.clone(), purpose));
        let (began, state) = (Instant::now(), Mutex::default());
        let meets_rules_first = origin.protocol == "thrift" || origin.method == "PREPARE";
        Some(Arc::new(WatchedRequest { faults, log, origin, meets_rules_first, began, state }))
    }

    /// Runs a request under the rules, and adds it to the journal and the log.
    pub async fn run<T, E: From<Error> + Display>(
        self: &Arc<Self>,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut first = if self.meets_rules_first { self.effects(&Stage::First) } else { Effects::default() };
        first.pause().await;
        let outcome = match first.error {
            Some((error, false)) => Err(error.into()),
            first => {
                let outcome = REQUEST.scope(self.clone(), request).await;
                let mut last = self.effects(&Stage::Last);
                last.pause().await;
                let error = self.state.lock().error.take();
                match error.or(first.or(last.error).map(|(error, _)| error)) {
                    Some(error) => Err(error.into()),
                    None => outcome,
                }
            }
        };
        let entry = self.entry(outcome.as_ref().err().map(E::to_string));
        if let Some((log, purpose)) = &self.log {
            log.record(entry.clone(), *purpose);
        }
        if let Some(faults) = &self.faults {
            faults.journal.add(entry);
        }
        outcome
    }

    /// Returns the log that decides at the end of the request whether it needs the arguments, if nothing else needs
    /// them.
    fn log_that_decides_late(&self) -> Option<&RequestLogSwitch> {
        let (log, purpose) = self.log.as_ref().filter(|_| self.faults.is_none())?;
        purpose.needs_arguments_late.then_some(&**log)
    }

    /// Adds the arguments before the request does its work, if they are needed for all requests.
    pub fn note_start(&self, arguments: impl FnOnce() -> Map<String, Value>) {
        if self.log_that_decides_late().is_none() {
            self.note_arguments(arguments());
        }
    }

    /// Adds the arguments after the work, if they are only needed for some requests, and the size of the result.
    pub fn note_end(
        &self,
        has_failed: bool,
        arguments: impl FnOnce() -> Map<String, Value>,
        result: impl FnOnce() -> Option<JournalResult>,
    ) {
        if self.log_that_decides_late().is_some_and(|log| log.selects(self.began.elapsed(), has_failed)) {
            self.note_arguments(arguments());
        }
        if !has_failed {
            let result = result();
            let mut state = self.state.lock();
            state.result = result.or(state.result);
        }
    }

    /// Adds arguments. Those that a statement has added already stay: they are decompressed, and have types.
    fn note_arguments(&self, arguments: Map<String, Value>) {
        let noted = &mut self.state.lock().arguments;
        for (name, value) in arguments {
            noted.entry(name).or_insert(value);
        }
    }

    /// Returns the effect on the reply.
    pub fn take_reply_fault(&self) -> Option<ReplyFault> {
        self.state.lock().reply.take()
    }

    /// Sets the error of the request, whatever its outcome is.
    pub(super) fn fail(&self, error: Error) {
        self.state.lock().error = Some(error);
    }

    /// Compares the request with all rules whose condition it has not met before, and returns the effects of those that
    /// it meets now.
    pub(super) fn effects(&self, stage: &Stage<'_>) -> Effects {
        let Some(faults) = &self.faults else { return Effects::default() };
        let mut effects = Effects { cleared: Some(faults.cleared()), ..Effects::default() };
        let rules = faults.rules();
        let mut state = self.state.lock();
        if let Stage::Rows(accesses) = stage {
            for row in accesses.iter().map(RowAccess::shown).take(JOURNAL_ROWS_MAX) {
                if state.rows.len() < JOURNAL_ROWS_MAX && !state.rows.contains(&row) {
                    state.rows.push(row);
                }
            }
        }
        for set in rules {
            if state.met.contains(&set.number) || !self.meets(&state, &set.rule, stage) {
                continue;
            }
            state.met.push(set.number);
            let Some(delay) = set.take_effect() else { continue };
            state.effective.push(set.name.clone());
            effects.delay += delay;
            state.reply = state.reply.or(set.rule.reply);
            if effects.error.is_none() {
                effects.error = set.rule.error().map(|error| (error, set.rule.applied));
            }
        }
        effects
    }

    fn meets(&self, state: &WatchState, rule: &FaultRule, stage: &Stage<'_>) -> bool {
        let condition = &rule.when;
        let level = state.consistency.map(|level| level.to_string());
        let RequestOrigin { protocol, method, generation, connection, .. } = self.origin;
        let facts = RequestFacts {
            protocol,
            method,
            generation,
            connection: connection.map(|connection| connection.number),
            statement: state.statement,
            consistency: level.as_deref(),
        };
        condition.is_met_by(&facts)
            && match stage {
                Stage::First => condition.needs_origin_only(),
                Stage::Rows(accesses) => accesses.iter().any(|access| access.meets(rule)),
                Stage::Last => {
                    !condition.needs_rows()
                        && condition
                            .keyspace
                            .as_ref()
                            .is_none_or(|wanted| state.keyspace.as_ref() == Some(wanted))
                }
            }
    }

    fn entry(&self, error: Option<String>) -> JournalEntry {
        let mut state = self.state.lock();
        let cut = |text: String| ArgumentText::default().text(&text);
        JournalEntry {
            statement: state.statement.map(str::to_owned),
            keyspace: state.keyspace.take().map(cut),
            consistency: state.consistency.map(|level| level.to_string()),
            arguments: Value::Object(std::mem::take(&mut state.arguments)),
            rows: std::mem::take(&mut state.rows),
            result: state.result.filter(|_| error.is_none()),
            error: error.map(cut),
            faults: state.effective.clone(),
            ..self.origin.entry(self.began.elapsed())
        }
    }
}

impl RowAccess<'_> {
    fn meets(&self, rule: &FaultRule) -> bool {
        let Condition { operation, keyspace, column_family, key, .. } = &rule.when;
        // A conditional update reads before it writes, and an error of an applied request comes after the write.
        let is_too_early = rule.applied
            && operation.is_none()
            && matches!(self.operation, Operation::Read | Operation::Scan);
        !is_too_early
            && operation.is_none_or(|wanted| wanted == self.operation)
            && keyspace.as_ref().is_none_or(|wanted| *wanted == self.cf.keyspace)
            && column_family.as_ref().is_none_or(|wanted| *wanted == self.cf.name)
            && key
                .as_ref()
                .is_none_or(|wanted| self.key.is_some_and(|key| key_text::means(wanted, self.cf, key)))
    }

    fn shown(&self) -> JournalRow {
        JournalRow {
            operation: self.operation,
            column_family: self.cf.name.clone(),
            key: self.key.map(|key| key_text::shown(self.cf, key)),
        }
    }
}
