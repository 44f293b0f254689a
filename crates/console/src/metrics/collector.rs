//! Writes the rows of the table in the form of the library.

use std::fmt::Error;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::readings::Readings;
use super::table::{METRICS, MetricKind, MetricRow, MetricSample, SampleValue, read};

/// The readings of one scrape, for the library.
#[derive(Debug)]
pub(super) struct MetricsCollector(pub Readings);

impl Collector for MetricsCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        METRICS.iter().try_for_each(|row| write(row, &read(row.name, &self.0), &mut encoder))
    }
}

/// Writes a metric, unless it has no values on this server.
fn write(
    row: &MetricRow,
    samples: &[MetricSample],
    encoder: &mut DescriptorEncoder<'_>,
) -> Result<(), Error> {
    if samples.is_empty() {
        return Ok(());
    }
    // The library appends the suffix of counters.
    let (name, kind) = match row.kind {
        MetricKind::Counter => (row.name.strip_suffix("_total").unwrap_or(row.name), MetricType::Counter),
        MetricKind::Gauge => (row.name, MetricType::Gauge),
        MetricKind::Histogram => (row.name, MetricType::Histogram),
    };
    let mut metric = encoder.encode_descriptor(name, row.help, None, kind)?;
    for sample in samples {
        if row.labels.is_empty() {
            write_value(&mut metric, row.kind, &sample.value)?;
            continue;
        }
        let values = sample.labels.iter().map(|value| &**value);
        let labels: Vec<(&str, &str)> = row.labels.iter().copied().zip(values).collect();
        let labels = &labels[..];
        write_value(&mut metric.encode_family(&labels)?, row.kind, &sample.value)?;
    }
    Ok(())
}

fn write_value(metric: &mut MetricEncoder<'_>, kind: MetricKind, value: &SampleValue) -> Result<(), Error> {
    match value {
        SampleValue::Number(number) => match kind {
            MetricKind::Counter => metric.encode_counter::<NoLabelSet, f64, u64>(number, None),
            _ => metric.encode_gauge(number),
        },
        SampleValue::Histogram { buckets, sum } => {
            let count = buckets.iter().map(|(_, count)| count).sum();
            metric.encode_histogram::<NoLabelSet>(*sum, count, buckets, None)
        }
    }
}
