//! Collects compared calls, with bounded memory: counts, distributions of latencies, and one group for each cause of
//! differences.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

use super::cause::Cause;
use super::compared::{CallDifference, CallOutcome, ComparedCall, DifferenceKind};
use super::latency::Latencies;
use super::names::{NameTable, short};
use super::reproduction::Reproduction;
use super::summary::{CallTotals, Summary};
use crate::limits::{
    REPORT_CAUSES_MAX, REPORT_CLIENTS_MAX, REPORT_FAMILIES_MAX, REPORT_METHODS_MAX,
    REPORT_NAMES_OF_CAUSE_MAX, REPORT_REPRODUCTION_BYTES_MAX, REPORT_REPRODUCTION_CALLS_MAX,
    REPORT_RULES_MAX, REPORT_TEXT_CHARS_MAX,
};

/// The answers that a report compares.
#[derive(Debug, Clone)]
pub struct ReportSubject {
    /// A replay of a recording, or a shadow of a server.
    pub run: RunKind,
    /// The file of the recording, or the address of the primary.
    pub recorded: String,
    /// The address of the candidate.
    pub candidate: String,
}

/// The way in which the calls were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Recorded calls were sent to the candidate.
    Replay,
    /// Calls of clients were answered by the primary and sent to the candidate too.
    Shadow,
}

impl RunKind {
    /// Returns the name of the side whose answers are expected.
    pub fn recorded_name(self) -> &'static str {
        match self {
            RunKind::Replay => "recording",
            RunKind::Shadow => "primary",
        }
    }
}

/// Identifies a cause of differences in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CauseId(usize);

/// The calls of a run, their answers compared. Clones are the same report: one can be read while another is written.
#[derive(Debug, Clone)]
pub struct Report(Arc<Mutex<Collected>>);

/// The counts and differences that a report has collected.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) subject: ReportSubject,
    pub(super) totals: Totals,
    pub(super) interfaces: BTreeMap<String, u64>,
    pub(super) methods: NameTable<MethodCounts>,
    /// By `keyspace.column_family`.
    pub(super) families: NameTable<CallCounts>,
    pub(super) clients: NameTable<CallCounts>,
    /// Calls to which a rule applied.
    pub(super) rules: NameTable<u64>,
    /// The meanings of the rules.
    pub(super) meanings: BTreeMap<String, String>,
    pub(super) not_compared: NameTable<u64>,
    pub(super) recorded: Latencies,
    pub(super) candidate: Latencies,
    causes: BTreeMap<Cause, CauseId>,
    pub(super) groups: Vec<CauseGroup>,
    /// Calls with differences whose causes are not listed.
    pub(super) unlisted: u64,
}

/// Counts of all calls.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Totals {
    pub calls: CallCounts,
    pub reads: u64,
    pub equal: u64,
    pub equal_by_rules: u64,
    pub not_compared: u64,
    pub text: u64,
    pub exception: u64,
    pub data: u64,
    pub without_answer: u64,
    pub missing_writes: u64,
    /// When the first and last calls were sent, in microseconds since 1970.
    pub span_us: Option<(i64, i64)>,
}

/// Counts of some of the calls.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CallCounts {
    pub calls: u64,
    pub writes: u64,
    pub differences: u64,
}

#[derive(Debug, Default)]
pub(super) struct MethodCounts {
    pub calls: CallCounts,
    pub recorded: Latencies,
    pub candidate: Latencies,
}

/// The differences of one cause.
#[derive(Debug)]
pub(super) struct CauseGroup {
    pub cause: Cause,
    pub calls: u64,
    pub methods: NameTable<u64>,
    pub families: NameTable<u64>,
    pub first: DifferenceExample,
    pub last_us: i64,
    pub reproduction: Option<Reproduction>,
    /// Calls of the reproduction that are too many to keep, before those that are kept.
    pub left_out: usize,
}

/// One difference of a group, its texts cut.
#[derive(Debug, Clone)]
pub(super) struct DifferenceExample {
    pub call: u64,
    pub at_us: i64,
    pub method: String,
    pub path: String,
    pub recorded: Option<String>,
    pub candidate: Option<String>,
}

impl Report {
    /// Creates a report without calls.
    pub fn new(subject: ReportSubject) -> Report {
        Report(Arc::new(Mutex::new(Collected::new(subject))))
    }

