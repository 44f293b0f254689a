//! The section with latencies: distributions of both sides on a logarithmic axis, and percentiles.
//!
//! A plot is stretched to the width of the page without its lines or letters: the SVG has no text and its strokes do not
//! scale. Labels are HTML, placed in percent.

use std::fmt::{self, Write};

use crate::report::code::capital;
use crate::report::latency::LatencySummary;
use crate::report::summary::{MethodSummary, SideLatencies, Summary};
use crate::report::visible::{Escaped, Micros, Thousands};

/// The size of a plot in its own units.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// Percentiles of the table of methods.
const OF_METHODS: [f64; 2] = [50.0, 99.0];

/// The logarithmic axis of a plot: from one power of ten to another, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Axis {
    first: i32,
    last: i32,
}

impl Axis {
    /// Returns the axis that has all calls of both sides; `None` without calls.
    fn of(sides: &SideLatencies) -> Option<Axis> {
        let all = || sides.recorded.distribution.iter().chain(&sides.candidate.distribution);
        let low = all().map(|column| column.from_us).reduce(f64::min)?;
        let high = all().map(|column| column.to_us).reduce(f64::max)?;
        // Bounds of columns are powers of ten but for rounding.
        let (first, last) = ((low.log10() + 1e-6).floor() as i32, (high.log10() - 1e-6).ceil() as i32);
        Some(Axis { first, last: last.max(first + 1) })
    }

    /// Returns the place of a latency between 0 and 1.
    fn at(self, us: f64) -> f64 {
        let place = (us.max(1e-3).log10() - f64::from(self.first)) / f64::from(self.last - self.first);
        place.clamp(0.0, 1.0)
    }

    fn decades(self) -> impl Iterator<Item = f64> {
        (self.first..=self.last).map(|power| 10f64.powi(power))
    }
}

/// Writes the section behind its title.
pub(super) fn section(out: &mut String, summary: &Summary) -> fmt::Result {
    match Axis::of(&summary.latency) {
        None => out.push_str("<p class=\"empty\">No latencies were measured.</p>\n"),
        Some(axis) => {
            let recorded = summary.run.recorded_name();
            distribution(out, &summary.latency, axis, recorded)?;
            percentiles(out, &summary.latency, recorded)?;
            methods(out, &summary.methods, axis, recorded)?;
        }
    }
    Ok(())
}

/// Writes the distributions of both sides as areas over one axis.
fn distribution(out: &mut String, sides: &SideLatencies, axis: Axis, recorded: &str) -> fmt::Result {
    let mut highest = 0.0;
    for side in [&sides.recorded, &sides.candidate] {
        for column in &side.distribution {
            highest = f64::max(highest, side.share(column));
        }
    }
    writeln!(
        out,
        "<figure class=\"plot\">\n<figcaption>Share of the calls by latency, logarithmic axis. Lines: median (solid), \
         99th percentile (dashed).</figcaption>"
    )?;
    legend(out, sides, recorded)?;
    writeln!(
        out,
        "<div class=\"canvas\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{}\">",
        Escaped(&describe(sides, recorded))
    )?;
    for us in axis.decades() {
        let x = axis.at(us) * WIDTH;
        writeln!(out, "<path class=\"grid\" d=\"M{x:.1} 0V{HEIGHT}\"/>")?;
    }
    for (class, side) in [("recorded", &sides.recorded), ("candidate", &sides.candidate)] {
        let outline = outline(side, axis, highest);
        writeln!(
            out,
            "<path class=\"area {class}\" d=\"{outline}Z\"/><path class=\"line {class}\" d=\"{outline}\"/>"
        )?;
    }
    for (class, side) in [("recorded", &sides.recorded), ("candidate", &sides.candidate)] {
        for (kind, percent) in [("median", 50.0), ("high", 99.0)] {
            if let Some(us) = percentile(side, percent) {
                writeln!(
                    out,
                    "<path class=\"mark {kind} {class}\" d=\"M{:.1} 0V{HEIGHT}\"/>",
                    axis.at(us) * WIDTH
                )?;
            }
        }
    }
    out.push_str("</svg></div>\n");
    axis_labels(out, axis)?;
    out.push_str("</figure>\n");
    Ok(())
}

