//! The table of metrics.

use super::readings::Readings;
use base::util::metrics::{LATENCY_BOUNDS_MICROS, MethodTotals, RequestOutcome, RequestSlot};
use store::{ClusterStatus, EngineStatus, TOMBSTONES_READ};

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
    pub labels: &'static [&'static str],
    /// A sentence that says what the metric counts or measures.
    pub help: &'static str,
    /// Returns its values; none if this server has no such thing.
    pub(super) read: fn(&Readings) -> Vec<MetricSample>,
}

/// A value of a metric.
pub(super) struct MetricSample {
    pub labels: Vec<&'static str>,
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

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
    read: fn(&Readings) -> Vec<MetricSample>,
) -> MetricRow {
    MetricRow { name, kind: MetricKind::Counter, labels, help, read }
}

const fn gauge(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
    read: fn(&Readings) -> Vec<MetricSample>,
) -> MetricRow {
    MetricRow { name, kind: MetricKind::Gauge, labels, help, read }
}

/// All metrics, in the order of docs/monitoring.md.
pub const METRICS: [MetricRow; 32] = [
    counter(
        "thriftstore_requests_total",
        &["protocol", "method", "generation", "outcome"],
        "Requests by method and outcome.",
        |now| of_methods(now, outcomes),
    ),
    MetricRow {
        name: "thriftstore_request_duration_seconds",
        kind: MetricKind::Histogram,
        labels: &["protocol", "method", "generation"],
        help: "Time from a complete message to its complete reply, without the network.",
        read: |now| {
            of_methods(now, |slot, totals| {
                vec![MetricSample { labels: labels_of(slot), value: durations(totals) }]
            })
        },
    },
    counter(
        "thriftstore_request_received_bytes_total",
        &["protocol", "method", "generation"],
        "Bytes of requests.",
        |now| of_methods(now, |slot, totals| vec![labelled(labels_of(slot), totals.bytes_in)]),
    ),
    counter(
        "thriftstore_request_sent_bytes_total",
        &["protocol", "method", "generation"],
        "Bytes of replies.",
        |now| of_methods(now, |slot, totals| vec![labelled(labels_of(slot), totals.bytes_out)]),
    ),
    gauge("thriftstore_connections", &[], "Open connections of clients.", |now| {
        one(now.connections_open as u64)
    }),
    counter("thriftstore_connections_accepted_total", &[], "Accepted connections of clients.", |now| {
        one(now.connections.accepted.get())
    }),
    counter(
        "thriftstore_connections_ended_total",
        &["cause"],
        "Connections that did not end in order: `closed` by the server because of what the client sent or did not send, \
         `lost` by the client or the network.",
        |now| {
            let ended = &now.connections;
            vec![
                labelled(vec!["closed"], ended.closed_by_server.get()),
                labelled(vec!["lost"], ended.lost.get()),
            ]
        },
    ),
    counter("thriftstore_tls_handshakes_total", &["outcome"], "TLS handshakes of clients.", |now| {
        let counted = &now.connections;
        ok_and_failed(counted.handshakes_ok.get(), counted.handshakes_failed.get())
    }),
    counter("thriftstore_logins_total", &["outcome"], "Logins, if the server requires them.", |now| {
        ok_and_failed(now.logins.0, now.logins.1)
    }),
    gauge(
        "thriftstore_memory_bytes",
        &["owner"],
        "Memory by owner: `requests` that run, `messages` and replies, `memtables`, `row_cache`, `block_cache`.",
        memory,
    ),
    gauge("thriftstore_healthy", &[], "1 if the store serves all requests, otherwise 0.", |now| {
        one(u64::from(now.store.failure().is_none()))
    }),
    gauge("thriftstore_disk_bytes", &[], "Bytes of the data directory: tables and commit log.", |now| {
        one(now.store.disk_bytes)
    }),
    gauge("thriftstore_memtable_bytes", &[], "Bytes of the memtables.", |now| {
        of_engine(now, |engine| engine.memtable_bytes)
    }),
    gauge("thriftstore_commit_log_bytes", &[], "Bytes of the commit log.", |now| {
        of_engine(now, |engine| engine.commit_log_bytes)
    }),
    gauge("thriftstore_table_bytes", &[], "Bytes of the sorted tables on the disk.", |now| {
        of_engine(now, |engine| engine.table_bytes)
    }),
    gauge(
        "thriftstore_unmerged_runs",
        &[],
        "Sorted runs that wait for compaction, of the column family that has the most.",
        |now| of_engine(now, |engine| engine.unmerged_runs),
    ),
    counter("thriftstore_flushes_total", &[], "Memtables that were written to tables.", |now| {
        of_engine(now, |engine| engine.flushes)
    }),
    counter("thriftstore_compactions_total", &[], "Compactions of the tables of a column family.", |now| {
        of_engine(now, |engine| engine.compactions)
    }),
    gauge("thriftstore_block_cache_bytes", &[], "Bytes of the cache of blocks of sorted tables.", |now| {
        of_engine(now, |engine| engine.block_cache_bytes)
    }),
    gauge("thriftstore_row_cache_bytes", &[], "Bytes of the row cache.", |now| {
        of_engine(now, |engine| engine.row_cache_bytes)
    }),
    counter("thriftstore_row_cache_hits_total", &[], "Reads that found their row in the row cache.", |now| {
        of_engine(now, |engine| engine.row_cache_hits)
    }),
    counter(
        "thriftstore_row_cache_misses_total",
        &[],
        "Reads that did not find their row in the row cache.",
        |now| of_engine(now, |engine| engine.row_cache_misses),
    ),
    counter(
        "thriftstore_tombstones_read_total",
        &[],
        "Tombstones and expired columns that reads have passed, in all databases of the process.",
        |_| one(TOMBSTONES_READ.get()),
    ),
    gauge("thriftstore_index_builds", &[], "Indexes that are being built.", |now| {
        one(now.index_builds as u64)
    }),
    gauge(
        "thriftstore_undefined_column_families",
        &[],
        "Column families that have data and no definition.",
        |now| one(now.store.undefined.len() as u64),
    ),
    gauge("thriftstore_cluster_nodes", &["state"], "Nodes of the cluster behind a gateway.", |now| {
        of_cluster(now, |cluster| {
            let up = cluster.nodes.iter().filter(|node| node.is_up).count() as u64;
            vec![labelled(vec!["up"], up), labelled(vec!["down"], cluster.nodes.len() as u64 - up)]
        })
    }),
    gauge(
        "thriftstore_cluster_requests_in_flight",
        &[],
        "Requests that the cluster has not answered.",
        |now| of_cluster(now, |cluster| one(cluster.requests_in_flight as u64)),
    ),
    gauge(
        "thriftstore_cluster_requests_waiting",
        &[],
        "Requests that wait until the cluster answers others.",
        |now| of_cluster(now, |cluster| one(cluster.requests_waiting as u64)),
    ),
    gauge("thriftstore_build_info", &["version"], "Always 1; the version is the label.", |_| {
        vec![labelled(vec![env!("CARGO_PKG_VERSION")], 1)]
    }),
    gauge("process_start_time_seconds", &[], "When the server started, in seconds since 1970.", |now| {
        vec![MetricSample { labels: Vec::new(), value: SampleValue::Number(now.started_s) }]
    }),
    gauge("process_resident_memory_bytes", &[], "Physical memory of the process.", |now| {
        now.resident_bytes.map_or(Vec::new(), one)
    }),
    gauge("process_threads", &[], "Threads of the process.", |now| now.threads.map_or(Vec::new(), one)),
];

fn labelled(labels: Vec<&'static str>, value: u64) -> MetricSample {
    MetricSample { labels, value: SampleValue::Number(value as f64) }
}

fn one(value: u64) -> Vec<MetricSample> {
    vec![labelled(Vec::new(), value)]
}

fn ok_and_failed(ok: u64, failed: u64) -> Vec<MetricSample> {
    vec![labelled(vec!["ok"], ok), labelled(vec!["failed"], failed)]
}

fn of_engine(now: &Readings, read: impl Fn(&EngineStatus) -> u64) -> Vec<MetricSample> {
    now.store.engine.as_ref().map_or(Vec::new(), |engine| one(read(engine)))
}

fn of_cluster(now: &Readings, read: impl Fn(&ClusterStatus) -> Vec<MetricSample>) -> Vec<MetricSample> {
    now.store.cluster.as_ref().map_or(Vec::new(), read)
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
