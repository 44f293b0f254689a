//! The report as one page of HTML, which needs neither the network nor a script.
//!
//! `report.html` is the page. All texts of clients and servers go through [`Escaped`], and the page forbids scripts and
//! requests by its content security policy. Colours follow the reader's system: light or dark.

mod plot;

use askama::Template;

use super::code::capital;
use super::names::shown_table;
use super::summary::{ExampleSummary, MissingTable, NamedCalls, ReproductionSummary, Summary, Verdict};
use super::visible::{Escaped, EscapedLines, Percent, Thousands};
use base::marshal::timestamp_text;

const STYLE: &str = include_str!("style.css");

/// Numbers of calls that the line of a reproduction lists.
const CALLS_LISTED_MAX: usize = 20;

#[derive(Template)]
#[template(path = "report/html/report.html")]
struct ReportPage<'a> {
    summary: &'a Summary,
    headline: String,
    /// The section of latencies behind its title.
    plot: String,
}

/// A part of all calls, with a colour, and the section that is about it.
struct CallShare {
    class: &'static str,
    name: &'static str,
    calls: u64,
    section: &'static str,
}

impl Summary {
    /// Returns the report as a page of HTML.
    pub fn html(&self) -> String {
        let mut plot = String::new();
        // Writing to a String cannot fail.
        let _ = plot::section(&mut plot, self);
        let page = ReportPage { summary: self, headline: self.verdict.headline(self), plot };
        page.render().unwrap_or_default()
    }
}

impl ReportPage<'_> {
    fn run_name(&self) -> &'static str {
        match self.summary.run {
            super::RunKind::Replay => "replay",
            super::RunKind::Shadow => "shadow",
        }
    }

    /// Returns the class, the sign and the words of the verdict.
    fn verdict(&self) -> (&'static str, &'static str, &'static str) {
        match self.summary.verdict {
            Verdict::Same => ("same", "✓", "Same answers"),
            Verdict::Differs => ("differs", "≠", "Different answers"),
            Verdict::Incomplete => ("differs", "!", "Writes are missing"),
            Verdict::Nothing => ("nothing", "–", "No verdict"),
        }
    }

    /// Returns class and name of both sides, and the servers.
    fn sides(&self) -> [(&'static str, String, &str); 2] {
        let Summary { run, recorded, candidate, .. } = self.summary;
        let [first, second] = [run.recorded_name(), "candidate"].map(capital);
        [("recorded", first, recorded), ("candidate", second, candidate)]
    }

    /// Returns class and name of both sides, and their answers.
    fn answers<'e>(&self, example: &'e ExampleSummary) -> [(&'static str, String, Option<&'e str>); 2] {
        let [(class, first, _), (other_class, second, _)] = self.sides();
        let (recorded, candidate) = (example.recorded.as_deref(), example.candidate.as_deref());
        [(class, first, recorded), (other_class, second, candidate)]
    }

    fn shares(&self) -> [CallShare; 6] {
        let calls = &self.summary.calls;
        let parts = [
            ("equal", "Equal", calls.equal, ""),
            ("rules", "Equal by rules", calls.equal_by_rules, "rules"),
            ("data", "Different data", calls.data, "differences"),
            ("exception", "Different exceptions", calls.exception, "differences"),
            ("text", "Different texts", calls.text, "differences"),
            ("not-compared", "Not compared", calls.not_compared, "not-compared"),
        ];
        parts.map(|(class, name, calls, section)| CallShare { class, name, calls, section })
    }

    /// Returns the part of all calls.
    fn share(&self, part: &u64) -> Percent {
        Percent { part: *part, whole: self.summary.calls.total }
    }

    /// Returns the tables of what was asked, with their titles.
    fn asked(&self) -> [(&'static str, Vec<&NamedCalls>); 3] {
        let Summary { methods, families, clients, .. } = self.summary;
        [
            ("Methods", methods.iter().map(|method| &method.counts).collect()),
            ("Column families", families.iter().collect()),
            ("Clients", clients.iter().collect()),
        ]
    }

    /// Returns a count with its noun.
    fn calls(&self, count: &u64) -> String {
        if *count == 1 { "1 call".to_owned() } else { format!("{} calls", Thousands(*count)) }
    }

    fn time(&self, us: &i64) -> String {
        timestamp_text(us.div_euclid(1000))
    }

    /// Returns the width of a bar in percent.
    fn width(&self, part: &u64, most: &u64) -> String {
        format!("{:.2}", *part as f64 * 100.0 / (*most).max(1) as f64)
    }

    /// Returns what is known about the length of a reproduction.
    fn found(&self, reproduction: &ReproductionSummary) -> String {
        match (reproduction.is_shortest, reproduction.calls.len() + reproduction.left_out) {
            (true, 1) => "One call is enough to show the difference.".to_owned(),
            (true, calls) => format!("No fewer than these {calls} calls were found to show the difference."),
            (false, 1) => "The call that differs. Whether it is enough was not tried.".to_owned(),
            (false, calls) => {
                format!("{calls} calls, the last of which differs. Whether fewer are enough was not tried.")
            }
        }
    }

    fn listed_calls(&self, calls: &[u64]) -> String {
        let numbers: Vec<String> = calls.iter().take(CALLS_LISTED_MAX).map(u64::to_string).collect();
        numbers.join(", ") + if calls.len() > CALLS_LISTED_MAX { ", …" } else { "" }
    }

    fn thousands(&self, count: &u64) -> Thousands {
        Thousands(*count)
    }

    fn table_name<'r>(&self, row: &'r MissingTable) -> &'r str {
        shown_table(&row.table)
    }

    fn reads(&self, row: &NamedCalls) -> Thousands {
        Thousands(row.calls.saturating_sub(row.writes))
    }

    /// Returns the calls of the row with the most; `None` without rows.
    fn most(&self, rows: &[&NamedCalls]) -> Option<u64> {
        rows.iter().map(|row| row.calls).max()
    }

    fn escaped<'t>(&self, text: &'t str) -> Escaped<'t> {
        Escaped(text)
    }

    fn lines<'t>(&self, text: &'t str) -> EscapedLines<'t> {
        EscapedLines(text)
    }

    fn style(&self) -> &'static str {
        STYLE
    }
}
