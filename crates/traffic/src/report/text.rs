//! The report as text, for terminals.

use std::fmt::{self, Write};

use super::latency::LatencySummary;
use super::names::shown_table;
use super::summary::{CallTotals, CauseSummary, CountedName, MissingWrites, Summary};
use super::visible::{Micros, Percent, Thousands, Visible};
use base::marshal::timestamp_text;
use base::util::listed;

/// Rows of a table. The JSON and the page have all.
const ROWS_MAX: usize = 20;

/// Characters of an answer that differs.
const ANSWER_CHARS_MAX: usize = 300;
/// Names on one line; further ones are counted.
const NAMES_SHOWN: usize = 5;

impl Summary {
    /// Returns the report as lines of text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write(&mut out, self);
        out
    }
}

fn write(out: &mut String, summary: &Summary) -> fmt::Result {
    writeln!(out, "{}", summary.verdict.headline(summary))?;
    let recorded = summary.run.recorded_name();
    writeln!(out, "{:<12}{}", format!("{recorded}:"), Visible(&summary.recorded))?;
    writeln!(out, "{:<12}{}", "candidate:", Visible(&summary.candidate))?;
    if let (Some(first), Some(last)) = (summary.first_us, summary.last_us) {
        let text = |us: i64| timestamp_text(us.div_euclid(1000));
        writeln!(out, "{:<12}{} to {}", "calls from:", text(first), text(last))?;
    }
    totals(out, &summary.calls)?;
    for cause in &summary.causes {
        write_cause(out, cause, recorded)?;
    }
    if summary.unlisted_differences > 0 {
        writeln!(out, "\n{} calls differ for further causes", Thousands(summary.unlisted_differences))?;
    }
    latencies(out, summary, recorded)?;
    asked(out, summary)?;
    if !summary.rules.is_empty() {
        writeln!(out, "\n{:<40}{:>14}", "Rules by which answers count as equal", "calls")?;
        for rule in &summary.rules {
            let meaning = rule.meaning.as_deref().unwrap_or_default();
            writeln!(
                out,
                "  {:<38}{:>14}  {}",
                Visible(&rule.name).to_string(),
                Thousands(rule.calls),
                Visible(meaning)
            )?;
        }
    }
    list(out, "Not compared", &summary.not_compared)?;
    summary.missing.as_ref().map_or(Ok(()), |missing| write_missing(out, missing))
}

/// Writes the numbers of the queue, and the tables that must be compared or copied again.
fn write_missing(out: &mut String, missing: &MissingWrites) -> fmt::Result {
    writeln!(
        out,
        "\nWrites sent by the queue: {}, not sent: {}",
        Thousands(missing.sent),
        Thousands(missing.unsent)
    )?;
    if let Some(trouble) = &missing.trouble {
        writeln!(out, "  the queue cannot go on: {}", Visible(trouble))?;
    }
    for table in missing.tables.iter().take(ROWS_MAX) {
        write!(
            out,
            "  compare or copy again: {} ({} writes): {}",
            Visible(shown_table(&table.table)),
            Thousands(table.writes),
            table.reason
        )?;
        if table.error.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, ": {}", Visible(&table.error))?;
        }
    }
    if missing.tables.len() > ROWS_MAX {
        writeln!(out, "  and {} more", missing.tables.len() - ROWS_MAX)?;
    }
    Ok(())
}

fn totals(out: &mut String, calls: &CallTotals) -> fmt::Result {
    writeln!(out)?;
    let mut row = |name: &str, count: u64, whole: u64| {
        writeln!(out, "{name:<28}{:>14}{:>12}", Thousands(count), Percent { part: count, whole })
    };
    row("calls", calls.total, calls.total)?;
    row("  compared", calls.compared, calls.total)?;
    row("    equal", calls.equal, calls.compared)?;
    row("    equal by rules", calls.equal_by_rules, calls.compared)?;
    row("    different data", calls.data, calls.compared)?;
    row("    different exceptions", calls.exception, calls.compared)?;
    row("    different texts", calls.text, calls.compared)?;
    row("  not compared", calls.not_compared, calls.total)
}

