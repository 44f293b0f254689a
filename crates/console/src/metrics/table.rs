//! The table of metrics, and their values.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::readings::Readings;
use base::util::metrics::{LATENCY_BOUNDS_MICROS, MethodTotals, RequestOutcome, RequestSlot};
use store::{ArchiveStatus, ClusterStatus, EngineStatus, NodeStatus, TOMBSTONES_READ};

/// The kind of a metric, as Prometheus has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows.
    Counter,
    /// A number that grows and shrinks.
    Gauge,
    /// The number of values in each range of them.
    Histogram,
}

/// A metric.
pub struct MetricRow {
    /// The whole name, such as `thriftstore_requests_total`.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: MetricKind,
    /// The names of its labels, in the order of the values of its samples.
    pub labels: Vec<&'static str>,
    /// A sentence that says what the metric counts or measures.
    pub help: &'static str,
}

/// A value of a metric.
pub(super) struct MetricSample {
    pub labels: Vec<Cow<'static, str>>,
    pub value: SampleValue,
}

pub(super) enum SampleValue {
    Number(f64),
    /// Upper bounds with the number of values up to them that are in no earlier bucket, and the sum of all values.
    Histogram {
        buckets: Vec<(f64, u64)>,
        sum: f64,
    },
}

/// All metrics.
pub static METRICS: LazyLock<Vec<MetricRow>> = LazyLock::new(|| {
    let lines: Vec<&str> =
        include_str!("metrics.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let rows = lines.chunks(2).filter_map(|row| {
        let mut words = row.first()?.split(' ');
        let kind = match words.next()? {
            "counter" => MetricKind::Counter,
            "gauge" => MetricKind::Gauge,
            _ => MetricKind::Histogram,
        };
        Some(MetricRow { name: words.next()?, kind, labels: words.collect(), help: row.get(1)?.trim_start() })
    });
    rows.collect()
});

/// Returns the values of a metric; none if this server has no such thing.
pub(super) fn read(metric: &str, now: &Readings) -> Vec<MetricSample> {
    let (engine, cluster) = (now.store.engine.as_ref(), now.store.cluster.as_ref());
    let of_cluster = |read: fn(&ClusterStatus) -> Vec<MetricSample>| cluster.map_or_else(Vec::new, read);
    let of_nodes = |read: fn(&NodeStatus) -> Vec<MetricSample>| {
        cluster.map_or_else(Vec::new, |cluster| cluster.nodes.iter().flat_map(read).collect())
    };
    let of_engine = |read: fn(&EngineStatus) -> u64| engine.map_or(Vec::new(), |engine| one(read(engine)));
    match metric.strip_prefix("thriftstore_").unwrap_or(metric) {
        "requests_total" => of_methods(now, outcomes),
        "request_duration_seconds" => of_methods(now, |slot, totals| {
            vec![MetricSample { labels: shared(labels_of(slot)), value: durations(totals) }]
        }),
        "request_received_bytes_total" => {
            of_methods(now, |slot, totals| vec![labelled(labels_of(slot), totals.bytes_in)])
        }
        "request_sent_bytes_total" => {
            of_methods(now, |slot, totals| vec![labelled(labels_of(slot), totals.bytes_out)])
        }
        "connections" => one(now.connections_open as u64),
        "connections_accepted_total" => one(now.connections.accepted.get()),
        "connections_ended_total" => vec![
            labelled(vec!["closed"], now.connections.closed_by_server.get()),
            labelled(vec!["lost"], now.connections.lost.get()),
        ],
        "tls_handshakes_total" => {
            ok_and_failed(now.connections.handshakes_ok.get(), now.connections.handshakes_failed.get())
        }
        "logins_total" => ok_and_failed(now.logins.0, now.logins.1),
        "memory_bytes" => memory(now),
        "healthy" => one(u64::from(now.store.failure().is_none())),
        "disk_bytes" => one(now.store.disk_bytes),
        "memtable_bytes" => of_engine(|engine| engine.memtable_bytes),
        "commit_log_bytes" => of_engine(|engine| engine.commit_log_bytes),
        "table_bytes" => of_engine(|engine| engine.table_bytes),
        "unmerged_runs" => of_engine(|engine| engine.unmerged_runs),
        "flushes_total" => of_engine(|engine| engine.flushes),
        "compactions_total" => of_engine(|engine| engine.compactions),
        "block_cache_bytes" => of_engine(|engine| engine.block_cache_bytes),
        "row_cache_bytes" => of_engine(|engine| engine.row_cache_bytes),
        "row_cache_hits_total" => of_engine(|engine| engine.row_cache_hits),
        "row_cache_misses_total" => of_engine(|engine| engine.row_cache_misses),
        "tombstones_read_total" => one(TOMBSTONES_READ.get()),
        "index_builds" => one(now.index_builds as u64),
        "undefined_column_families" => one(now.store.undefined.len() as u64),
        name if name.starts_with("archive_") => {
            now.store.archive.as_ref().map_or(Vec::new(), |archive| of_archive(name, archive))
        }
        "cluster_nodes" => of_cluster(nodes),
        "cluster_requests_in_flight" => of_cluster(|cluster| one(cluster.requests_in_flight as u64)),
        "cluster_requests_waiting" => of_cluster(|cluster| one(cluster.requests_waiting as u64)),
        "cluster_requests_timed_out_total" => of_cluster(|cluster| one(cluster.requests_timed_out)),
        "cluster_attempts_total" => of_cluster(|cluster| {
            cluster.attempts.iter().map(|(level, count)| labelled(vec![level], *count)).collect()
        }),
        "cluster_node_answers_total" => of_nodes(|node| vec![of_node(node, node.counts.answers as f64)]),
        "cluster_node_seconds_total" => of_nodes(|node| vec![of_node(node, node.counts.micros as f64 / 1e6)]),
        "cluster_node_errors_total" => of_nodes(errors),
        "build_info" => vec![labelled(vec![env!("CARGO_PKG_VERSION")], 1)],
        "process_start_time_seconds" => {
            vec![MetricSample { labels: Vec::new(), value: SampleValue::Number(now.started_s) }]
        }
        "process_resident_memory_bytes" => now.resident_bytes.map_or(Vec::new(), one),
        "process_threads" => now.threads.map_or(Vec::new(), one),
        _ => {
            debug_assert!(false, "no code reads the metric {metric}");
            Vec::new()
        }
    }
}

