//! Goes through the events of a recording.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::super::call::{Answer, Call, Conversation, PreparedTexts, Request};
use super::super::compare::{Comparison, Context, Rule, RunSpan, SentValues, ServerMade, compare};
use super::super::report::{CallOutcome, Cause, CauseId, ComparedCall, Report, ReproducedCall, Reproduction};
use super::super::{Event, EventKind, LossReason, Protocol};
use super::handles::Handles;
use super::link::{Arrival, ReplayLink};
use super::order::Order;
use super::own_data::OwnData;
use super::pending::{CandidateAnswer, PendingCall, RacedPages};
use super::touched::TouchedKeys;
use super::{CandidateServer, Progress, ReplayOptions, Speed, reason};
use crate::event::host_of;
use base::util::Clock;
use wire::native::RequestCode;

/// Calls that the replay makes itself have numbers from here on.
const OWN_CALLS: u64 = 1 << 63;

/// A connection of the recording.
pub(super) struct ReplayedConnection {
    pub(super) conversation: Conversation,
    client: Arc<str>,
    pub(super) link: Option<ReplayLink>,
    /// The calls that a new connection to the candidate must repeat, by method: STARTUP, USE, `set_keyspace`.
    pub(super) session: BTreeMap<String, (u64, Call)>,
}

/// A call whose answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferentCall {
    pub call: u64,
    /// The cause, if the report lists it and has no reproduction of it from before.
    pub cause: Option<CauseId>,
}

/// The findings of a replay, besides its report.
#[derive(Debug, Default)]
pub struct ReplaySummary {
    /// The first call of each cause of differences.
    pub differences: Vec<DifferentCall>,
    /// The cause of the difference of the watched call, if it differs.
    pub watched: Option<Cause>,
    /// The candidate's answer to the watched call.
    pub(super) watched_answer: Option<Answer>,
}

/// A running replay.
pub struct Replay<'a> {
    pub(super) candidate: &'a CandidateServer,
    options: &'a ReplayOptions,
    report: &'a mut Report,
    progress: Option<&'a mut Progress>,
    pub(super) connections: HashMap<u64, ReplayedConnection>,
    pub(super) prepared: PreparedTexts,
    pub(super) handles: Handles,
    own: OwnData,
    raced_pages: RacedPages,
    pub(super) order: Order,
    pub(super) pending: HashMap<u64, PendingCall>,
    pub(super) arrivals: (mpsc::UnboundedSender<Arrival>, mpsc::UnboundedReceiver<Arrival>),
    /// The connection of each link, by the link's number.
    pub(super) links: HashMap<u64, u64>,
    pub(super) next_link: u64,
    pub(super) next_own_call: u64,
    /// The answers to own calls.
    pub(super) own_answers: HashMap<u64, Option<Bytes>>,
    clock: Clock,
    started: Instant,
    started_us: i64,
    /// The times of the first and the latest event.
    recorded: Option<RunSpan>,
    made: ServerMade,
    sent: SentValues,
    summary: ReplaySummary,
    watched: Option<u64>,
}

/// Returns whether a call has the password of a native login.
fn is_native_login(call: &Call) -> bool {
    matches!(&call.request, Request::Native(request)
        if matches!(request.code, RequestCode::Credentials | RequestCode::AuthResponse))
}

