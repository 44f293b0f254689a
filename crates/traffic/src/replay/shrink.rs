//! Finds the fewest calls that show a difference.
//!
//! First the calls after the one that differs are removed, then as many of the others as possible, by delta debugging:
//! halves, quarters and so on, then single calls. Each attempt runs against a fresh server.
//!
//! ```text
//!   1 2 3 4 5 6 7 8     8 differs
//!   1 2 3 4       8     still differs: 5 6 7 are not needed
//!   1 2           8     equal
//!       3 4       8     still differs
//!         4       8     still differs: the shortest
//! ```
//!
//! Writes of the rows that the answers show always stay. Without them the call differs on a correct server, too: if the
//! server has not applied a `remove`, its answer without the `remove` is the same, and wrong no more.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::Future;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::super::call::{Answer, Call, Conversation, PreparedTexts, ReplyContent};
use super::super::report::{Cause, Report, ReportSubject, ReproducedCall, Reproduction, RunKind};
use super::super::{Event, EventKind};
use super::touched::TouchedKeys;
use super::{CandidateServer, Replay, ReplayOptions, ReplaySummary, Speed};

/// Provides servers without data.
pub trait FreshServer {
    /// Returns a server in the state in which the recording began.
    ///
    /// # Errors
    ///
    /// That there is none; shrinking ends.
    fn fresh(&mut self) -> impl Future<Output = Result<CandidateServer, String>> + Send;
}

/// The shortest calls that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// Numbers of calls, in their order; the last one differs.
    pub calls: Vec<u64>,
    /// Runs against fresh servers.
    pub attempts: u64,
    /// Whether no call can be left out. `false` if the time was over before.
    pub is_shortest: bool,
}

/// The events of a recording, and the call that differs.
struct CallSearch<'a, S> {
    events: &'a [Event],
    failing: u64,
    servers: &'a mut S,
    options: ReplayOptions,
    attempts: u64,
    deadline: Instant,
    /// The cause of the difference, as the first attempt has shown it.
    cause: Option<Cause>,
    /// The candidate's answer in the latest attempt.
    answer: Option<Answer>,
    /// Calls that stay.
    kept: HashSet<u64>,
}

/// A call of a recording.
struct RecordedCall {
    number: u64,
    connection: u64,
    call: Call,
    reply: Option<Answer>,
}

/// Shrinks a recording to the calls that a difference of the call `failing` needs. Stops after `patience`.
///
/// # Errors
///
/// If no server can be had, or if the call does not differ when it is replayed alone with all calls before it.
pub async fn shrink<S: FreshServer + Send>(
    events: &[Event],
    failing: u64,
    servers: &mut S,
    patience: Duration,
) -> Result<Shrunk, String> {
    let options = ReplayOptions { speed: Speed::Max, ..ReplayOptions::default() };
    let deadline = Instant::now() + patience;
    let mut search = CallSearch {
        events,
        failing,
        servers,
        options,
        attempts: 0,
        deadline,
        cause: None,
        answer: None,
        kept: HashSet::new(),
    };
    let mut calls: Vec<u64> = Vec::new();
    for event in events {
        match event.kind {
            EventKind::Request { call, .. } if call == failing => break,
            EventKind::Request { call, .. } => calls.push(call),
            _ => {}
        }
    }
    if !search.differs(&calls).await? {
        return Err(format!(
            "call {failing} does not differ when it is replayed again: the difference depends on the time or on calls \
             that run concurrently"
        ));
    }
    search.kept = writes_of_shown_rows(events, failing, search.answer.take());
    let is_shortest = search.reduce(&mut calls).await?;
    calls.push(failing);
    Ok(Shrunk { calls, attempts: search.attempts, is_shortest })
}

impl<S: FreshServer + Send> CallSearch<'_, S> {
    /// Removes calls that are not needed. Returns whether the rest is the shortest.
    async fn reduce(&mut self, calls: &mut Vec<u64>) -> Result<bool, String> {
        let mut parts = 2;
        while !calls.is_empty() {
            let length = calls.len().div_ceil(parts);
            let mut at = 0;
            let mut has_removed = false;
            // From the front: calls long before the difference are less likely to be needed.
            while at < calls.len() {
                if Instant::now() > self.deadline {
                    return Ok(false);
                }
                let end = (at + length).min(calls.len());
                let kept: Vec<u64> =
                    calls[at..end].iter().filter(|call| self.kept.contains(call)).copied().collect();
                let rest = [&calls[..at], &kept, &calls[end..]].concat();
                if rest.len() < calls.len() && self.differs(&rest).await? {
                    *calls = rest;
                    at += kept.len();
                    has_removed = true;
                } else {
                    at = end;
                }
            }
            if length <= 1 && !has_removed {
                return Ok(true);
            }
            parts = if length <= 1 { calls.len().max(1) } else { (parts * 2).min(calls.len().max(1)) };
        }
        Ok(true)
    }

    /// Returns whether the failing call still differs if only these calls precede it.
    async fn differs(&mut self, calls: &[u64]) -> Result<bool, String> {
        self.attempts += 1;
        let candidate = self.servers.fresh().await?;
        let summary = replayed(self.events, calls, self.failing, &self.options, &candidate).await;
        self.answer = summary.watched_answer;
        let found = summary.watched;
        // Without the calls that it needs, a call may differ for another reason: its keyspace does not exist.
        let differs =
            found.is_some() && self.cause.as_ref().is_none_or(|cause| found.as_ref() == Some(cause));
        if differs {
            self.cause = found;
        }
        Ok(differs)
    }
}