fn of_archive(name: &str, archive: &ArchiveStatus) -> Vec<MetricSample> {
    one(match name {
        "archive_lag_seconds" => {
            let value = SampleValue::Number(archive.lag_ms as f64 / 1e3);
            return vec![MetricSample { labels: Vec::new(), value }];
        }
        "archive_lag_bytes" => archive.lag_bytes,
        "archive_uploaded_bytes_total" => archive.uploaded_bytes,
        "archive_full_backups_total" => archive.full_backups,
        "archive_failures_total" => archive.failures,
        "archive_gaps_total" => archive.gaps,
        "archive_retention_failures_total" => archive.retention_failures,
        _ => {
            debug_assert!(false, "no code reads the metric {name}");
            return Vec::new();
        }
    })
}

fn nodes(cluster: &ClusterStatus) -> Vec<MetricSample> {
    let up = cluster.nodes.iter().filter(|node| node.is_up).count() as u64;
    vec![labelled(vec!["up"], up), labelled(vec!["down"], cluster.nodes.len() as u64 - up)]
}

fn of_node(node: &NodeStatus, value: f64) -> MetricSample {
    MetricSample { labels: vec![node.address.clone().into()], value: SampleValue::Number(value) }
}

fn errors(node: &NodeStatus) -> Vec<MetricSample> {
    let of_kind = |(kind, count): (&&'static str, &u64)| MetricSample {
        labels: vec![node.address.clone().into(), Cow::Borrowed(*kind)],
        value: SampleValue::Number(*count as f64),
    };
    node.counts.errors.iter().map(of_kind).collect()
}

fn labelled(labels: Vec<&'static str>, value: u64) -> MetricSample {
    MetricSample { labels: shared(labels), value: SampleValue::Number(value as f64) }
}

fn shared(labels: Vec<&'static str>) -> Vec<Cow<'static, str>> {
    labels.into_iter().map(Cow::Borrowed).collect()
}

fn one(value: u64) -> Vec<MetricSample> {
    vec![labelled(Vec::new(), value)]
}

fn ok_and_failed(ok: u64, failed: u64) -> Vec<MetricSample> {
    vec![labelled(vec!["ok"], ok), labelled(vec!["failed"], failed)]
}

fn of_methods(
    now: &Readings,
    read: fn(&RequestSlot, &MethodTotals) -> Vec<MetricSample>,
) -> Vec<MetricSample> {
    now.requests.iter().flat_map(|(slot, totals)| read(slot, totals)).collect()
}

fn labels_of(slot: &RequestSlot) -> Vec<&'static str> {
    vec![slot.protocol, slot.method, slot.generation]
}

/// Returns the outcomes of a method: all right, and those that it had.
fn outcomes(slot: &RequestSlot, totals: &MethodTotals) -> Vec<MetricSample> {
    let counted = RequestOutcome::ALL.iter().copied().zip(totals.outcomes);
    let shown = counted.filter(|(outcome, count)| *count > 0 || *outcome == RequestOutcome::Ok);
    shown.map(|(outcome, count)| labelled([labels_of(slot), vec![outcome.label()]].concat(), count)).collect()
}

fn durations(totals: &MethodTotals) -> SampleValue {
    let bounds = LATENCY_BOUNDS_MICROS.iter().map(|micros| *micros as f64 / 1e6).chain([f64::INFINITY]);
    SampleValue::Histogram { buckets: bounds.zip(totals.buckets).collect(), sum: totals.micros as f64 / 1e6 }
}

fn memory(now: &Readings) -> Vec<MetricSample> {
    let mut owners = vec![
        labelled(vec!["requests"], now.request_bytes as u64),
        labelled(vec!["messages"], now.message_bytes as u64),
    ];
    if let Some(engine) = &now.store.engine {
        owners.push(labelled(vec!["memtables"], engine.memtable_bytes));
        owners.push(labelled(vec!["row_cache"], engine.row_cache_bytes));
        owners.push(labelled(vec!["block_cache"], engine.block_cache_bytes));
    }
    owners
}