fn write_cause(out: &mut String, cause: &CauseSummary, recorded: &str) -> fmt::Result {
    let example = &cause.example;
    let calls = if cause.calls == 1 { "call" } else { "calls" };
    write!(out, "\n{}  {}  {}", cause.id, cause.kind, Visible(&cause.title))?;
    writeln!(out, " ({} {calls}: {})", Thousands(cause.calls), names(&cause.methods))?;
    writeln!(out, "    first in call {}, {}", example.call, timestamp_text(cause.first_us.div_euclid(1000)))?;
    if !example.path.is_empty() {
        writeln!(out, "    {:<11}{}", "at:", Visible(&example.path))?;
    }
    for (side, answer) in [(recorded, &example.recorded), ("candidate", &example.candidate)] {
        writeln!(out, "    {:<11}{}", format!("{side}:"), cut(answer.as_deref()))?;
    }
    let Some(reproduction) = &cause.reproduction else { return Ok(()) };
    let calls: Vec<String> = reproduction.calls.iter().map(u64::to_string).collect();
    match &reproduction.command {
        Some(command) => writeln!(out, "    {:<11}{}", "reproduce:", Visible(command)),
        None => writeln!(out, "    {:<11}calls {}", "reproduce:", calls.join(", ")),
    }
}

fn cut(answer: Option<&str>) -> String {
    let Some(answer) = answer else { return "(nothing)".to_owned() };
    let visible = Visible(answer).to_string();
    super::names::short(&visible, ANSWER_CHARS_MAX).into_owned()
}

/// Returns the first names of a list on one line.
fn names(counts: &[CountedName]) -> String {
    let names: Vec<Visible<'_>> = counts.iter().map(|count| Visible(&count.name)).collect();
    listed(&names, NAMES_SHOWN)
}

fn latencies(out: &mut String, summary: &Summary, recorded: &str) -> fmt::Result {
    let sides = [(recorded, &summary.latency.recorded), ("candidate", &summary.latency.candidate)];
    let Some((_, some)) = sides.iter().find(|(_, latency)| latency.calls > 0) else { return Ok(()) };
    write!(out, "\n{:<12}{:>14}", "Latency", "calls")?;
    for percentile in &some.percentiles {
        write!(out, "{:>10}", format!("p{}", percentile.percent))?;
    }
    writeln!(out, "{:>10}", "max")?;
    for (name, latency) in sides.iter().filter(|(_, latency)| latency.calls > 0) {
        write_latency(out, name, latency)?;
    }
    Ok(())
}

fn write_latency(out: &mut String, name: &str, latency: &LatencySummary) -> fmt::Result {
    write!(out, "  {name:<10}{:>14}", Thousands(latency.calls))?;
    for percentile in &latency.percentiles {
        write!(out, "{:>10}", Micros(percentile.us as f64))?;
    }
    writeln!(out, "{:>10}", Micros(latency.max_us as f64))
}

fn asked(out: &mut String, summary: &Summary) -> fmt::Result {
    if summary.methods.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{:<40}{:>14}{:>14}", "Methods", "calls", "differences")?;
    for method in summary.methods.iter().take(ROWS_MAX) {
        let counts = &method.counts;
        let name = Visible(&counts.name).to_string();
        writeln!(out, "  {name:<38}{:>14}{:>14}", Thousands(counts.calls), Thousands(counts.differences))?;
    }
    more(out, summary.methods.len())?;
    writeln!(out, "\n{:<40}{:>14}{:>14}", "Column families", "calls", "differences")?;
    for counts in summary.families.iter().take(ROWS_MAX) {
        let name = Visible(&counts.name).to_string();
        writeln!(out, "  {name:<38}{:>14}{:>14}", Thousands(counts.calls), Thousands(counts.differences))?;
    }
    more(out, summary.families.len())?;
    list(out, "Interfaces", &summary.interfaces)?;
    let clients: Vec<_> = summary
        .clients
        .iter()
        .map(|client| CountedName { name: client.name.clone(), calls: client.calls })
        .collect();
    list(out, "Clients", &clients)
}

fn list(out: &mut String, title: &str, counts: &[CountedName]) -> fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title:<40}{:>14}", "calls")?;
    for count in counts.iter().take(ROWS_MAX) {
        writeln!(out, "  {:<38}{:>14}", Visible(&count.name).to_string(), Thousands(count.calls))?;
    }
    more(out, counts.len())
}

fn more(out: &mut String, rows: usize) -> fmt::Result {
    match rows.checked_sub(ROWS_MAX) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "  and {more} more"),
    }
}
