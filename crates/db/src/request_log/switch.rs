//! Switches the log of requests, and writes its lines.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::followers::{Followers, LiveRequests};
use super::line::line_of;
use super::mode::RequestLogMode;
use super::redact::{LogRedactor, hide_passwords};
use crate::faults::JournalEntry;
use base::util::{LineWriter, SplitMix64, system_ms};

/// Where the lines are written to.
#[derive(Debug, Default)]
pub enum RequestLogOutput {
    /// The log of the server, with the target `requests`.
    #[default]
    Log,
    /// A file, by a thread of its own.
    File(LineWriter),
}

/// The log of requests of a database. It can be switched while the server runs.
#[derive(Debug)]
pub struct RequestLogSwitch {
    /// The mode: its number, and its time in nanoseconds or its part of 2^64.
    kind: AtomicU8,
    limit: AtomicU64,
    /// The mode to which `toggle` returns.
    preferred: Mutex<RequestLogMode>,
    output: RequestLogOutput,
    redactor: Option<LogRedactor>,
    lines: AtomicU64,
    followers: Arc<Followers>,
}

impl Default for RequestLogSwitch {
    fn default() -> RequestLogSwitch {
        RequestLogSwitch::new(RequestLogMode::Off, RequestLogOutput::Log, false)
    }
}

/// Why a request is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchPurpose {
    /// For the log, if the request is one that the mode selects.
    pub is_for_log: bool,
    /// For followers.
    pub is_for_followers: bool,
    /// Whether the arguments are only needed if the log selects the request at its end.
    pub needs_arguments_late: bool,
}

const OFF: u8 = 0;
const ALL: u8 = 1;
const SLOW: u8 = 2;
const ERRORS: u8 = 3;
const SAMPLE: u8 = 4;

impl RequestLogSwitch {
    /// Creates the log. If it is redacted, lines have no keys, names and values.
    pub fn new(mode: RequestLogMode, output: RequestLogOutput, is_redacted: bool) -> RequestLogSwitch {
        let switch = RequestLogSwitch {
            kind: AtomicU8::new(OFF),
            limit: AtomicU64::new(0),
            preferred: Mutex::new(RequestLogMode::All),
            output,
            redactor: is_redacted.then(LogRedactor::default),
            lines: AtomicU64::new(0),
            followers: Arc::default(),
        };
        switch.set_mode(mode);
        switch
    }

    /// Returns which requests are logged.
    pub fn mode(&self) -> RequestLogMode {
        let limit = self.limit.load(Ordering::Relaxed);
        match self.kind.load(Ordering::Relaxed) {
            ALL => RequestLogMode::All,
            SLOW => RequestLogMode::Slow(Duration::from_nanos(limit)),
            ERRORS => RequestLogMode::Errors,
            SAMPLE => RequestLogMode::Sample(f64::from_bits(limit)),
            _ => RequestLogMode::Off,
        }
    }

    /// Returns the file to which lines are written; `None` for the log of the server.
    pub fn file(&self) -> Option<&Path> {
        match &self.output {
            RequestLogOutput::Log => None,
            RequestLogOutput::File(writer) => Some(writer.path()),
        }
    }

    /// Returns whether lines have no keys, names and values.
    pub fn is_redacted(&self) -> bool {
        self.redactor.is_some()
    }

