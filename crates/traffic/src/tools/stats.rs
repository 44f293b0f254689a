//! Counts of a recording: calls, clients, and times of answers.

use std::fmt;

use serde::Serialize;

use super::super::report::{Latencies, LatencySummary, Micros, NameTable, Thousands, Visible};
use super::{PairedCall, Pairing};
use crate::event::host_of;
use crate::limits::{REPORT_CLIENTS_MAX, REPORT_FAMILIES_MAX, REPORT_METHODS_MAX};
use base::marshal::timestamp_text;

/// Counts calls, with bounded memory.
#[derive(Debug)]
pub struct Stats {
    calls: Counts,
    methods: NameTable<Counts>,
    families: NameTable<Tally>,
    clients: NameTable<Tally>,
    interfaces: NameTable<Tally>,
    first_us: Option<i64>,
    last_us: Option<i64>,
}

#[derive(Debug, Default)]
struct Tally {
    calls: u64,
    failed: u64,
}

#[derive(Debug, Default)]
struct Counts {
    tally: Tally,
    unanswered: u64,
    latencies: Latencies,
}

/// The counts as data.
#[derive(Debug, Serialize)]
pub struct StatsSummary {
    /// Microseconds since 1970; `None` without calls.
    pub first_us: Option<i64>,
    /// The end, as `first_us`.
    pub last_us: Option<i64>,
    /// All calls.
    pub calls: u64,
    /// Calls that ended with an exception.
    pub failed: u64,
    /// Calls without an answer.
    pub unanswered: u64,
    /// Messages that could not be decoded.
    pub unreadable: u64,
    /// Messages that the recorder could not record, by reason.
    pub lost: Vec<NamedCount>,
    /// The times of all answers.
    pub latency: LatencySummary,
    /// The calls by method.
    pub methods: Vec<MethodCount>,
    /// The calls by column family.
    pub families: Vec<NamedCount>,
    /// The calls by host of the client.
    pub clients: Vec<NamedCount>,
    /// The calls by interface.
    pub interfaces: Vec<NamedCount>,
}

#[derive(Debug, Serialize)]
pub struct NamedCount {
    pub name: String,
    pub calls: u64,
    pub failed: u64,
}

#[derive(Debug, Serialize)]
pub struct MethodCount {
    pub name: String,
    pub calls: u64,
    pub failed: u64,
    pub unanswered: u64,
    pub latency: LatencySummary,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            calls: Counts::default(),
            methods: NameTable::new(REPORT_METHODS_MAX),
            families: NameTable::new(REPORT_FAMILIES_MAX),
            clients: NameTable::new(REPORT_CLIENTS_MAX),
            interfaces: NameTable::new(REPORT_METHODS_MAX),
            first_us: None,
            last_us: None,
        }
    }
}

impl Counts {
    fn add(&mut self, paired: &PairedCall) {
        self.tally.add(paired);
        match paired.latency_us() {
            Some(took) => self.latencies.record(took),
            None => self.unanswered += u64::from(!paired.call.is_oneway()),
        }
    }
}

impl Tally {
    fn add(&mut self, paired: &PairedCall) {
        self.calls += 1;
        self.failed += u64::from(paired.has_failed());
    }
}

impl Stats {
    /// Adds a call.
    pub fn add(&mut self, paired: &PairedCall) {
        self.first_us = Some(self.first_us.map_or(paired.at_us, |first| first.min(paired.at_us)));
        self.last_us = Some(self.last_us.map_or(paired.at_us, |last| last.max(paired.at_us)));
        self.calls.add(paired);
        self.methods.of(&paired.call.method).add(paired);
        if let Some(family) = &paired.call.family {
            let name = match &paired.call.keyspace {
                Some(keyspace) => format!("{keyspace}.{family}"),
                None => family.clone(),
            };
            self.families.of(&name).add(paired);
        }
        self.clients.of(host_of(&paired.client)).add(paired);
        self.interfaces.of(&paired.call.interface.to_string()).add(paired);
    }

    /// Returns the counts as data, the most frequent names first. `pairing` has the messages that could not be decoded.
    pub fn summary(&self, pairing: &Pairing) -> StatsSummary {
        let lost = pairing.losses().iter().map(|loss| NamedCount {
            name: loss.why.name().to_owned(),
            calls: loss.messages,
            failed: 0,
        });
        let method = |(name, counts): (Option<&str>, &Counts)| MethodCount {
            name: name.unwrap_or("(others)").to_owned(),
            calls: counts.tally.calls,
            failed: counts.tally.failed,
            unanswered: counts.unanswered,
            latency: counts.latencies.summary(),
        };
        let mut methods: Vec<MethodCount> = self.methods.iter().map(method).collect();
        methods.sort_by_key(|method| std::cmp::Reverse(method.calls));
        StatsSummary {
            first_us: self.first_us,
            last_us: self.last_us,
            calls: self.calls.tally.calls,
            failed: self.calls.tally.failed,
            unanswered: self.calls.unanswered,
            unreadable: pairing.unreadable(),
            lost: lost.collect(),
            latency: self.calls.latencies.summary(),
            methods,
            families: named(&self.families),
            clients: named(&self.clients),
            interfaces: named(&self.interfaces),
        }
    }
}

fn named(table: &NameTable<Tally>) -> Vec<NamedCount> {
    let count = |(name, tally): (Option<&str>, &Tally)| NamedCount {
        name: name.unwrap_or("(others)").to_owned(),
        calls: tally.calls,
        failed: tally.failed,
    };
    let mut counts: Vec<NamedCount> = table.iter().map(count).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.calls));
    counts
}

impl fmt::Display for StatsSummary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |us: i64| timestamp_text(us.div_euclid(1000));
        writeln!(
            out,
            "{} calls, {} exceptions, {} without an answer",
            Thousands(self.calls),
            Thousands(self.failed),
            Thousands(self.unanswered)
        )?;
        if let (Some(first), Some(last)) = (self.first_us, self.last_us) {
            writeln!(out, "from {} to {}", time(first), time(last))?;
        }
        if self.unreadable > 0 {
            writeln!(out, "{} messages cannot be decoded", Thousands(self.unreadable))?;
        }
        for lost in &self.lost {
            writeln!(out, "not recorded ({}): {} messages", lost.name, Thousands(lost.calls))?;
        }
        writeln!(
            out,
            "\n{:<32} {:>12} {:>10} {:>10} {:>10} {:>10}",
            "Methods", "calls", "failed", "p50", "p99", "max"
        )?;
        for method in &self.methods {
            let at = |percent: f64| {
                let found =
                    method.latency.percentiles.iter().find(|one| (one.percent - percent).abs() < 0.01);
                found.map_or_else(|| "-".to_owned(), |one| Micros(one.us as f64).to_string())
            };
            let name = Visible(&method.name).to_string();
            writeln!(
                out,
                "{name:<32} {:>12} {:>10} {:>10} {:>10} {:>10}",
                Thousands(method.calls),
                Thousands(method.failed),
                at(50.0),
                at(99.0),
                Micros(method.latency.max_us as f64)
            )?;
        }
        let tables = [
            ("Column families", &self.families),
            ("Clients", &self.clients),
            ("Interfaces", &self.interfaces),
        ];
        for (title, counts) in tables.into_iter().filter(|(_, counts)| !counts.is_empty()) {
            writeln!(out, "\n{title:<32} {:>12} {:>10}", "calls", "failed")?;
            for count in counts {
                let name = Visible(&count.name).to_string();
                writeln!(out, "{name:<32} {:>12} {:>10}", Thousands(count.calls), Thousands(count.failed))?;
            }
        }
        Ok(())
    }
}
