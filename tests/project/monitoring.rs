//! Checks the files of monitoring: the table of metrics in docs/monitoring.md is that of the program, and dashboard and
//! alerts use metrics and labels that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::skip::skip;
use console::metrics::{METRICS, MetricKind};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn kind_of(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    }
}

/// Returns the table of the document.
fn table() -> String {
    let mut table = "| metric | type | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for row in METRICS.iter() {
        let labels: Vec<String> = row.labels.iter().map(|label| format!("`{label}`")).collect();
        let kind = kind_of(row.kind);
        table += &format!("| `{}` | {kind} | {} | {} |\n", row.name, labels.join(", "), row.help);
    }
    table
}

#[test]
fn the_document_has_the_table_of_metrics() {
    let (document, begin, end) =
        (file("docs/monitoring.md"), "<!-- metrics -->\n", "\n<!-- end of metrics -->");
    let text = fs::read_to_string(&document).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (found, after) = rest.split_once(end).unwrap();
    let expected = format!("\n{}", table());
    if env::var_os("REWRITE").is_some() {
        fs::write(document, format!("{before}{begin}{expected}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(found, expected, "REWRITE=1 writes the table into docs/monitoring.md");
}

#[test]
fn names_follow_the_conventions_of_prometheus() {
    let names: BTreeSet<&str> = METRICS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), METRICS.len(), "two metrics have the same name");
    for row in METRICS.iter() {
        let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(is_word(row.name) && row.labels.iter().all(|label| is_word(label)), "{}", row.name);
        assert!(row.name.starts_with("thriftstore_") || row.name.starts_with("process_"), "{}", row.name);
        assert_eq!(row.name.ends_with("_total"), row.kind == MetricKind::Counter, "{}", row.name);
        assert!(row.help.ends_with('.'), "{}", row.help);
    }
}

/// Returns the names of metrics in a text.
fn used_metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words
        .filter(|word| word.starts_with("thriftstore_") || word.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}

/// Returns whether a metric exists; a histogram has series with suffixes.
fn exists(name: &str) -> bool {
    METRICS.iter().any(|row| match row.kind {
        MetricKind::Histogram => {
            let suffix = name.strip_prefix(row.name);
            suffix.is_some_and(|suffix| ["_bucket", "_sum", "_count"].contains(&suffix))
        }
        _ => row.name == name,
    })
}

#[test]
fn dashboard_and_alerts_use_metrics_that_exist() {
    let alerts = fs::read_to_string(file("monitoring/alerts.yml")).unwrap();
    let text = fs::read_to_string(file("monitoring/grafana-dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions: String =
        targets.map(|target| format!("{}\n", target["expr"].as_str().unwrap())).collect();
    for (name, text) in [("alerts", &alerts), ("dashboard", &expressions)] {
        let used = used_metrics(text);
        assert!(used.len() > 5, "{name}: {used:?}");
        for metric in used {
            assert!(exists(&metric), "{name}: there is no metric {metric}");
        }
    }
    // Each metric has a place on the dashboard.
    let shown = used_metrics(&expressions);
    for row in METRICS.iter() {
        assert!(shown.iter().any(|name| name.starts_with(row.name)), "{} is not on the dashboard", row.name);
    }
    let labels = METRICS.iter().flat_map(|row| row.labels.iter().copied());
    let known: BTreeSet<&str> = labels.chain(["instance", "job", "le"]).collect();
    for group in [&alerts, &expressions].into_iter().flat_map(|text| text.split("by (").skip(1)) {
        for label in group.split(')').next().unwrap().split(',') {
            assert!(known.contains(label.trim()), "there is no label {label}");
        }
    }
}

#[test]
fn promtool_accepts_the_alerts() {
    let command =
        Command::new("promtool").args(["check", "rules"]).arg(file("monitoring/alerts.yml")).output();
    let Ok(output) = command else { skip!("promtool is not installed (Debian's package prometheus)") };
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}