    /// Sets which requests are logged, from now on. A mode other than off is the one to which [`Self::toggle`] returns.
    pub fn set_mode(&self, mode: RequestLogMode) {
        let (kind, limit) = match mode {
            RequestLogMode::Off => (OFF, 0),
            RequestLogMode::All => (ALL, 0),
            RequestLogMode::Slow(time) => (SLOW, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            RequestLogMode::Errors => (ERRORS, 0),
            RequestLogMode::Sample(part) => (SAMPLE, part.to_bits()),
        };
        let mut preferred = self.preferred.lock();
        if mode != RequestLogMode::Off {
            *preferred = mode;
        }
        // A request that reads the two in between is logged or not, which nobody can tell.
        self.limit.store(limit, Ordering::Relaxed);
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// Switches the log off, or on again with the last mode; with all requests if it had none. Returns the new mode.
    pub fn toggle(&self) -> RequestLogMode {
        let preferred = *self.preferred.lock();
        let mode = if self.mode() == RequestLogMode::Off { preferred } else { RequestLogMode::Off };
        self.set_mode(mode);
        mode
    }

    /// Begins to follow requests as they end. The entries are not redacted: they are for users who may see everything.
    pub fn follow(&self) -> LiveRequests {
        self.followers.follow()
    }

    /// Returns whether some requests are logged or followed.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.kind.load(Ordering::Relaxed) != OFF || self.followers.has_some()
    }

    /// Returns why a request that begins now is watched; `None` if it is not.
    pub fn purpose(&self) -> Option<WatchPurpose> {
        let kind = self.kind.load(Ordering::Relaxed);
        let is_for_log = match kind {
            OFF => false,
            SAMPLE => f64::from_bits(self.limit.load(Ordering::Relaxed)) > random_part(),
            _ => true,
        };
        let is_for_followers = self.followers.choose();
        let needs_arguments_late = !is_for_followers && [SLOW, ERRORS].contains(&kind);
        let purpose = WatchPurpose { is_for_log, is_for_followers, needs_arguments_late };
        (is_for_log || is_for_followers).then_some(purpose)
    }

    /// Returns whether the mode selects a request that took some time, and failed or not.
    pub fn selects(&self, time: Duration, has_failed: bool) -> bool {
        match self.mode() {
            RequestLogMode::Off => false,
            RequestLogMode::All | RequestLogMode::Sample(_) => true,
            RequestLogMode::Slow(limit) => time >= limit,
            RequestLogMode::Errors => has_failed,
        }
    }

    /// Writes a request that has ended to the log and to followers, as far as its purpose says.
    pub(crate) fn record(&self, mut entry: JournalEntry, purpose: WatchPurpose) {
        hide_passwords(&mut entry.arguments, &mut entry.error);
        let time = Duration::from_micros(entry.micros);
        if purpose.is_for_log && self.selects(time, entry.error.is_some()) {
            let mut logged = entry.clone();
            logged.number = self.lines.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(redactor) = &self.redactor {
                redactor.redact(&mut logged);
            }
            self.write(line_of(&logged, system_ms()));
        }
        if purpose.is_for_followers {
            self.followers.send(entry);
        }
    }

    fn write(&self, line: String) {
        match &self.output {
            RequestLogOutput::Log => tracing::info!(target: "requests", "{line}"),
            RequestLogOutput::File(writer) => writer.write(line),
        }
    }
}

/// Returns a random number from 0 to 1.
fn random_part() -> f64 {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(uuid::Uuid::new_v4().as_u64_pair().0);
    }
    let number = STATE.try_with(|state| {
        let mut random = SplitMix64(state.get());
        let number = random.next_number();
        state.set(random.0);
        number
    });
    number.unwrap_or_default() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_switched_off_and_on_again() {
        let switch = RequestLogSwitch::default();
        assert_eq!((switch.mode(), switch.purpose()), (RequestLogMode::Off, None));
        assert_eq!(switch.toggle(), RequestLogMode::All);
        assert_eq!(switch.toggle(), RequestLogMode::Off);
        let slow = RequestLogMode::Slow(Duration::from_millis(3));
        switch.set_mode(slow);
        assert_eq!(switch.toggle(), RequestLogMode::Off);
        assert_eq!((switch.toggle(), switch.mode()), (slow, slow));
        assert!(
            switch.selects(Duration::from_millis(3), false)
                && !switch.selects(Duration::from_millis(2), true)
        );
        assert!(switch.purpose().unwrap().needs_arguments_late);
    }

    #[test]
    fn a_sample_has_its_part_of_all_requests() {
        let switch = RequestLogSwitch::default();
        switch.set_mode(RequestLogMode::Sample(0.1));
        let chosen = (0..20_000).filter(|_| switch.purpose().is_some()).count();
        assert!((1_700..2_300).contains(&chosen), "{chosen} of 20000");
        switch.set_mode(RequestLogMode::Sample(1.0));
        assert!((0..1000).all(|_| switch.purpose().is_some()));
    }
}
