//! Looks at the limits of this machine and process.

use std::time::{SystemTime, UNIX_EPOCH};

use indicatif::HumanBytes;
use rustix::process::{Resource, getrlimit};

use super::finding::Findings;
use base::util::process_memory;

/// Open files that a few thousand connections and the tables of a large data directory need.
const DESCRIPTORS_ENOUGH: u64 = 4096;
/// Memory that the server and its default cache use under load, in bytes.
const MEMORY_ENOUGH: usize = 512 << 20;
/// 2026-01-01, in seconds: clocks before it are wrong.
const FIRST_PLAUSIBLE_S: u64 = 1_767_225_600;

pub(super) fn check(findings: &mut Findings) {
    check_descriptors(getrlimit(Resource::Nofile).maximum, findings);
    check_memory(process_memory::limit(), findings);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    check_clock(now, findings);
}

/// Checks the hard limit of open files, to which `serve` raises its own. `None` means no limit.
fn check_descriptors(limit: Option<u64>, findings: &mut Findings) {
    match limit {
        Some(limit) if limit < DESCRIPTORS_ENOUGH => findings.advice(
            format!("this process may open {limit} files only; each connection and each table needs one"),
            format!(
                "raise the hard limit to {DESCRIPTORS_ENOUGH} or more: `ulimit -Hn`, or LimitNOFILE of a unit of systemd"
            ),
        ),
        Some(limit) => findings.fine(format!("open files: up to {limit}")),
        None => findings.fine("open files: no limit"),
    }
}

fn check_memory(limit: Option<usize>, findings: &mut Findings) {
    let Some(limit) = limit else {
        return findings
            .advice("the memory of this machine is unknown", "set --cache-mb and --request-memory-mb");
    };
    let bytes = HumanBytes(limit as u64);
    if limit < MEMORY_ENOUGH {
        findings.advice(
            format!("this process may use {bytes} of memory; the cache and requests get parts of it"),
            "set smaller limits by --cache-mb and --request-memory-mb if requests are refused for lack of memory",
        );
    } else {
        findings.fine(format!("memory: up to {bytes}"));
    }
}

fn check_clock(now_s: u64, findings: &mut Findings) {
    if now_s < FIRST_PLAUSIBLE_S {
        findings.problem(
            "the clock of this machine is years behind: new writes without a timestamp lose against older ones",
            "set the clock before the server starts",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::Severity;

    fn severities(check: impl FnOnce(&mut Findings)) -> Vec<Severity> {
        let mut findings = Findings::default();
        check(&mut findings);
        findings.all().iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn low_limits_are_reported() {
        let descriptors = |limit| severities(|findings| check_descriptors(limit, findings));
        assert_eq!(descriptors(Some(1024)), [Severity::Advice]);
        assert_eq!(descriptors(Some(1 << 20)), [Severity::Fine]);
        assert_eq!(descriptors(None), [Severity::Fine]);
        let memory = |limit| severities(|findings| check_memory(limit, findings));
        assert_eq!(memory(Some(100 << 20)), [Severity::Advice]);
        assert_eq!(memory(Some(4 << 30)), [Severity::Fine]);
        assert_eq!(memory(None), [Severity::Advice]);
    }

    #[test]
    fn a_clock_in_the_past_is_a_problem() {
        assert_eq!(severities(|findings| check_clock(0, findings)), [Severity::Problem]);
        assert_eq!(severities(|findings| check_clock(FIRST_PLAUSIBLE_S, findings)), []);
    }
}
