//! A report as data: the contents of its JSON, and the source of its text and its page.

use serde::Serialize;

use super::code::{Snippet, snippets};
use super::collect::{CallCounts, CauseGroup, Collected, RunKind};
use super::compared::DifferenceKind;
use super::latency::LatencySummary;
use super::names::NameTable;
use crate::limits::REPORT_SNIPPETS_BYTES_MAX;

/// The version of the JSON.
const FORMAT: u32 = 1;

/// The name of the entry that counts all names which have no entry of their own.
const OTHERS: &str = "(others)";

/// A report as data.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The version of the JSON.
    pub format: u32,
    /// The program that has written the report, with its version.
    pub program: &'static str,
    /// `replay` or `shadow`.
    pub run: RunKind,
    /// The file of the recording, or the address of the primary.
    pub recorded: String,
    /// The address of the candidate.
    pub candidate: String,
    /// The result in one word.
    pub verdict: Verdict,
    /// The counts of all calls.
    pub calls: CallTotals,
    /// When the first and the last call were sent, in microseconds since 1970.
    pub first_us: Option<i64>,
    /// When the last call was sent.
    pub last_us: Option<i64>,
    /// Causes of differences: the most serious first, then those with the most calls.
    pub causes: Vec<CauseSummary>,
    /// Calls with differences of causes that are too many to list.
    pub unlisted_differences: u64,
    /// The latencies of all calls.
    pub latency: SideLatencies,
    /// The calls by method.
    pub methods: Vec<MethodSummary>,
    /// The calls by interface.
    pub interfaces: Vec<CountedName>,
    /// The calls by column family.
    pub families: Vec<NamedCalls>,
    /// The calls by host of the client.
    pub clients: Vec<NamedCalls>,
    /// The rules by which answers count as equal, and how often.
    pub rules: Vec<RuleSummary>,
    /// Calls that were not compared, by reason.
    pub not_compared: Vec<CountedName>,
    /// The writes that a queue has not brought to the candidate. Absent without a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingWrites>,
}

/// The writes that a queue has brought to the candidate, and those that it has not.
#[derive(Debug, Clone, Serialize)]
pub struct MissingWrites {
    /// Writes that the candidate has acknowledged since the start.
    pub sent: u64,
    /// Writes in the queue.
    pub unsent: u64,
    /// Why the queue cannot go on; `None` if it can.
    pub trouble: Option<String>,
    /// Tables that must be compared or copied again.
    pub tables: Vec<MissingTable>,
}

/// A table that must be compared or copied again.
#[derive(Debug, Clone, Serialize)]
pub struct MissingTable {
    /// `KEYSPACE.FAMILY`; empty if it may be any.
    pub table: String,
    /// Why the candidate does not have these writes.
    pub reason: String,
    /// The candidate's error; empty for other reasons.
    pub error: String,
    /// The number of writes.
    pub writes: u64,
}

/// The result in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All compared answers are equal.
    Same,
    /// Some compared answers differ.
    Differs,
    /// All compared answers are equal, but writes are missing from the candidate.
    Incomplete,
    /// No answers were compared.
    Nothing,
}

/// Counts of all calls.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CallTotals {
    pub total: u64,
    pub reads: u64,
    pub writes: u64,
    pub compared: u64,
    pub equal: u64,
    pub equal_by_rules: u64,
    pub differences: u64,
    pub data: u64,
    pub exception: u64,
    pub text: u64,
    /// Differences in which the candidate has not answered.
    pub without_answer: u64,
    pub not_compared: u64,
    /// Writes that were not sent to the candidate or that it has not answered, and calls of unknown kind that were not
    /// sent.
    pub missing_writes: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct CauseSummary {
    /// The name of the cause in this report, such as `D1`.
    pub id: String,
    pub kind: DifferenceKind,
    pub title: String,
    pub is_without_answer: bool,
    pub calls: u64,
    pub first_us: i64,
    pub last_us: i64,
    pub methods: Vec<CountedName>,
    pub families: Vec<CountedName>,
    pub example: ExampleSummary,
    pub reproduction: Option<ReproductionSummary>,
}

