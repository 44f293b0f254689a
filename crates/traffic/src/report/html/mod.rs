//! The report as one page of HTML, which needs neither the network nor a script.
//!
//! All texts of clients and servers go through [`Escaped`], and the page forbids scripts and requests by its content
//! security policy. Colours follow the reader's system: light or dark.

mod cause;
mod plot;
mod tables;

use std::fmt::{self, Write};

use super::code::capital;
use super::summary::{CallTotals, Summary, Verdict};
use super::visible::{Escaped, Percent, Thousands};
use base::marshal::timestamp_text;

const STYLE: &str = include_str!("style.css");

/// Sections of the page: the id, and the name in the list of sections.
const SECTIONS: [(&str, &str); 5] = [
    ("differences", "Differences"),
    ("latency", "Latency"),
    ("asked", "What was asked"),
    ("rules", "Rules"),
    ("not-compared", "Not compared"),
];

impl Summary {
    /// Returns the report as a page of HTML.
    pub fn html(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = page(&mut out, self);
        out
    }
}

fn page(out: &mut String, summary: &Summary) -> fmt::Result {
    let headline = summary.verdict.headline(summary);
    write!(
        out,
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{headline} – thriftstore {run}</title>
<style>
{STYLE}</style>
</head>
<body>
<a class="skip" href="#differences">Skip to the differences</a>
"##,
        headline = Escaped(&headline),
        run = run_name(summary),
    )?;
    header(out, summary, &headline)?;
    out.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for (id, name) in SECTIONS {
        writeln!(out, "<li><a href=\"#{id}\">{name}</a></li>")?;
    }
    out.push_str("</ul></nav>\n<main>\n");
    cause::section(out, summary)?;
    plot::section(out, summary)?;
    tables::sections(out, summary)?;
    writeln!(out, "</main>\n<footer><p>Written by {}.</p></footer>\n</body>\n</html>", summary.program)
}

fn run_name(summary: &Summary) -> &'static str {
    match summary.run {
        super::RunKind::Replay => "replay",
        super::RunKind::Shadow => "shadow",
    }
}

fn header(out: &mut String, summary: &Summary, headline: &str) -> fmt::Result {
    let (class, mark, word) = match summary.verdict {
        Verdict::Same => ("same", "✓", "Same answers"),
        Verdict::Differs => ("differs", "≠", "Different answers"),
        Verdict::Incomplete => ("differs", "!", "Writes are missing"),
        Verdict::Nothing => ("nothing", "–", "No verdict"),
    };
    writeln!(
        out,
        "<header>\n<p class=\"verdict {class}\"><span aria-hidden=\"true\">{mark}</span> {word}</p>\n<h1>{}</h1>",
        Escaped(headline)
    )?;
    out.push_str("<dl class=\"sides\">\n");
    let recorded = summary.run.recorded_name();
    for (class, name, value) in
        [("recorded", recorded, &summary.recorded), ("candidate", "candidate", &summary.candidate)]
    {
        let name = capital(name);
        writeln!(
            out,
            "<div><dt><i class=\"key {class}\" aria-hidden=\"true\"></i>{name}</dt><dd><bdi>{}</bdi></dd></div>",
            Escaped(value)
        )?;
    }
    if let (Some(first), Some(last)) = (summary.first_us, summary.last_us) {
        let time = |us: i64| timestamp_text(us.div_euclid(1000));
        writeln!(out, "<div><dt>Calls</dt><dd>{} to {}</dd></div>", time(first), time(last))?;
    }
    out.push_str("</dl>\n");
    figures(out, &summary.calls)?;
    out.push_str("</header>\n");
    Ok(())
}

/// Writes the counts of all calls, and a bar with their shares.
fn figures(out: &mut String, calls: &CallTotals) -> fmt::Result {
    let parts = [
        ("equal", "Equal", calls.equal, ""),
        ("rules", "Equal by rules", calls.equal_by_rules, "#rules"),
        ("data", "Different data", calls.data, "#differences"),
        ("exception", "Different exceptions", calls.exception, "#differences"),
        ("text", "Different texts", calls.text, "#differences"),
        ("not-compared", "Not compared", calls.not_compared, "#not-compared"),
    ];
    out.push_str("<div class=\"bar\" aria-hidden=\"true\">");
    for (class, _, count, _) in parts.iter().filter(|(_, _, count, _)| *count > 0) {
        write!(out, "<i class=\"{class}\" style=\"flex-grow:{count}\"></i>")?;
    }
    out.push_str("</div>\n<dl class=\"figures\">\n");
    let asked = format!("{} reads, {} writes", Thousands(calls.reads), Thousands(calls.writes));
    writeln!(out, "<div><dt>Calls</dt><dd>{}<small>{asked}</small></dd></div>", Thousands(calls.total))?;
    for (class, name, count, link) in parts {
        let name = match link {
            "" => name.to_owned(),
            link if count > 0 => format!("<a href=\"{link}\">{name}</a>"),
            _ => name.to_owned(),
        };
        let share = Percent { part: count, whole: calls.total };
        let zero = if count == 0 { " class=\"zero\"" } else { "" };
        writeln!(
            out,
            "<div{zero}><dt><i class=\"key {class}\" aria-hidden=\"true\"></i>{name}</dt>\
             <dd>{}<small>{}</small></dd></div>",
            Thousands(count),
            Escaped(&share.to_string())
        )?;
    }
    out.push_str("</dl>\n");
    Ok(())
}

/// Begins a section of the page.
fn open_section(out: &mut String, id: &str, title: &str) -> fmt::Result {
    writeln!(out, "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>")
}
