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

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::time::{Duration, Instant};

use super::super::call::{Call, Conversation, PreparedTexts};
use super::super::report::{Cause, Report, ReportSubject, ReproducedCall, Reproduction, RunKind};
use super::super::{Event, EventKind};
use super::{CandidateServer, Replay, ReplayOptions, Speed};

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
    let mut search = CallSearch { events, failing, servers, options, attempts: 0, deadline, cause: None };
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
                let rest: Vec<u64> = calls[..at].iter().chain(&calls[end..]).copied().collect();
                if self.differs(&rest).await? {
                    *calls = rest;
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
        let wanted: BTreeSet<u64> = calls.iter().copied().chain([self.failing]).collect();
        let subject = ReportSubject {
            run: RunKind::Replay,
            recorded: String::new(),
            candidate: candidate.thrift.clone(),
        };
        let mut report = Report::new(subject);
        let mut replay = Replay::new(&candidate, &self.options, &mut report);
        replay.watch(self.failing);
        for event in selected(self.events, &wanted) {
            replay.take(event.clone()).await;
        }
        // Without the calls that it needs, a call may differ for another reason: its keyspace does not exist.
        let found = replay.finish().await.watched;
        let differs =
            found.is_some() && self.cause.as_ref().is_none_or(|cause| found.as_ref() == Some(cause));
        if differs {
            self.cause = found;
        }
        Ok(differs)
    }
}

/// Returns the calls of a shrunk recording for the report. `command` replays them.
pub fn reproduction(events: &[Event], shrunk: &Shrunk, command: String) -> Reproduction {
    let wanted: BTreeSet<u64> = shrunk.calls.iter().copied().collect();
    let mut prepared = PreparedTexts::default();
    let mut connections: HashMap<u64, Conversation> = HashMap::new();
    let mut open: HashMap<u64, Call> = HashMap::new();
    let mut calls = Vec::new();
    for Event { connection, kind, .. } in selected(events, &wanted) {
        match kind {
            EventKind::Opened { protocol, .. } => {
                connections.entry(*connection).or_insert_with(|| Conversation::new(*protocol));
            }
            EventKind::Request { call: number, message } => {
                let of = connections.get_mut(connection);
                let Some(Ok(call)) = of.map(|of| of.request(message, &prepared)) else { continue };
                let request = call.reproduced(&prepared);
                calls.push(ReproducedCall { call: *number, connection: *connection, request });
                open.insert(*number, call);
            }
            EventKind::Reply { call, message } => {
                if let (Some(of), Some(call)) = (connections.get_mut(connection), open.remove(call)) {
                    // A reply that cannot be decoded prepares nothing.
                    let _ = of.reply(&call, message, &mut prepared);
                }
            }
            EventKind::Closed { .. } | EventKind::Pushed { .. } | EventKind::Lost(_) => {}
        }
    }
    Reproduction { calls, command: Some(command), is_shortest: shrunk.is_shortest }
}

/// Returns the events of some calls, up to the reply of the last of them, with those that open their connections.
pub fn selected<'e>(events: &'e [Event], wanted: &BTreeSet<u64>) -> Vec<&'e Event> {
    let of_calls = events.iter().filter(|event| match &event.kind {
        EventKind::Request { call, .. } | EventKind::Reply { call, .. } => wanted.contains(call),
        _ => false,
    });
    let connections: BTreeSet<u64> = of_calls.map(|event| event.connection).collect();
    let is_selected = |event: &&Event| match &event.kind {
        EventKind::Request { call, .. } | EventKind::Reply { call, .. } => wanted.contains(call),
        EventKind::Opened { .. } | EventKind::Closed { .. } => connections.contains(&event.connection),
        EventKind::Pushed { .. } | EventKind::Lost(_) => false,
    };
    events.iter().filter(is_selected).collect()
}