fn legend(out: &mut String, sides: &SideLatencies, recorded: &str) -> fmt::Result {
    out.push_str("<ul class=\"legend\">");
    for (class, name, side) in
        [("recorded", recorded, &sides.recorded), ("candidate", "candidate", &sides.candidate)]
    {
        write!(
            out,
            "<li><i class=\"key {class}\" aria-hidden=\"true\"></i>{} <small>{} calls</small></li>",
            capital(name),
            Thousands(side.calls)
        )?;
    }
    out.push_str("</ul>\n");
    Ok(())
}

/// Returns the outline of a distribution as steps, from the axis to the axis. Empty without calls.
fn outline(side: &LatencySummary, axis: Axis, highest: f64) -> String {
    let mut path = String::new();
    let mut end = f64::NAN;
    for column in &side.distribution {
        let (from, to) = (axis.at(column.from_us) * WIDTH, axis.at(column.to_us) * WIDTH);
        // A column that has calls is never invisible.
        let height = (side.share(column) / highest * (HEIGHT - 4.0)).max(0.6);
        if (from - end).abs() < 0.1 {
            let _ = write!(path, "V{:.2}H{to:.1}", HEIGHT - height);
        } else {
            let begin =
                if path.is_empty() { format!("M{from:.1} {HEIGHT}") } else { format!("V{HEIGHT}H{from:.1}") };
            let _ = write!(path, "{begin}V{:.2}H{to:.1}", HEIGHT - height);
        }
        end = to;
    }
    if !path.is_empty() {
        let _ = write!(path, "V{HEIGHT}");
    }
    path
}

/// Writes the labels below a plot: 1 µs, 10 µs, 100 µs, 1 ms, ...
fn axis_labels(out: &mut String, axis: Axis) -> fmt::Result {
    out.push_str("<div class=\"axis\" aria-hidden=\"true\">");
    for us in axis.decades() {
        let (value, unit) = match us {
            us if us < 1e3 => (us, "µs"),
            us if us < 1e6 => (us / 1e3, "ms"),
            us => (us / 1e6, "s"),
        };
        write!(out, "<span style=\"left:{:.2}%\">{value} {unit}</span>", axis.at(us) * 100.0)?;
    }
    out.push_str("</div>\n");
    Ok(())
}

/// Returns the plot in words.
fn describe(sides: &SideLatencies, recorded: &str) -> String {
    let side = |name: &str, side: &LatencySummary| {
        let of = |percent| {
            percentile(side, percent).map_or_else(|| "none".to_owned(), |us| Micros(us).to_string())
        };
        format!("{name}: median {}, 99th percentile {}", of(50.0), of(99.0))
    };
    format!(
        "Distribution of latencies. {}; {}.",
        side(&capital(recorded), &sides.recorded),
        side("candidate", &sides.candidate)
    )
}

fn percentile(side: &LatencySummary, percent: f64) -> Option<f64> {
    let found = side.percentiles.iter().find(|entry| entry.percent >= percent)?;
    Some(found.us as f64)
}

fn percentiles(out: &mut String, sides: &SideLatencies, recorded: &str) -> fmt::Result {
    let columns = [&sides.recorded, &sides.candidate].into_iter().find(|side| side.calls > 0);
    let Some(columns) = columns else { return Ok(()) };
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Percentiles\">\
         <table class=\"numbers\"><caption>Percentiles of all calls</caption>\n<thead><tr><th scope=\"col\">Side</th>",
    );
    for percentile in &columns.percentiles {
        write!(out, "<th scope=\"col\">p{}</th>", percentile.percent)?;
    }
    out.push_str("<th scope=\"col\">Longest</th><th scope=\"col\">Mean</th></tr></thead>\n<tbody>\n");
    for (class, name, side) in
        [("recorded", recorded, &sides.recorded), ("candidate", "candidate", &sides.candidate)]
    {
        if side.calls == 0 {
            continue;
        }
        write!(
            out,
            "<tr><th scope=\"row\"><i class=\"key {class}\" aria-hidden=\"true\"></i>{}</th>",
            capital(name)
        )?;
        for percentile in &side.percentiles {
            write!(out, "<td>{}</td>", Micros(percentile.us as f64))?;
        }
        writeln!(out, "<td>{}</td><td>{}</td></tr>", Micros(side.max_us as f64), Micros(side.mean_us))?;
    }
    out.push_str("</tbody></table></div>\n");
    Ok(())
}

