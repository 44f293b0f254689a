//! The sections with tables: the calls, the rules that applied, the calls that were not compared.

use std::fmt::{self, Write};

use super::open_section;
use crate::report::summary::{CountedName, NamedCalls, Summary};
use crate::report::visible::{Escaped, Percent, Thousands};

pub(super) fn sections(out: &mut String, summary: &Summary) -> fmt::Result {
    open_section(out, "asked", "What was asked")?;
    let methods: Vec<&NamedCalls> = summary.methods.iter().map(|method| &method.counts).collect();
    calls(out, "Methods", &methods)?;
    calls(out, "Column families", &summary.families.iter().collect::<Vec<_>>())?;
    calls(out, "Clients", &summary.clients.iter().collect::<Vec<_>>())?;
    counts(out, "Interfaces", "Interface", &summary.interfaces, summary.calls.total)?;
    out.push_str("</section>\n");
    rules(out, summary)?;
    not_compared(out, summary)
}

fn open_table(out: &mut String, title: &str) -> fmt::Result {
    writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
         <table class=\"numbers\"><caption>{title}</caption>"
    )
}

const END_OF_TABLE: &str = "</tbody></table></div>\n";

/// Writes a table of calls by name, with a bar for the share of each.
fn calls(out: &mut String, title: &str, rows: &[&NamedCalls]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    open_table(out, title)?;
    out.push_str(
        "<thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Calls</th><th scope=\"col\">Reads</th>\
         <th scope=\"col\">Writes</th><th scope=\"col\">Differences</th></tr></thead>\n<tbody>\n",
    );
    let most = rows.iter().map(|row| row.calls).max().unwrap_or_default();
    for row in rows {
        let class = if row.differences > 0 { " class=\"has-differences\"" } else { "" };
        writeln!(
            out,
            "<tr{class}><th scope=\"row\"><code><bdi>{}</bdi></code>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(&row.name),
            bar(row.calls, most),
            Thousands(row.calls),
            Thousands(row.calls.saturating_sub(row.writes)),
            Thousands(row.writes),
            Thousands(row.differences),
        )?;
    }
    out.push_str(END_OF_TABLE);
    Ok(())
}

fn bar(part: u64, most: u64) -> String {
    let width = part as f64 * 100.0 / most.max(1) as f64;
    format!("<i class=\"share\" aria-hidden=\"true\" style=\"width:{width:.2}%\"></i>")
}

fn counts(out: &mut String, title: &str, head: &str, rows: &[CountedName], whole: u64) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    open_table(out, title)?;
    writeln!(
        out,
        "<thead><tr><th scope=\"col\">{head}</th><th scope=\"col\">Calls</th><th scope=\"col\">Share</th></tr></thead>\n\
         <tbody>"
    )?;
    for row in rows {
        writeln!(
            out,
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td>{}</td><td>{}</td></tr>",
            Escaped(&row.name),
            Thousands(row.calls),
            Escaped(&Percent { part: row.calls, whole }.to_string()),
        )?;
    }
    out.push_str(END_OF_TABLE);
    Ok(())
}

fn rules(out: &mut String, summary: &Summary) -> fmt::Result {
    open_section(out, "rules", "Rules")?;
    if summary.rules.is_empty() {
        out.push_str(
            "<p class=\"empty\">No rule was needed: equal answers are equal in all parts.</p>\n</section>\n",
        );
        return Ok(());
    }
    out.push_str(
        "<p>Some parts of an answer cannot be the same on two servers. Each rule allows one kind of them to differ; the \
         calls to which it applied are counted.</p>\n",
    );
    open_table(out, "Rules that were applied")?;
    out.push_str(
        "<thead><tr><th scope=\"col\">Rule</th><th scope=\"col\">Calls</th>\
         <th scope=\"col\" class=\"words\">What it allows</th></tr></thead>\n<tbody>\n",
    );
    for rule in &summary.rules {
        writeln!(
            out,
            "<tr><th scope=\"row\"><code><bdi>{}</bdi></code></th><td>{}</td><td class=\"words\">{}</td></tr>",
            Escaped(&rule.name),
            Thousands(rule.calls),
            Escaped(rule.meaning.as_deref().unwrap_or_default()),
        )?;
    }
    out.push_str(END_OF_TABLE);
    out.push_str("</section>\n");
    Ok(())
}

fn not_compared(out: &mut String, summary: &Summary) -> fmt::Result {
    open_section(out, "not-compared", "Not compared")?;
    if summary.not_compared.is_empty() {
        out.push_str("<p class=\"empty\">The answers of all calls were compared.</p>\n");
    }
    counts(out, "Calls that were not compared", "Reason", &summary.not_compared, summary.calls.total)?;
    out.push_str("</section>\n");
    Ok(())
}
