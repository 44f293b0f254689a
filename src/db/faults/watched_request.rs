//! A request of a server with faults: what is known of it, and what the rules have decided.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use super::journal::{JournalEntry, JournalRow};
use super::rule::{Condition, Operation};
use super::{Faults, ReplyFault, key_text};
use crate::compat::features::ConsistencyLevel;
use crate::db::{Database, Error};
use crate::schema::CfDef;

/// Rows of a request that the journal lists.
const JOURNAL_ROWS_MAX: usize = 16;

tokio::task_local! {
    static REQUEST: Arc<WatchedRequest>;
}

/// What a request does with a row, or with a range of rows.
pub(super) struct Touch<'a> {
    pub operation: Operation,
    pub cf: &'a CfDef,
    pub key: Option<&'a Bytes>,
}

/// A request of a server with faults.
pub struct WatchedRequest {
    faults: Arc<Faults>,
    protocol: &'static str,
    method: &'static str,
    /// Whether rules that only ask for the method have their effect before the request runs. Otherwise they have it with
    /// its first row, where errors know what failed.
    meets_rules_first: bool,
    began: Instant,
    state: Mutex<State>,
}

/// When a request is compared with the rules.
pub(super) enum Meeting<'a> {
    /// Before the request runs.
    First,
    /// When it reads or writes rows.
    Rows(&'a [Touch<'a>]),
    /// When it has ended.
    Last,
}

#[derive(Default)]
struct State {
    keyspace: Option<String>,
    consistency: Option<ConsistencyLevel>,
    statement: Option<&'static str>,
    rows: Vec<JournalRow>,
    /// The rules whose condition the request has met. Each counts it once.
    met: Vec<u64>,
    /// The rules that have had an effect.
    struck: Vec<String>,
    /// An error that replaces the request's outcome.
    error: Option<Error>,
    reply: Option<ReplyFault>,
}

/// What the rules do to a request at some time.
#[derive(Default)]
pub(super) struct Effects {
    pub delay: Duration,
    /// The error of the request, and whether it is carried out before.
    pub error: Option<(Error, bool)>,
}

/// Returns the request that runs here, if it is watched.
pub(super) fn current() -> Option<Arc<WatchedRequest>> {
    REQUEST.try_with(Arc::clone).ok()
}

/// Adds the first word of a CQL statement to the request that runs here.
pub fn note_statement(database: &Database, statement: &'static str) {
    if database.faults().is_some() {
        let _ = REQUEST.try_with(|request| request.state.lock().statement = Some(statement));
    }
}

/// Adds keyspace and consistency level to the request that runs here.
pub(in crate::db) fn note_request(keyspace: &[u8], consistency: ConsistencyLevel) {
    let _ = REQUEST.try_with(|request| {
        let mut state = request.state.lock();
        state.keyspace = Some(String::from_utf8_lossy(keyspace).into_owned());
        state.consistency = Some(consistency);
    });
}

impl WatchedRequest {
    /// Begins a request; `None` if the server has no faults. `method` is the Thrift method or the native opcode.
    pub fn begin(
        database: &Database,
        protocol: &'static str,
        method: &'static str,
    ) -> Option<Arc<WatchedRequest>> {
        let faults = database.faults()?.clone();
        let (began, state) = (Instant::now(), Mutex::default());
        let meets_rules_first = protocol == "thrift" || method == "PREPARE";
        Some(Arc::new(WatchedRequest { faults, protocol, method, meets_rules_first, began, state }))
    }

    /// Runs a request under the rules, and adds it to the journal. `error_of` makes the protocol's error, and `text_of`
    /// returns the text that the client gets.
    pub async fn run<T, E>(
        self: &Arc<Self>,
        request: impl Future<Output = Result<T, E>>,
        error_of: fn(Error) -> E,
        text_of: fn(&E) -> String,
    ) -> Result<T, E> {
        let first = if self.meets_rules_first { self.effects(&Meeting::First) } else { Effects::default() };
        pause(first.delay).await;
        let outcome = match first.error {
            Some((error, false)) => Err(error_of(error)),
            first => {
                let outcome = REQUEST.scope(self.clone(), request).await;
                let last = self.effects(&Meeting::Last);
                pause(last.delay).await;
                let error = self.state.lock().error.take();
                match error.or(first.or(last.error).map(|(error, _)| error)) {
                    Some(error) => Err(error_of(error)),
                    None => outcome,
                }
            }
        };
        self.faults.journal.add(self.entry(outcome.as_ref().err().map(text_of)));
        outcome
    }

    /// Returns what happens to the reply.
    pub fn take_reply_fault(&self) -> Option<ReplyFault> {
        self.state.lock().reply.take()
    }

    /// Sets the error of the request, whatever its outcome is.
    pub(super) fn fail(&self, error: Error) {
        self.state.lock().error = Some(error);
    }

    /// Compares the request with all rules whose condition it has not met before, and returns the effects of those that
    /// it meets now.
    pub(super) fn effects(&self, meeting: &Meeting<'_>) -> Effects {
        let mut effects = Effects::default();
        let rules = self.faults.rules();
        let mut state = self.state.lock();
        if let Meeting::Rows(touches) = meeting {
            for row in touches.iter().map(Touch::shown).take(JOURNAL_ROWS_MAX) {
                if state.rows.len() < JOURNAL_ROWS_MAX && !state.rows.contains(&row) {
                    state.rows.push(row);
                }
            }
        }
        for set in rules {
            if state.met.contains(&set.number) || !self.meets(&state, &set.rule.when, meeting) {
                continue;
            }
            state.met.push(set.number);
            let Some(delay) = set.strike() else { continue };
            state.struck.push(set.name.clone());
            effects.delay += delay;
            state.reply = state.reply.or(set.rule.reply);
            if effects.error.is_none() {
                effects.error = set.rule.error().map(|error| (error, set.rule.applied));
            }
        }
        effects
    }

    fn meets(&self, state: &State, condition: &Condition, meeting: &Meeting<'_>) -> bool {
        let Condition { protocol, method, statement, keyspace, consistency, .. } = condition;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| found.is_some_and(|found| wanted.eq_ignore_ascii_case(found)))
        };
        let level = state.consistency.map(|level| level.to_string());
        is(protocol, Some(self.protocol))
            && is(method, Some(self.method))
            && is(statement, state.statement)
            && is(consistency, level.as_deref())
            && match meeting {
                Meeting::First => condition.needs_method_only(),
                Meeting::Rows(touches) => touches.iter().any(|touch| touch.meets(condition)),
                Meeting::Last => {
                    !condition.needs_rows()
                        && keyspace.as_ref().is_none_or(|wanted| state.keyspace.as_ref() == Some(wanted))
                }
            }
    }

    fn entry(&self, error: Option<String>) -> JournalEntry {
        let mut state = self.state.lock();
        JournalEntry {
            number: 0,
            protocol: self.protocol.to_owned(),
            method: self.method.to_owned(),
            statement: state.statement.map(str::to_owned),
            keyspace: state.keyspace.take(),
            consistency: state.consistency.map(|level| level.to_string()),
            rows: std::mem::take(&mut state.rows),
            error,
            faults: state.struck.clone(),
            micros: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
    }
}

impl Touch<'_> {
    fn meets(&self, condition: &Condition) -> bool {
        let Condition { operation, keyspace, column_family, key, .. } = condition;
        operation.is_none_or(|wanted| wanted == self.operation)
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

/// Waits, if there is anything to wait for.
pub(super) async fn pause(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}
