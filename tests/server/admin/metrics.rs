//! `/metrics`: what is counted, in a form that Prometheus reads.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use super::{Admin, Browser};
use crate::skip::skip;
use crate::support;
use console::metrics::{METRICS, MetricKind};
use support::calls::{ONE, get_args, insert_args, path};
use support::client::Style;
use support::value::fields;

/// Returns the values by name and labels, as the text has them.
fn scrape(browser: &mut Browser) -> (String, BTreeMap<String, f64>) {
    let page = browser.get("/metrics");
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, Some("text/plain; version=0.0.4; charset=utf-8"))
    );
    let lines = page.body.lines().filter(|line| !line.starts_with('#'));
    let value = |line: &str| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        (series.to_owned(), value.parse().unwrap())
    };
    let values = lines.map(value).collect();
    (page.body, values)
}

/// Sends a write, three reads of which one finds nothing and one is invalid, and an unknown call.
fn ask(admin: &Admin) {
    let mut client = admin.server.client(Style::UNFRAMED);
    let place = || path("Standard1", None, Some(b"name"));
    client.call("insert", &insert_args("Keyspace1", b"key", place(), (b"value", 1), ONE)).void();
    client.call("get", &get_args("Keyspace1", b"key", place(), ONE)).value();
    client.call("get", &get_args("Keyspace1", b"other", place(), ONE));
    client.call("get", &get_args("Nix", b"key", place(), ONE));
    client.call("no_such_method_7f", &fields([]));
}

#[test]
fn requests_are_counted_by_method_generation_and_outcome() {
    let admin = Admin::start(&[]);
    ask(&admin);
    let (text, values) = scrape(&mut admin.browser());
    let requests = |method: &str, generation: &str, outcome: &str| {
        let labels = format!(
            "protocol=\"thrift\",method=\"{method}\",generation=\"{generation}\",outcome=\"{outcome}\""
        );
        values.get(&format!("thriftstore_requests_total{{{labels}}}")).copied()
    };
    assert_eq!(requests("insert", "0.4-0.6", "ok"), Some(1.0), "{text}");
    assert_eq!(requests("get", "0.4-0.6", "ok"), Some(1.0));
    assert_eq!(requests("get", "0.4-0.6", "not_found"), Some(1.0));
    assert_eq!(requests("get", "0.4-0.6", "invalid"), Some(1.0));
    assert_eq!(requests("unknown", "", "protocol"), Some(1.0));
    assert!(!text.contains("no_such_method_7f") && !text.contains("Standard1"), "clients name no series");
    let of_get = "{protocol=\"thrift\",method=\"get\",generation=\"0.4-0.6\"}";
    assert_eq!(values[&format!("thriftstore_request_duration_seconds_count{of_get}")], 3.0);
    assert!(values[&format!("thriftstore_request_received_bytes_total{of_get}")] > 100.0);
    assert!(values[&format!("thriftstore_request_sent_bytes_total{of_get}")] > 60.0);
    assert_eq!(values["thriftstore_connections_accepted_total"], 1.0);
    assert_eq!(values["thriftstore_healthy"], 1.0);
    assert!(values["thriftstore_memory_bytes{owner=\"memtables\"}"] > 0.0);
    assert!(values["process_resident_memory_bytes"] > 1e6);
    admin.server.stop();
}

#[test]
fn each_series_is_in_the_table_with_its_labels() {
    let admin = Admin::start(&[]);
    ask(&admin);
    let (text, values) = scrape(&mut admin.browser());
    let mut seen = BTreeSet::new();
    for series in values.keys() {
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let is_row = |row: &&console::metrics::MetricRow| match row.kind {
            MetricKind::Histogram => name.strip_prefix(row.name).is_some_and(|rest| rest.starts_with('_')),
            _ => row.name == name,
        };
        let row = METRICS.iter().find(is_row).unwrap_or_else(|| panic!("{name} is not in the table"));
        let labels = labels.trim_end_matches('}').split(',').filter(|label| !label.is_empty());
        let names = labels.map(|label| label.split('=').next().unwrap()).filter(|label| *label != "le");
        assert_eq!(names.collect::<Vec<_>>(), row.labels, "{series}");
        seen.insert(row.name);
    }
    for row in METRICS.iter().filter(|row| !seen.contains(row.name)) {
        let is_of_others = row.name.contains("_cluster_") || row.name.contains("_archive_");
        assert!(is_of_others, "{} is missing in {text}", row.name);
    }
    for row in METRICS.iter().filter(|row| seen.contains(row.name)) {
        assert!(text.contains(&format!("# HELP {} {}", row.name, row.help)), "{} has another help", row.name);
    }
    admin.server.stop();
}

#[test]
fn promtool_accepts_the_metrics() {
    let command = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut checker) = command else { skip!("promtool is not installed (Debian's package prometheus)") };
    let admin = Admin::start(&[]);
    ask(&admin);
    let (text, _) = scrape(&mut admin.browser());
    checker.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = checker.wait_with_output().unwrap();
    let found = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && found.is_empty(), "{found}");
    admin.server.stop();
}
