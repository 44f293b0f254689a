//! Observes one request: reports it to everything that counts, logs or shows requests, for both protocols.
//!
//! ```text
//!   begin   its method is known         log of requests    opens the span
//!   watch   it may run                  faults, journal    begin to watch it
//!   run     it runs and adds notes      journal            arguments, rows, size of the result
//!                                       trace              statement, steps
//!   end     its reply is known          errors             counted by text; those of the server are logged
//!                                       log of requests    one line
//!                                       slow requests      if it is one of the slowest of the minute
//!                                       metrics            outcome, time, bytes
//! ```
//!
//! A request that does not run, because its client has not logged in, is not watched. A sink that is off costs a look at a
//! flag: only sinks that are on ask the [`RequestSource`] for more than its method.

use std::fmt::Display;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::tracer::Tracer;
use base::util::RequestLog;
use base::util::meter::{RequestMeter, metered};
use base::util::metrics::{EndedRequest, RequestOutcome, RequestSlot};
use db::Database;
use db::activity::RequestSummary;
use db::faults::{JournalResult, ReplyFault, RequestOrigin, WatchedRequest};

/// A request as its protocol knows it.
pub(crate) trait RequestSource {
    /// Returns the properties that are known before the request runs.
    fn origin(&self) -> RequestOrigin;
    /// Returns the number of its slot in the metrics.
    fn slot(&self) -> usize;
    /// Returns the session's keyspace.
    fn keyspace(&self) -> Option<String>;
    /// Returns the arguments by their names.
    fn arguments(&self) -> Map<String, Value>;
}

/// An error as a protocol sends it to its client. Its text is the one that the client gets.
pub(crate) trait RequestError: Display + From<db::Error> {
    /// Returns the error of the database; `None` for an error of the protocol or of CQL.
    fn of_database(&self) -> Option<&db::Error>;
    /// Returns the outcome of a request with this error.
    fn outcome(&self) -> RequestOutcome;
}

/// A request while the server answers it.
pub(crate) struct ObservedRequest<'a> {
    database: &'a Database,
    began: Instant,
    log: RequestLog,
    /// `None` if neither rules of faults, the journal, the log with arguments nor its followers need the request.
    watched: Option<Arc<WatchedRequest>>,
    /// Records nothing unless the client has asked for a trace.
    pub tracer: Tracer<'a>,
}

/// The part of a reply that the observation adds.
pub(crate) struct ReplyEffects {
    /// The effect of a test's fault.
    pub fault: Option<ReplyFault>,
    /// The id of the trace.
    pub trace: Option<[u8; 16]>,
}

