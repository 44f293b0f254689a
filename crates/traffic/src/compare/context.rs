//! The context of a comparison: the facts about both runs.

use super::{MadeValue, SentValues};
use crate::call::Call;

/// Both runs so far, and the contents of the recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub recorded: RunSpan,
    pub candidate: RunSpan,
    pub made: ServerMade,
    /// The values that clients have sent.
    pub sent: &'a SentValues,
}

/// The kinds of values that calls of the recording have let the server make.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ServerMade {
    /// A statement has called `uuid()`.
    random_uuids: bool,
    /// A statement has called `now()`, `currentTimestamp()` or the like.
    times: bool,
    /// A statement or `cas` has written columns without a timestamp of the client.
    timestamps: bool,
}

impl ServerMade {
    /// Learns from a call.
    pub(crate) fn learn(&mut self, call: &Call) {
        self.timestamps |= call.lets_server_set_timestamps();
        for text in call.texts() {
            let text = text.to_ascii_lowercase();
            self.random_uuids |= text.contains("uuid(");
            self.times |= text.contains("now(") || text.contains("current");
        }
    }

    fn has(self, kind: MadeValue) -> bool {
        match kind {
            MadeValue::Micros => self.timestamps,
            MadeValue::RandomUuid => self.random_uuids,
            MadeValue::Millis | MadeValue::TimeUuid | MadeValue::Date | MadeValue::TimeOfDay => self.times,
        }
    }
}

/// A span of time, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunSpan {
    pub from_us: i64,
    pub to_us: i64,
}

/// By how much the clocks of a server and of the recorder may differ, in microseconds.
const CLOCKS_DIFFER_US: i64 = 60_000_000;

impl RunSpan {
    /// Returns whether a time is within the span, as far as clocks agree.
    pub(crate) fn has(self, at_us: i64) -> bool {
        self.overlaps(at_us, at_us)
    }

    /// Returns whether a part of another span is within this one, as far as clocks agree.
    pub(crate) fn overlaps(self, from_us: i64, to_us: i64) -> bool {
        let own = self.with_clocks();
        own.from_us <= to_us && from_us <= own.to_us
    }

    /// Returns the span in which clocks may have been within this one.
    pub(crate) fn with_clocks(self) -> RunSpan {
        let RunSpan { from_us, to_us } = self;
        RunSpan {
            from_us: from_us.saturating_sub(CLOCKS_DIFFER_US),
            to_us: to_us.saturating_add(CLOCKS_DIFFER_US),
        }
    }

    /// Returns its length in seconds, rounded up.
    pub(crate) fn seconds(self) -> i64 {
        self.to_us.saturating_sub(self.from_us).saturating_add(999_999) / 1_000_000
    }
}

impl Context<'_> {
    /// Returns whether each server has made its value, in its run. Values that a client has sent are not.
    pub(crate) fn are_made(&self, kind: MadeValue, recorded: &[u8], candidate: &[u8]) -> bool {
        self.made.has(kind)
            && kind.is_of(self.recorded, recorded)
            && kind.is_of(self.candidate, candidate)
            && !self.sent.has(recorded)
            && !self.sent.has(candidate)
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// Returns the context of a recording of 100 seconds in 2001 that is replayed in 2017. Its statements have made
    /// values of all kinds, without timestamps of columns.
    pub fn context() -> Context<'static> {
        let span = |from_s: i64| RunSpan { from_us: from_s * 1_000_000, to_us: (from_s + 100) * 1_000_000 };
        Context {
            recorded: span(1_000_000_000),
            candidate: span(1_500_000_000),
            made: ServerMade { random_uuids: false, times: true, timestamps: false },
            sent: Box::leak(Box::default()),
        }
    }

    /// Returns a context in which servers have made timestamps of columns, and a client has sent this one.
    pub fn with_timestamps(sent: &'static SentValues) -> Context<'static> {
        Context { made: ServerMade { timestamps: true, ..context().made }, sent, ..context() }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::context;

    #[test]
    fn times_belong_to_the_run_of_their_side() {
        let (context, second) = (context(), 1_000_000);
        let (then, now) = (1_000_000_050 * second, 1_500_000_000 * second);
        assert!(context.recorded.has(then) && context.candidate.has(now));
        assert!(!context.recorded.has(now) && !context.candidate.has(5));
        assert_eq!(context.recorded.seconds(), 100);
    }
}