impl<'a> Replay<'a> {
    /// Begins a replay whose comparisons go to the report.
    pub fn new(
        candidate: &'a CandidateServer,
        options: &'a ReplayOptions,
        report: &'a mut Report,
    ) -> Replay<'a> {
        for rule in Rule::ALL.iter().copied() {
            report.explain_rule(rule.name(), rule.meaning());
        }
        let clock = Clock::system();
        Replay {
            candidate,
            options,
            report,
            progress: None,
            connections: HashMap::new(),
            prepared: PreparedTexts::default(),
            handles: Handles::default(),
            own: OwnData::default(),
            raced_pages: RacedPages::default(),
            order: Order::default(),
            pending: HashMap::new(),
            arrivals: mpsc::unbounded_channel(),
            links: HashMap::new(),
            next_link: 0,
            next_own_call: OWN_CALLS,
            own_answers: HashMap::new(),
            started: Instant::now(),
            started_us: clock.next_micros(),
            clock,
            recorded: None,
            made: ServerMade::default(),
            sent: SentValues::default(),
            summary: ReplaySummary::default(),
            watched: None,
        }
    }

    /// Displays the progress.
    #[must_use]
    pub fn with_progress(self, progress: &'a mut Progress) -> Replay<'a> {
        Replay { progress: Some(progress), ..self }
    }

    /// Makes the summary say whether this call differs, and why.
    pub fn watch(&mut self, call: u64) {
        self.watched = Some(call);
    }

    /// Takes the next event of the recording. Returns when the event after it may be taken.
    pub async fn take(&mut self, event: Event) {
        let at_us = event.at_us;
        let span = self.recorded.get_or_insert(RunSpan { from_us: at_us, to_us: at_us });
        span.to_us = span.to_us.max(at_us);
        let connection = event.connection;
        match event.kind {
            EventKind::Opened { protocol, client, .. } => {
                // The parts of a rotated recording begin with the connections that are open.
                self.connections.entry(connection).or_insert_with(|| ReplayedConnection {
                    conversation: Conversation::new(protocol),
                    client: host_of(&client).into(),
                    link: None,
                    session: BTreeMap::new(),
                });
            }
            EventKind::Request { call, message } => self.request(connection, call, at_us, &message).await,
            EventKind::Reply { call, message } => self.recorded_reply(connection, call, at_us, &message),
            EventKind::Closed { .. } => {
                self.wait_until_clear().await;
                self.close(connection);
            }
            EventKind::Lost(loss) => {
                let why = format!("not recorded: {}", loss.why.name());
                match loss.why {
                    // Neither server takes such bytes for a call.
                    LossReason::Unreadable => self.report.add_not_compared(&why, loss.messages.max(1)),
                    _ => self.report.add_not_sent(&why, loss.messages.max(1)),
                }
            }
            EventKind::Pushed { .. } => {}
        }
    }

    /// Waits for the answers to all calls that had ended in the recording, and compares them. A recording that is being
    /// made has no next event at once, at which this would happen.
    pub async fn settle(&mut self) {
        self.wait_until_clear().await;
    }

    /// Waits for the last answers.
    pub async fn finish(mut self) -> ReplaySummary {
        self.wait_until_clear().await;
        let connections: Vec<u64> = self.connections.keys().copied().collect();
        connections.into_iter().for_each(|connection| self.close(connection));
        if let Some(progress) = &self.progress {
            progress.finish();
        }
        self.summary
    }

    /// Ends a connection. Calls of it without a recorded answer are not compared.
    fn close(&mut self, connection: u64) {
        let pending = self.pending.iter().filter(|(_, pending)| pending.connection == connection);
        let calls: Vec<u64> = pending.map(|(call, _)| *call).collect();
        calls.into_iter().for_each(|call| self.complete(call));
        if let Some(link) = self.connections.remove(&connection).and_then(|connection| connection.link) {
            self.links.remove(&link.number);
        }
    }

    async fn request(&mut self, connection: u64, number: u64, at_us: i64, message: &Bytes) {
        let Some(of) = self.connections.get_mut(&connection) else {
            return self.report.add_not_sent(reason::NOT_OPENED, 1);
        };
        let Ok(call) = of.conversation.request(message, &self.prepared) else {
            return self.report.add_not_sent(reason::UNREADABLE, 1);
        };
        let protocol = of.conversation.protocol();
        let of_client = of.client.clone();
        self.made.learn(&call);
        self.sent.learn(&call, self.recorded.unwrap_or(RunSpan { from_us: at_us, to_us: at_us }));
        self.wait_until_clear().await;
        self.wait_for_time(at_us).await;
        let is_own = !self.options.only_own_reads || self.own.has(&call);
        self.own.learn(&call);
        let mut pending = PendingCall {
            connection,
            at_us,
            rows: TouchedKeys::of(&call),
            races: self.raced_pages.continues(&call),
            call,
            recorded: None,
            candidate: CandidateAnswer::Waiting,
            client: of_client,
            sent: Instant::now(),
        };
        if !is_own {
            return self.skip(&pending, number, reason::NOT_OWN);
        }
        if is_native_login(&pending.call) {
            return self.skip(&pending, number, reason::LOGIN);
        }
        if protocol == Protocol::Native && self.candidate.native.is_none() {
            return self.skip(&pending, number, reason::NO_NATIVE_PORT);
        }
        for other in self.pending.values_mut().filter(|other| other.recorded.is_none()) {
            pending.meet(other);
        }
        self.send(number, pending).await;
    }

    /// Counts a call that is not sent.
    pub(super) fn skip(&mut self, pending: &PendingCall, number: u64, why: &str) {
        let compared = ComparedCall { outcome: CallOutcome::NotSent(why), ..pending.compared(number) };
        self.report.add(&compared);
        self.show_progress(false);
    }

    fn show_progress(&mut self, differs: bool) {
        if let Some(progress) = &mut self.progress {
            progress.add(differs);
        }
    }

    fn recorded_reply(&mut self, connection: u64, call: u64, at_us: i64, message: &Bytes) {
        let (Some(pending), Some(of)) = (self.pending.get_mut(&call), self.connections.get_mut(&connection))
        else {
            return;
        };
        match of.conversation.reply(&pending.call, message, &mut self.prepared) {
            Ok(answer) => pending.recorded = Some((answer, at_us)),
            Err(_) => {
                self.report.add_not_compared(reason::UNREADABLE, 1);
                self.pending.remove(&call);
                self.order.answered(call);
                return;
            }
        }
        if pending.candidate.is_waiting() {
            self.order.ended_in_recording(call);
        } else {
            self.complete(call);
        }
    }

    /// Waits until all calls are answered that had ended in the recording.
    async fn wait_until_clear(&mut self) {
        while let Ok(arrival) = self.arrivals.1.try_recv() {
            self.arrived(arrival);
        }
        while !self.order.is_clear() {
            if !self.wait_for_arrival().await {
                for call in self.order.awaited() {
                    self.lose(call);
                }
            }
        }
    }

    /// Waits for an arrival. Returns false if there was none within the time limit.
    pub(super) async fn wait_for_arrival(&mut self) -> bool {
        match tokio::time::timeout(self.options.timeout, self.arrivals.1.recv()).await {
            Ok(Some(arrival)) => {
                self.arrived(arrival);
                true
            }
            Ok(None) | Err(_) => false,
        }
    }

    /// Waits for the time of an event, if the replay is not as fast as possible.
    async fn wait_for_time(&mut self, at_us: i64) {
        let (Speed::Times(times), Some(span)) = (self.options.speed, self.recorded) else { return };
        let after_us = at_us.saturating_sub(span.from_us).max(0) as f64 / times;
        let due = self.started + Duration::from_secs_f64((after_us / 1e6).min(1e9));
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            if let Ok(Some(arrival)) = tokio::time::timeout(left, self.arrivals.1.recv()).await {
                self.arrived(arrival);
            }
        }
    }

    fn arrived(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Reply { call, message, .. } if call >= OWN_CALLS => {
                self.own_answers.insert(call, Some(message));
            }
            Arrival::Reply { call, message, at } => {
                let Some(pending) = self.pending.get_mut(&call) else { return };
                pending.candidate = CandidateAnswer::Arrived { message, at };
                self.answered(call);
            }
            Arrival::Ended { link, why } => {
                let Some(connection) = self.links.remove(&link) else { return };
                tracing::debug!("the candidate's connection {connection}: {why}");
                if let Some(of) = self.connections.get_mut(&connection) {
                    of.link = None;
                }
                let lost = self.pending.iter().filter(|(_, pending)| {
                    pending.connection == connection && pending.candidate.is_waiting()
                });
                let calls: Vec<u64> = lost.map(|(call, _)| *call).collect();
                calls.into_iter().for_each(|call| self.lose(call));
            }
        }
    }

    /// Gives a call up: its answer took too long, or its connection ended.
    fn lose(&mut self, call: u64) {
        let Some(pending) = self.pending.get_mut(&call) else { return self.order.answered(call) };
        pending.candidate = CandidateAnswer::Lost;
        // A late answer would be taken for the next call's.
        let link = self.connections.get_mut(&pending.connection).and_then(|of| of.link.take());
        if let Some(link) = link {
            self.links.remove(&link.number);
        }
        self.answered(call);
    }

    fn answered(&mut self, call: u64) {
        self.order.answered(call);
        if self.pending.get(&call).is_some_and(|pending| pending.recorded.is_some()) {
            self.complete(call);
        }
    }

    /// Compares a call, and adds it to the report.
    pub(super) fn complete(&mut self, number: u64) {
        self.order.answered(number);
        let Some(pending) = self.pending.remove(&number) else { return };
        let protocol = match &pending.call.request {
            Request::Thrift { .. } => Protocol::Thrift { is_framed: true },
            Request::Native(_) => Protocol::Native,
        };
        let candidate = pending.candidate.decoded(protocol, pending.sent);
        let recorded = pending.recorded.as_ref();
        if let (Some((recorded, _)), Some((candidate, _))) = (recorded, &candidate) {
            self.handles.learn(pending.connection, &pending.call, recorded, candidate);
        }
        let comparison = pending.excuse(compare(
            &pending.call,
            recorded.map(|(answer, _)| answer),
            candidate.as_ref().map(|(answer, _)| answer),
            &self.context(),
        ));
        if comparison.rules.contains(&Rule::ConcurrentWrite) {
            self.raced_pages.add(recorded.map(|(answer, _)| answer));
        }
        if self.watched == Some(number) {
            self.summary.watched_answer = candidate.as_ref().map(|(answer, _)| answer.clone());
        }
        let rules = comparison.rule_names();
        let compared = ComparedCall {
            candidate_us: candidate.map(|(_, took)| took),
            rules: &rules,
            outcome: comparison.outcome.outcome(),
            ..pending.compared(number)
        };
        let cause = self.report.add(&compared);
        self.note_difference(number, &pending, &comparison, cause);
        self.show_progress(comparison.differs());
    }

    fn note_difference(
        &mut self,
        number: u64,
        pending: &PendingCall,
        comparison: &Comparison,
        cause: Option<CauseId>,
    ) {
        if !comparison.differs() {
            return;
        }
        if let (true, CallOutcome::Differs(difference)) =
            (self.watched == Some(number), comparison.outcome.outcome())
        {
            self.summary.watched = Some(Cause::of(&pending.call.method, &difference));
        }
        if cause.is_some() || self.summary.differences.is_empty() {
            self.summary.differences.push(DifferentCall { call: number, cause });
        }
        let Some(cause) = cause else { return };
        // The calls that select the keyspace and prepare the connection, and the call itself.
        let session = self.connections.get(&pending.connection).map(|of| of.session.values());
        let mut calls: Vec<(u64, &Call)> =
            session.into_iter().flatten().map(|(number, call)| (*number, call)).collect();
        calls.sort_by_key(|(number, _)| *number);
        calls.retain(|(other, _)| *other < number);
        calls.push((number, &pending.call));
        let calls = calls.into_iter().map(|(number, call)| ReproducedCall {
            call: number,
            connection: pending.connection,
            request: call.reproduced(),
        });
        let reproduction = Reproduction { calls: calls.collect(), command: None, is_shortest: false };
        self.report.set_reproduction(cause, reproduction);
    }

    fn context(&self) -> Context<'_> {
        let candidate = RunSpan { from_us: self.started_us, to_us: self.clock.next_micros() };
        Context { recorded: self.recorded.unwrap_or(candidate), candidate, made: self.made, sent: &self.sent }
    }
}