    /// Adds a call. Returns the cause of its difference, if it has one and the report has no reproduction of it yet.
    pub fn add(&self, compared: &ComparedCall<'_>) -> Option<CauseId> {
        self.0.lock().add(compared)
    }

    /// Counts calls that were not made or not compared, and about which nothing else is known.
    pub fn add_not_compared(&self, reason: &str, calls: u64) {
        self.0.lock().add_not_compared(reason, calls);
    }

    /// Counts calls that the candidate did not get, and about which nothing else is known: they may be writes.
    pub fn add_not_sent(&self, reason: &str, calls: u64) {
        let mut collected = self.0.lock();
        collected.add_not_compared(reason, calls);
        collected.totals.missing_writes += calls;
    }

    /// Sets the meaning of a rule, for readers who do not know its name.
    pub fn explain_rule(&self, rule: &str, meaning: &str) {
        let meanings = &mut self.0.lock().meanings;
        if meanings.len() < REPORT_RULES_MAX {
            meanings.insert(rule.to_owned(), meaning.to_owned());
        }
    }

    /// Sets the reproduction of a cause, unless the report has a better one.
    pub fn set_reproduction(&self, cause: CauseId, reproduction: Reproduction) {
        let groups = &mut self.0.lock().groups;
        let Some(group) = groups.get_mut(cause.0) else { return };
        let is_better =
            group.reproduction.as_ref().is_none_or(|present| reproduction.is_better_than(present));
        if is_better {
            group.set_reproduction(reproduction);
        }
    }

    /// Returns all causes, each with the call in which it was first seen. The most serious ones come first.
    pub fn causes(&self) -> Vec<(CauseId, u64)> {
        let collected = self.0.lock();
        let mut causes: Vec<_> = collected.groups.iter().enumerate().collect();
        causes.sort_by_key(|(_, group)| Reverse((group.cause.kind, group.calls)));
        causes.into_iter().map(|(at, group)| (CauseId(at), group.first.call)).collect()
    }

    /// Returns whether there is a difference of this kind or of a more serious one.
    pub fn has_differences(&self, least: DifferenceKind) -> bool {
        let Totals { text, exception, data, .. } = self.0.lock().totals;
        let counts = [
            (DifferenceKind::Text, text),
            (DifferenceKind::Exception, exception),
            (DifferenceKind::Data, data),
        ];
        counts.into_iter().any(|(kind, calls)| kind >= least && calls > 0)
    }

    /// Returns the counts of all calls.
    pub fn totals(&self) -> CallTotals {
        self.0.lock().call_totals()
    }

    /// Returns the report as data.
    pub fn summary(&self) -> Summary {
        self.0.lock().summary()
    }
}

impl Collected {
    fn new(subject: ReportSubject) -> Collected {
        Collected {
            subject,
            totals: Totals::default(),
            interfaces: BTreeMap::new(),
            methods: NameTable::new(REPORT_METHODS_MAX),
            families: NameTable::new(REPORT_FAMILIES_MAX),
            clients: NameTable::new(REPORT_CLIENTS_MAX),
            rules: NameTable::new(REPORT_RULES_MAX),
            meanings: BTreeMap::new(),
            not_compared: NameTable::new(REPORT_RULES_MAX),
            recorded: Latencies::default(),
            candidate: Latencies::default(),
            causes: BTreeMap::new(),
            groups: Vec::new(),
            unlisted: 0,
        }
    }

    fn add(&mut self, compared: &ComparedCall<'_>) -> Option<CauseId> {
        let differs = matches!(compared.outcome, CallOutcome::Differs(_));
        let count = |counts: &mut CallCounts| {
            counts.calls += 1;
            counts.writes += u64::from(compared.is_write);
            counts.differences += u64::from(differs);
        };
        count(&mut self.totals.calls);
        self.totals.reads += u64::from(!compared.is_write);
        if !compared.family.is_empty() || !compared.keyspace.is_empty() {
            count(self.families.of(&family_name(compared)));
        }
        count(self.clients.of(compared.client));
        let method = self.methods.of(compared.method);
        count(&mut method.calls);
        for (us, ours, of_method) in [
            (compared.recorded_us, &mut self.recorded, &mut method.recorded),
            (compared.candidate_us, &mut self.candidate, &mut method.candidate),
        ] {
            if let Some(us) = us {
                ours.record(us);
                of_method.record(us);
            }
        }
        *self.interfaces.entry(compared.interface.to_string()).or_default() += 1;
        let at = compared.at_us;
        let (first, last) = self.totals.span_us.unwrap_or((at, at));
        self.totals.span_us = Some((first.min(at), last.max(at)));
        for rule in compared.rules {
            *self.rules.of(rule) += 1;
        }
        self.count_outcome(compared)
    }