/// Replays some calls and the failing one.
async fn replayed(
    events: &[Event],
    calls: &[u64],
    failing: u64,
    options: &ReplayOptions,
    candidate: &CandidateServer,
) -> ReplaySummary {
    let wanted: BTreeSet<u64> = calls.iter().copied().chain([failing]).collect();
    let subject =
        ReportSubject { run: RunKind::Replay, recorded: String::new(), candidate: candidate.thrift.clone() };
    let mut report = Report::new(subject);
    let mut replay = Replay::new(candidate, options, &mut report);
    replay.watch(failing);
    for event in selected(events, &wanted) {
        replay.take(event.clone()).await;
    }
    replay.finish().await
}

impl Shrunk {
    /// Returns whether a server without data answers the last call as recorded, after the others.
    pub async fn is_answered_by(&self, events: &[Event], server: &CandidateServer) -> bool {
        let Some((failing, before)) = self.calls.split_last() else { return true };
        let summary = replayed(events, before, *failing, &ReplayOptions::default(), server).await;
        summary.watched.is_none()
    }
}

/// Returns the numbers of the writes before a call that may have written a row in an answer to it, or that it names.
fn writes_of_shown_rows(events: &[Event], failing: u64, answer: Option<Answer>) -> HashSet<u64> {
    let calls = decoded(events.iter());
    let read = calls.iter().find(|call| call.number == failing && !call.call.is_write());
    let Some(read) = read else { return HashSet::new() };
    let rows = TouchedKeys::of(&read.call);
    let mut shown = HashSet::new();
    read.reply.iter().chain(&answer).for_each(|answer| add_values(answer, &mut shown));
    let mut kept = HashSet::new();
    for call in calls.iter().filter(|call| call.number < failing && call.call.is_write()) {
        let written = TouchedKeys::of(&call.call);
        if call.call.family.is_some()
            && written.meets(&rows)
            && (rows.have_keys() || written.may_have_key(|key| shown.contains(key)))
        {
            kept.insert(call.number);
        }
    }
    kept
}

/// Adds the values in an answer.
fn add_values(answer: &Answer, values: &mut HashSet<Bytes>) {
    match answer {
        Answer::Thrift(reply) => reply.fields.values().for_each(|value| {
            value.visit(&mut |value| values.extend(value.as_binary().cloned()));
        }),
        Answer::Native(reply) => {
            if let ReplyContent::Rows(rows) = &reply.content {
                values.extend(rows.rows.iter().flatten().flatten().cloned());
            }
        }
    }
}

/// Returns the calls of a shrunk recording for the report. `command` replays them.
pub fn reproduction(events: &[Event], shrunk: &Shrunk, command: String) -> Reproduction {
    let wanted: BTreeSet<u64> = shrunk.calls.iter().copied().collect();
    let calls = decoded(selected(events, &wanted).into_iter());
    let calls = calls.iter().map(|RecordedCall { number, connection, call, .. }| ReproducedCall {
        call: *number,
        connection: *connection,
        request: call.reproduced(),
    });
    Reproduction { calls: calls.collect(), command: Some(command), is_shortest: shrunk.is_shortest }
}

/// Decodes the calls among some events. Calls that cannot be decoded are left out.
fn decoded<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<RecordedCall> {
    let mut prepared = PreparedTexts::default();
    let mut connections: HashMap<u64, Conversation> = HashMap::new();
    let mut open: HashMap<u64, usize> = HashMap::new();
    let mut calls: Vec<RecordedCall> = Vec::new();
    for Event { connection, kind, .. } in events {
        match kind {
            EventKind::Opened { protocol, .. } => {
                connections.entry(*connection).or_insert_with(|| Conversation::new(*protocol));
            }
            EventKind::Request { call: number, message } => {
                let of = connections.get_mut(connection);
                let Some(Ok(call)) = of.map(|of| of.request(message, &prepared)) else { continue };
                open.insert(*number, calls.len());
                calls.push(RecordedCall { number: *number, connection: *connection, call, reply: None });
            }
            EventKind::Reply { call, message } => {
                let found = open.remove(call).and_then(|at| calls.get_mut(at));
                if let (Some(of), Some(found)) = (connections.get_mut(connection), found) {
                    found.reply = of.reply(&found.call, message, &mut prepared).ok();
                }
            }
            EventKind::Closed { .. } | EventKind::Pushed { .. } | EventKind::Lost(_) => {}
        }
    }
    calls
}

/// Returns the events of some calls, up to the reply of the last of them, with those that open their connections.
pub fn selected<'e>(events: &'e [Event], wanted: &BTreeSet<u64>) -> Vec<&'e Event> {
    let of_calls = events.iter().filter(|event| match &event.kind {
        EventKind::Request { call, .. } | EventKind::Reply { call, .. } => wanted.contains(call),
        _ => false,
    });
    let connections: BTreeSet<u64> = of_calls.map(|event| event.connection).collect();
    let selected = events.iter().filter(|event| match &event.kind {
        EventKind::Request { call, .. } | EventKind::Reply { call, .. } => wanted.contains(call),
        EventKind::Opened { .. } | EventKind::Closed { .. } => connections.contains(&event.connection),
        EventKind::Pushed { .. } | EventKind::Lost(_) => false,
    });
    selected.collect()
}