/// The first difference of a cause.
#[derive(Debug, Clone, Serialize)]
pub struct ExampleSummary {
    pub call: u64,
    pub method: String,
    pub path: String,
    pub recorded: Option<String>,
    pub candidate: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ReproductionSummary {
    /// The numbers of the calls in the recording.
    pub calls: Vec<u64>,
    /// Calls before them that are too many or too long to list.
    pub left_out: usize,
    pub is_shortest: bool,
    pub command: Option<String>,
    /// The calls as code. Empty if they are too long.
    pub code: Vec<Snippet>,
}

#[derive(Debug, Clone, Serialize)]
pub struct SideLatencies {
    pub recorded: LatencySummary,
    pub candidate: LatencySummary,
}

#[derive(Debug, Clone, Serialize)]
pub struct MethodSummary {
    #[serde(flatten)]
    pub counts: NamedCalls,
    pub latency: SideLatencies,
}

/// Counts of the calls with one name.
#[derive(Debug, Clone, Serialize)]
pub struct NamedCalls {
    pub name: String,
    pub calls: u64,
    pub writes: u64,
    pub differences: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct CountedName {
    pub name: String,
    pub calls: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct RuleSummary {
    pub name: String,
    pub meaning: Option<String>,
    pub calls: u64,
}

impl Collected {
    /// Returns the report as data.
    pub(super) fn summary(&self) -> Summary {
        let span = self.totals.span_us;
        let calls = self.call_totals();
        Summary {
            format: FORMAT,
            program: concat!("thriftstore ", env!("CARGO_PKG_VERSION")),
            run: self.subject.run,
            recorded: self.subject.recorded.clone(),
            candidate: self.subject.candidate.clone(),
            verdict: match calls {
                CallTotals { compared: 0, .. } => Verdict::Nothing,
                CallTotals { differences: 1.., .. } => Verdict::Differs,
                CallTotals { missing_writes: 1.., .. } => Verdict::Incomplete,
                _ => Verdict::Same,
            },
            calls,
            first_us: span.map(|(first, _)| first),
            last_us: span.map(|(_, last)| last),
            causes: self.cause_summaries(),
            unlisted_differences: self.unlisted,
            latency: SideLatencies { recorded: self.recorded.summary(), candidate: self.candidate.summary() },
            methods: self.method_summaries(),
            interfaces: by_calls(self.interfaces.iter().map(|(name, calls)| count(Some(name), *calls))),
            families: named_calls(&self.families),
            clients: named_calls(&self.clients),
            rules: self.rule_summaries(),
            not_compared: counts(&self.not_compared),
            missing: None,
        }
    }

    pub(super) fn call_totals(&self) -> CallTotals {
        let totals = &self.totals;
        let CallCounts { calls, writes, differences } = totals.calls;
        CallTotals {
            total: calls,
            reads: totals.reads,
            writes,
            compared: calls - totals.not_compared,
            equal: totals.equal,
            equal_by_rules: totals.equal_by_rules,
            differences,
            data: totals.data,
            exception: totals.exception,
            text: totals.text,
            without_answer: totals.without_answer,
            not_compared: totals.not_compared,
            missing_writes: totals.missing_writes,
        }
    }

    fn cause_summaries(&self) -> Vec<CauseSummary> {
        let mut groups: Vec<&CauseGroup> = self.groups.iter().collect();
        groups.sort_by_key(|group| {
            (std::cmp::Reverse(group.cause.kind), std::cmp::Reverse(group.calls), group.first.call)
        });
        let mut room = REPORT_SNIPPETS_BYTES_MAX;
        let numbered = groups.into_iter().enumerate();
        numbered.map(|(at, group)| self.cause_summary(format!("D{}", at + 1), group, &mut room)).collect()
    }

    /// Returns a cause with its code, if `room` has that many bytes left.
    fn cause_summary(&self, id: String, group: &CauseGroup, room: &mut usize) -> CauseSummary {
        let first = &group.first;
        let reproduction = group.reproduction.as_ref().map(|reproduction| {
            let mut code = snippets(reproduction);
            let bytes = code.iter().map(|snippet| snippet.text.len()).sum();
            match room.checked_sub(bytes) {
                Some(left) => *room = left,
                None => code.clear(),
            }
            ReproductionSummary {
                calls: reproduction.calls.iter().map(|call| call.call).collect(),
                left_out: group.left_out,
                is_shortest: reproduction.is_shortest,
                command: reproduction.command.clone(),
                code,
            }
        });
        CauseSummary {
            id,
            kind: group.cause.kind,
            title: group.cause.title(self.subject.run.recorded_name(), "candidate"),
            is_without_answer: group.cause.is_without_answer(),
            calls: group.calls,
            first_us: first.at_us,
            last_us: group.last_us,
            methods: counts(&group.methods),
            families: counts(&group.families),
            example: ExampleSummary {
                call: first.call,
                method: first.method.clone(),
                path: first.path.clone(),
                recorded: first.recorded.clone(),
                candidate: first.candidate.clone(),
            },
            reproduction,
        }
    }

    fn method_summaries(&self) -> Vec<MethodSummary> {
        let methods = self.methods.iter().map(|(name, method)| MethodSummary {
            counts: named(name, &method.calls),
            latency: SideLatencies {
                recorded: method.recorded.summary(),
                candidate: method.candidate.summary(),
            },
        });
        let mut methods: Vec<_> = methods.collect();
        methods.sort_by_key(|method| std::cmp::Reverse(method.counts.calls));
        methods
    }

    fn rule_summaries(&self) -> Vec<RuleSummary> {
        let rules = counts(&self.rules).into_iter().map(|CountedName { name, calls }| RuleSummary {
            meaning: self.meanings.get(&name).cloned(),
            name,
            calls,
        });
        rules.collect()
    }
}

impl Summary {
    /// Adds the writes of a queue. Those that the candidate does not have make the result `Incomplete` at best.
    #[must_use]
    pub fn with_missing(mut self, missing: MissingWrites) -> Summary {
        self.calls.missing_writes +=
            missing.unsent + missing.tables.iter().map(|table| table.writes).sum::<u64>();
        if self.verdict == Verdict::Same && self.calls.missing_writes > 0 {
            self.verdict = Verdict::Incomplete;
        }
        self.missing = Some(missing);
        self
    }

    /// Returns the report as one line of JSON.
    pub fn json(&self) -> String {
        // Numbers, texts and lists always have a JSON form.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl Verdict {
    /// Returns the result as a sentence without its end: `3 causes of differences in 1,204,331 calls`.
    pub fn headline(self, summary: &Summary) -> String {
        use super::visible::Thousands;
        let plural = |count: u64, word: &str| match count {
            1 => format!("1 {word}"),
            count => format!("{} {word}s", Thousands(count)),
        };
        let CallTotals { total, compared, differences, missing_writes, .. } = summary.calls;
        let headline = match self {
            Verdict::Nothing if total == 0 => "No calls".to_owned(),
            Verdict::Nothing => format!("No answers of {} were compared", plural(total, "call")),
            Verdict::Same | Verdict::Incomplete => format!("No differences in {}", plural(compared, "call")),
            Verdict::Differs => {
                let causes = summary.causes.len() as u64;
                let more = if summary.unlisted_differences > 0 { "more than " } else { "" };
                let differ = if differences == 1 { "differs" } else { "differ" };
                format!(
                    "{} of {} {differ}, from {more}{}",
                    Thousands(differences),
                    plural(compared, "call"),
                    plural(causes, "cause")
                )
            }
        };
        match missing_writes {
            0 => headline,
            missing => format!("{headline}, and {} missing from the candidate", plural(missing, "write")),
        }
    }
}

fn count(name: Option<&str>, calls: u64) -> CountedName {
    CountedName { name: name.unwrap_or(OTHERS).to_owned(), calls }
}

fn counts(table: &NameTable<u64>) -> Vec<CountedName> {
    by_calls(table.iter().map(|(name, calls)| count(name, *calls)))
}

fn by_calls(counts: impl Iterator<Item = CountedName>) -> Vec<CountedName> {
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.calls));
    counts
}

fn named(name: Option<&str>, counts: &CallCounts) -> NamedCalls {
    let CallCounts { calls, writes, differences } = *counts;
    NamedCalls { name: name.unwrap_or(OTHERS).to_owned(), calls, writes, differences }
}

fn named_calls(table: &NameTable<CallCounts>) -> Vec<NamedCalls> {
    let mut all: Vec<_> = table.iter().map(|(name, counts)| named(name, counts)).collect();
    all.sort_by_key(|entry| std::cmp::Reverse(entry.calls));
    all
}
