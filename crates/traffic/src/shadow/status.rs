//! The status of a shadow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::super::queue::{QueueStatus, WriteQueue};
use super::super::report::{MissingTable, MissingWrites, Report, Summary};
use super::backlog::Backlog;

/// The state of a running shadow.
#[derive(Debug)]
pub struct ShadowState {
    /// The calls that were compared so far.
    pub report: Report,
    /// The writes that the candidate has still to get, if they are queued.
    pub queue: Option<Arc<WriteQueue>>,
    pub(super) backlog: Backlog,
    started: Instant,
}

/// A few numbers of a running shadow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShadowStatus {
    /// Since the start.
    pub seconds: f64,
    /// Calls of clients.
    pub calls: u64,
    /// Calls whose answers were compared.
    pub compared: u64,
    /// Calls whose answers differ.
    pub differences: u64,
    /// Causes of differences.
    pub causes: usize,
    /// Calls that were not sent to the candidate, or not compared.
    pub not_compared: u64,
    /// Requests and replies that wait for the candidate, and the bytes of their messages.
    pub waiting_events: usize,
    /// The bytes of their messages.
    pub waiting_bytes: usize,
    /// The queue of writes, if there is one.
    pub queue: Option<QueueStatus>,
}

impl ShadowState {
    /// Creates the state of a shadow whose calls go to this report.
    pub fn new(report: Report, queue: Option<Arc<WriteQueue>>) -> Arc<ShadowState> {
        Arc::new(ShadowState { report, queue, backlog: Backlog::default(), started: Instant::now() })
    }

    /// Returns the report with the writes that the candidate does not have.
    pub fn summary(&self) -> Summary {
        let summary = self.report.summary();
        let Some(queue) = &self.queue else { return summary };
        let status = queue.status();
        let tables = status.again.into_iter().map(|table| MissingTable {
            reason: table.reason.text().to_owned(),
            table: table.table,
            error: table.error,
            writes: table.writes,
        });
        let (sent, unsent, trouble) = (status.sent, status.unsent, status.trouble);
        summary.with_missing(MissingWrites { sent, unsent, trouble, tables: tables.collect() })
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts the calls that still wait for the candidate as not sent: the shadow ends without them.
    pub fn abandon_rest(&self) {
        self.report.add_not_sent(
            "the shadow ended before they were sent to the candidate",
            self.backlog.drop_calls(),
        );
    }

    /// Returns the numbers of this moment.
    pub fn status(&self) -> ShadowStatus {
        let (waiting, calls) = (self.backlog.size(), self.report.totals());
        ShadowStatus {
            seconds: self.elapsed().as_secs_f64(),
            calls: calls.total,
            compared: calls.compared,
            differences: calls.differences,
            causes: self.report.causes().len(),
            not_compared: calls.not_compared,
            waiting_events: waiting.events,
            waiting_bytes: waiting.bytes,
            queue: self.queue.as_ref().map(|queue| queue.status()),
        }
    }
}