/// Writes a row for each method: for each side a range from the median to the 99th percentile on the common axis.
fn methods(out: &mut String, methods: &[MethodSummary], axis: Axis, recorded: &str) -> fmt::Result {
    write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Latency by method\">\
         <table class=\"numbers ranges\"><caption>Median to 99th percentile by method</caption>\n<thead><tr>\
         <th scope=\"col\">Method</th><th scope=\"col\">{side} p50</th><th scope=\"col\">Candidate p50</th>\
         <th scope=\"col\">{side} p99</th><th scope=\"col\">Candidate p99</th>\
         <th scope=\"col\" class=\"wide\">Range, the axis as above</th></tr></thead>\n<tbody>\n",
        side = capital(recorded)
    )?;
    for method in methods {
        let SideLatencies { recorded, candidate } = &method.latency;
        if recorded.calls + candidate.calls == 0 {
            continue;
        }
        write!(out, "<tr><th scope=\"row\"><code><bdi>{}</bdi></code></th>", Escaped(&method.counts.name))?;
        for percent in OF_METHODS {
            for side in [recorded, candidate] {
                match percentile(side, percent) {
                    Some(us) => write!(out, "<td>{}</td>", Micros(us))?,
                    None => out.push_str("<td>–</td>"),
                }
            }
        }
        out.push_str("<td class=\"wide\"><div class=\"range\" aria-hidden=\"true\">");
        for (class, side) in [("recorded", recorded), ("candidate", candidate)] {
            if let (Some(median), Some(high)) = (percentile(side, 50.0), percentile(side, 99.0)) {
                let (from, to) = (axis.at(median) * 100.0, axis.at(high) * 100.0);
                write!(out, "<i class=\"{class}\" style=\"left:{from:.2}%;width:{:.2}%\"></i>", to - from)?;
            }
        }
        out.push_str("</div></td></tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::latency::Latencies;

    fn sides(recorded: &[u64], candidate: &[u64]) -> SideLatencies {
        let side = |all: &[u64]| {
            let mut latencies = Latencies::default();
            all.iter().for_each(|us| latencies.record(*us));
            latencies.summary()
        };
        SideLatencies { recorded: side(recorded), candidate: side(candidate) }
    }

    #[test]
    fn an_axis_has_whole_decades() {
        assert_eq!(Axis::of(&sides(&[], &[])), None);
        assert_eq!(Axis::of(&sides(&[250, 300], &[900])), Some(Axis { first: 2, last: 3 }));
        assert_eq!(Axis::of(&sides(&[1], &[1_000_000])), Some(Axis { first: 0, last: 7 }));
        let axis = Axis { first: 2, last: 4 };
        assert_eq!([10.0, 100.0, 1000.0, 10_000.0, 1e9].map(|us| axis.at(us)), [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn an_outline_begins_and_ends_at_the_axis() {
        let sides = sides(&[200, 200, 5000], &[]);
        let axis = Axis::of(&sides).unwrap();
        let path = outline(&sides.recorded, axis, 0.7);
        assert!(path.starts_with("M") && path.ends_with("V100"), "{path}");
        assert_eq!(path.matches("V100H").count(), 1, "one gap: {path}");
        assert_eq!(outline(&sides.candidate, axis, 0.7), "");
    }
}
