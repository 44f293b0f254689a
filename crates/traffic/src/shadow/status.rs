//! The status of a shadow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::super::report::Report;
use super::backlog::Backlog;

/// The state of a running shadow.
#[derive(Debug)]
pub struct ShadowState {
    pub report: Report,
    pub(super) backlog: Backlog,
    started: Instant,
}

/// A few numbers of a running shadow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShadowStatus {
    /// Since the start.
    pub seconds: f64,
    pub calls: u64,
    pub compared: u64,
    pub differences: u64,
    /// Causes of differences.
    pub causes: usize,
    pub not_compared: u64,
    /// Requests and replies that wait for the candidate, and the bytes of their messages.
    pub waiting_events: usize,
    pub waiting_bytes: usize,
}

impl ShadowState {
    /// Creates the state of a shadow whose calls go to this report.
    pub fn new(report: Report) -> Arc<ShadowState> {
        Arc::new(ShadowState { report, backlog: Backlog::default(), started: Instant::now() })
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

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
        }
    }
}