impl<'a> ObservedRequest<'a> {
    /// Begins to observe a request that the server has begun to answer at `began`.
    pub(crate) fn begin(
        database: &'a Database,
        began: Instant,
        source: &impl RequestSource,
    ) -> ObservedRequest<'a> {
        let RequestOrigin { protocol, method, address, .. } = source.origin();
        let log = RequestLog::begin(protocol, method, address);
        ObservedRequest { database, began, log, watched: None, tracer: Tracer::none() }
    }

    /// Begins a trace. `request` has Cassandra's words for the kind of request.
    pub(crate) fn trace(&mut self, request: &'static str, client: IpAddr) {
        self.tracer = Tracer::begin(self.database, request, client);
    }

    /// Begins to watch the request, if a sink needs it. It has its permit, and runs next.
    pub(crate) fn watch(&mut self, source: &impl RequestSource) {
        debug_assert!(self.watched.is_none(), "a request is watched once");
        self.watched = self.database.watch(source.origin());
    }

    /// Runs the request with its meter. The caller pins it because it is large, and each layer around it would move it.
    pub(crate) async fn run<T, E: RequestError>(
        &self,
        meter: Arc<RequestMeter>,
        request: Pin<&mut (impl Future<Output = Result<T, E>> + Send)>,
    ) -> Result<T, E> {
        if self.watched.is_none() && !self.log.is_on() {
            return metered(meter, request).await;
        }
        Box::pin(self.run_watched(meter, request)).await
    }

    /// Runs a request that is logged or watched. Behind a pointer, its code is compiled once for both.
    async fn run_watched<T, E: RequestError>(
        &self,
        meter: Arc<RequestMeter>,
        request: Pin<&mut (dyn Future<Output = Result<T, E>> + Send + '_)>,
    ) -> Result<T, E> {
        // The meter has the permit that keeps changes of the whole database out until the journal has the request.
        let _permit = meter.clone();
        let request = metered(meter, self.log.run(request));
        match &self.watched {
            None => request.await,
            Some(watched) => watched.run(request).await,
        }
    }

    /// Adds the notes before the request does its work.
    pub(crate) fn note_start(&self, source: &impl RequestSource) {
        if let Some(watched) = &self.watched {
            watched.note_start(|| source.arguments());
        }
    }

    /// Adds the notes after the work.
    pub(crate) fn note_end(
        &self,
        source: &impl RequestSource,
        has_failed: bool,
        result: impl FnOnce() -> Option<JournalResult>,
    ) {
        if let Some(watched) = &self.watched {
            watched.note_end(has_failed, || source.arguments(), result);
        }
    }

    /// Reports the request to all sinks. `bytes_in` is the length of its message, `bytes_out` the length of its reply.
    pub(crate) fn end<E: RequestError>(
        self,
        source: &impl RequestSource,
        error: Option<&E>,
        bytes_in: usize,
        bytes_out: usize,
    ) -> ReplyEffects {
        let outcome = error.map_or(RequestOutcome::Ok, E::outcome);
        let ended = EndedRequest { outcome, time: self.began.elapsed(), bytes_in, bytes_out };
        if let Some(error) = error {
            report_error(self.database, &source.origin(), error);
        }
        let text = error.map(|error| error as &dyn Display);
        self.log.end(ended.time, bytes_out, text);
        if self.database.activity().slow.admits(ended.time) {
            note_slow(self.database, source, &ended);
        }
        self.database.metrics().requests.record(source.slot(), &ended);
        ReplyEffects {
            fault: self.watched.and_then(|watched| watched.take_reply_fault()),
            trace: self.tracer.end(text),
        }
    }
}

/// Adds the request to the slowest ones of the minute.
#[cold]
fn note_slow(database: &Database, source: &impl RequestSource, ended: &EndedRequest) {
    let (keyspace, arguments) = (source.keyspace(), source.arguments());
    let request = RequestSummary::of_slow(&source.origin(), ended, keyspace, arguments);
    database.activity().slow.add(ended.time, request);
}

/// Counts the error for the console, and logs errors that an operator should see. Errors in a client's request are not
/// logged.
fn report_error(database: &Database, origin: &RequestOrigin, error: &impl RequestError) {
    let method = origin.method;
    // A `get` that finds nothing has an exception as its reply, but nothing went wrong.
    if error.outcome() != RequestOutcome::NotFound {
        database.activity().errors.add(origin.protocol, method, error);
    }
    match error.of_database() {
        Some(db::Error::Internal(why)) => tracing::error!(method, "internal error: {why}"),
        Some(db::Error::Unavailable { why, .. } | db::Error::TimedOut(why) | db::Error::Overloaded(why)) => {
            tracing::debug!(method, "{why}");
        }
        _ => {}
    }
}

/// Reports a message that cannot be read, or whose method is unknown, as a failed request. `slot` is the one of the
/// protocol for them. Names that clients invent must not be in `why`: each text is counted.
pub(crate) fn report_unreadable(
    database: &Database,
    slot: RequestSlot,
    why: &dyn Display,
    ended: &EndedRequest,
) {
    database.activity().errors.add(slot.protocol, slot.method, why);
    database.metrics().requests.record(slot.number, ended);
}
