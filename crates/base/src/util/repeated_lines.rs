//! Counts repeated log lines instead of logging each of them.
//!
//! The first line of each kind in a period is logged. Repetitions are counted, and logged as one line when the period
//! ends.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::util::limits::{LOG_KIND_BYTES_MAX, LOG_KINDS_MAX, LOG_PERIOD_S};

/// The kind of all lines beyond `LOG_KINDS_MAX` kinds.
const OTHERS: &str = "other lines";

/// The lines of one subject, such as the ends of connections.
#[derive(Debug, Default)]
pub struct RepeatedLines {
    /// The number of repetitions of each kind since it was logged.
    kinds: Mutex<HashMap<String, usize>>,
}

/// The treatment of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineTreatment {
    /// Log it, and let a task end the period later: it begins a period.
    BeginsPeriod,
    /// Log it.
    Log,
    /// Do not log it: it was counted.
    Counted,
}

impl RepeatedLines {
    /// Returns whether a line of this kind was logged in this period, so that it is only counted. The counts are logged
    /// when the period ends, by a task of the runtime.
    pub fn is_counted(self: &Arc<RepeatedLines>, kind: &str) -> bool {
        let line = self.record(kind);
        if line == LineTreatment::BeginsPeriod {
            let lines = self.clone();
            tokio::spawn(async move {
                let period = Duration::from_secs(LOG_PERIOD_S);
                tokio::time::sleep(period).await;
                lines.end_period(period).iter().for_each(|line| tracing::info!("{line}"));
            });
        }
        line == LineTreatment::Counted
    }

    /// Records a line of a kind. Returns the treatment of the line.
    fn record(&self, kind: &str) -> LineTreatment {
        let mut end = kind.len().min(LOG_KIND_BYTES_MAX);
        while !kind.is_char_boundary(end) {
            end -= 1;
        }
        let kind = &kind[..end];
        let mut kinds = self.kinds.lock();
        if let Some(count) = kinds.get_mut(kind) {
            *count += 1;
            return LineTreatment::Counted;
        }
        let is_first = kinds.is_empty();
        if kinds.len() >= LOG_KINDS_MAX {
            *kinds.entry(OTHERS.to_owned()).or_default() += 1;
            return LineTreatment::Counted;
        }
        kinds.insert(kind.to_owned(), 0);
        if is_first { LineTreatment::BeginsPeriod } else { LineTreatment::Log }
    }

    /// Ends a period of the length `period`, and returns the lines that summarize it.
    fn end_period(&self, period: Duration) -> Vec<String> {
        let mut repeated: Vec<_> = self.kinds.lock().drain().filter(|(_, count)| *count > 0).collect();
        repeated.sort_unstable();
        let seconds = period.as_secs();
        let lines = repeated.into_iter();
        lines
            .map(|(kind, count)| format!("{kind}: and {count} more like it in the last {seconds} s"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_first_line_of_a_period_is_logged_and_the_others_are_counted() {
        let lines = RepeatedLines::default();
        for _ in 0..2 {
            assert_eq!(lines.record("a"), LineTreatment::BeginsPeriod);
            assert_eq!(lines.record("b"), LineTreatment::Log);
            for _ in 0..3212 {
                assert_eq!(lines.record("a"), LineTreatment::Counted);
            }
            assert_eq!(lines.end_period(MINUTE), ["a: and 3212 more like it in the last 60 s"]);
        }
        assert!(lines.end_period(MINUTE).is_empty());
    }

    #[test]
    fn the_memory_of_lines_is_bounded() {
        let lines = RepeatedLines::default();
        for number in 0..10_000 {
            lines.record(&format!("{number} {}", "\u{fc}".repeat(10_000)));
        }
        let kinds = lines.kinds.lock().len();
        assert_eq!(kinds, LOG_KINDS_MAX + 1);
        let longest = lines.kinds.lock().keys().map(String::len).max();
        assert!(longest <= Some(LOG_KIND_BYTES_MAX), "{longest:?}");
        let summary = lines.end_period(MINUTE);
        assert_eq!(
            summary,
            [format!("{OTHERS}: and {} more like it in the last 60 s", 10_000 - LOG_KINDS_MAX)]
        );
    }
}