    fn count_outcome(&mut self, compared: &ComparedCall<'_>) -> Option<CauseId> {
        match compared.outcome {
            CallOutcome::Equal if compared.rules.is_empty() => self.totals.equal += 1,
            CallOutcome::Equal => self.totals.equal_by_rules += 1,
            CallOutcome::NotCompared(reason) | CallOutcome::NotSent(reason) => {
                let is_missing = compared.is_write && matches!(compared.outcome, CallOutcome::NotSent(_));
                self.totals.missing_writes += u64::from(is_missing);
                self.totals.not_compared += 1;
                *self.not_compared.of(reason) += 1;
            }
            CallOutcome::Differs(difference) => {
                match difference.kind {
                    DifferenceKind::Text => self.totals.text += 1,
                    DifferenceKind::Exception => self.totals.exception += 1,
                    DifferenceKind::Data => self.totals.data += 1,
                }
                return self.group(compared, &difference);
            }
        }
        None
    }

    /// Adds a difference to the group of its cause.
    fn group(&mut self, compared: &ComparedCall<'_>, difference: &CallDifference<'_>) -> Option<CauseId> {
        let cause = Cause::of(compared.method, difference);
        if cause.is_without_answer() {
            self.totals.without_answer += 1;
            self.totals.missing_writes += u64::from(compared.is_write);
        }
        let id = match self.causes.get(&cause) {
            Some(id) => *id,
            None if self.groups.len() >= REPORT_CAUSES_MAX => {
                self.unlisted += 1;
                return None;
            }
            None => {
                let id = CauseId(self.groups.len());
                self.groups.push(CauseGroup::new(cause.clone(), DifferenceExample::of(compared, difference)));
                self.causes.insert(cause, id);
                id
            }
        };
        let group = self.groups.get_mut(id.0)?;
        group.calls += 1;
        group.last_us = group.last_us.max(compared.at_us);
        *group.methods.of(compared.method) += 1;
        if !compared.family.is_empty() {
            *group.families.of(&family_name(compared)) += 1;
        }
        group.reproduction.is_none().then_some(id)
    }

    fn add_not_compared(&mut self, reason: &str, calls: u64) {
        if calls > 0 {
            self.totals.calls.calls += calls;
            self.totals.not_compared += calls;
            *self.not_compared.of(reason) += calls;
        }
    }
}

impl CauseGroup {
    fn new(cause: Cause, first: DifferenceExample) -> CauseGroup {
        CauseGroup {
            cause,
            calls: 0,
            methods: NameTable::new(REPORT_NAMES_OF_CAUSE_MAX),
            families: NameTable::new(REPORT_NAMES_OF_CAUSE_MAX),
            last_us: first.at_us,
            first,
            reproduction: None,
            left_out: 0,
        }
    }

    fn set_reproduction(&mut self, mut reproduction: Reproduction) {
        let calls = reproduction.calls.len();
        let mut kept = calls.min(REPORT_REPRODUCTION_CALLS_MAX);
        reproduction.calls.drain(..calls - kept);
        while reproduction.bytes() > REPORT_REPRODUCTION_BYTES_MAX && kept > 0 {
            reproduction.calls.remove(0);
            kept -= 1;
        }
        self.left_out = calls - kept;
        self.reproduction = Some(reproduction);
    }
}

impl DifferenceExample {
    fn of(compared: &ComparedCall<'_>, difference: &CallDifference<'_>) -> DifferenceExample {
        let cut = |text: &str| short(text, REPORT_TEXT_CHARS_MAX).into_owned();
        DifferenceExample {
            call: compared.call,
            at_us: compared.at_us,
            method: cut(compared.method),
            path: cut(difference.path),
            recorded: difference.recorded.map(cut),
            candidate: difference.candidate.map(cut),
        }
    }
}

/// Returns the name of a call's column family in tables of names.
fn family_name(compared: &ComparedCall<'_>) -> String {
    match (compared.keyspace, compared.family) {
        (keyspace, "") => keyspace.to_owned(),
        ("", family) => family.to_owned(),
        (keyspace, family) => format!("{keyspace}.{family}"),
    }
}
