//! The section with the causes of differences.

use std::fmt::{self, Write};

use super::open_section;
use crate::report::code::capital;
use crate::report::summary::{CauseSummary, CountedName, ReproductionSummary, Summary, Verdict};
use crate::report::visible::{Escaped, EscapedLines, Thousands};
use base::marshal::timestamp_text;

/// Numbers of calls that the line of a reproduction lists.
const CALLS_LISTED_MAX: usize = 20;

pub(super) fn section(out: &mut String, summary: &Summary) -> fmt::Result {
    open_section(out, "differences", "Differences")?;
    match summary.verdict {
        Verdict::Nothing => out.push_str("<p class=\"empty\">No answers were compared.</p>\n"),
        Verdict::Same | Verdict::Incomplete => {
            out.push_str("<p class=\"empty\">All compared answers are equal.</p>\n")
        }
        Verdict::Differs => {}
    }
    if summary.causes.len() > 1 {
        out.push_str("<ol class=\"causes\">\n");
        for cause in &summary.causes {
            writeln!(
                out,
                "<li><a href=\"#{id}\"><b>{id}</b> <span class=\"kind {kind}\">{kind}</span> <bdi>{title}</bdi> \
                 <span class=\"count\">{calls}</span></a></li>",
                id = cause.id,
                kind = cause.kind,
                title = Escaped(&cause.title),
                calls = calls(cause.calls),
            )?;
        }
        out.push_str("</ol>\n");
    }
    for cause in &summary.causes {
        write_cause(out, cause, summary.run.recorded_name())?;
    }
    if summary.unlisted_differences > 0 {
        writeln!(
            out,
            "<p class=\"note\">{} differ for causes that are not listed.</p>",
            calls(summary.unlisted_differences)
        )?;
    }
    out.push_str("</section>\n");
    Ok(())
}

/// Returns a count with its noun.
fn calls(count: u64) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{} calls", Thousands(count)) }
}

fn write_cause(out: &mut String, cause: &CauseSummary, recorded: &str) -> fmt::Result {
    let example = &cause.example;
    writeln!(
        out,
        "<article id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h3 id=\"{id}-title\"><b>{id}</b> \
         <span class=\"kind {kind}\">{kind}</span> <bdi>{title}</bdi></h3>",
        id = cause.id,
        kind = cause.kind,
        title = Escaped(&cause.title),
    )?;
    out.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: &str| writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    fact("Seen in", &calls(cause.calls))?;
    fact("Methods", &names(&cause.methods))?;
    if !cause.families.is_empty() {
        fact("Column families", &names(&cause.families))?;
    }
    let first = timestamp_text(cause.first_us.div_euclid(1000));
    fact("First", &format!("call {}, {first}", example.call))?;
    if cause.calls > 1 {
        fact("Last", &timestamp_text(cause.last_us.div_euclid(1000)))?;
    }
    out.push_str("</dl>\n");

    let place = if example.path.is_empty() {
        String::new()
    } else {
        format!(", at <code><bdi>{}</bdi></code>", Escaped(&example.path))
    };
    writeln!(
        out,
        "<h4>Answers to <code><bdi>{}</bdi></code> in call {}{place}</h4>\n<div class=\"answers\">",
        Escaped(&example.method),
        example.call
    )?;
    for (class, side, answer) in
        [("recorded", recorded, &example.recorded), ("candidate", "candidate", &example.candidate)]
    {
        write!(
            out,
            "<figure class=\"{class}\"><figcaption><i class=\"key {class}\" aria-hidden=\"true\"></i>{}</figcaption>",
            capital(side)
        )?;
        match answer {
            Some(answer) => {
                writeln!(out, "<pre dir=\"ltr\" tabindex=\"0\">{}</pre></figure>", Escaped(answer))?
            }
            None if example.path.is_empty() => writeln!(out, "<p class=\"empty\">No answer</p></figure>")?,
            None => writeln!(out, "<p class=\"empty\">Nothing at this place</p></figure>")?,
        }
    }
    out.push_str("</div>\n");
    if let Some(reproduction) = &cause.reproduction {
        write_reproduction(out, &cause.id, reproduction)?;
    }
    out.push_str("</article>\n");
    Ok(())
}

fn write_reproduction(out: &mut String, cause: &str, reproduction: &ReproductionSummary) -> fmt::Result {
    let length = reproduction.calls.len() + reproduction.left_out;
    let found = match (reproduction.is_shortest, length) {
        (true, 1) => "One call is enough to show the difference.".to_owned(),
        (true, calls) => format!("No fewer than these {calls} calls were found to show the difference."),
        (false, 1) => "The call that differs. Whether it is enough was not tried.".to_owned(),
        (false, calls) => {
            format!("{calls} calls, the last of which differs. Whether fewer are enough was not tried.")
        }
    };
    writeln!(out, "<h4>Reproduction</h4>\n<p>{found}</p>")?;
    if reproduction.left_out > 0 {
        writeln!(
            out,
            "<p class=\"note\">The first {} of them are not listed here.</p>",
            reproduction.left_out
        )?;
    }
    if let Some(command) = &reproduction.command {
        writeln!(out, "<pre class=\"command\" dir=\"ltr\" tabindex=\"0\">{}</pre>", Escaped(command))?;
    } else {
        let mut numbers: Vec<String> =
            reproduction.calls.iter().take(CALLS_LISTED_MAX).map(u64::to_string).collect();
        if reproduction.calls.len() > CALLS_LISTED_MAX {
            numbers.push("…".to_owned());
        }
        writeln!(out, "<p>Calls {}</p>", numbers.join(", "))?;
    }
    for snippet in &reproduction.code {
        writeln!(
            out,
            "<details name=\"code-{cause}\"><summary>{}</summary>\n<pre dir=\"ltr\" tabindex=\"0\">{}</pre></details>",
            Escaped(snippet.language),
            EscapedLines(&snippet.text)
        )?;
    }
    if reproduction.code.is_empty() {
        out.push_str("<p class=\"note\">The calls are too long to be shown as code.</p>\n");
    }
    Ok(())
}

/// Returns names with the number of calls of each.
fn names(counts: &[CountedName]) -> String {
    let name = |count: &CountedName| {
        let number = if counts.len() > 1 {
            format!(" <small>{}</small>", Thousands(count.calls))
        } else {
            String::new()
        };
        format!("<code><bdi>{}</bdi></code>{number}", Escaped(&count.name))
    };
    counts.iter().map(name).collect::<Vec<_>>().join(", ")
}
