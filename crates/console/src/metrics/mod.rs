//! `/metrics`: what the server counts and holds, in the text form of Prometheus.
//!
//! `metrics.txt` has the name, labels and meaning of each metric, and `table` reads it. The values of the labels
//! come from tables in the program, never from what clients send, so the number of series is bounded.
//! [docs/monitoring.md](../../../docs/monitoring.md) has the same table, and a test compares the two.

mod answer;
mod charts;
mod collector;
mod history;
mod readings;
mod request_totals;
mod table;

pub use answer::answer;
pub(crate) use charts::{Chart, details, duration, overview};
pub(crate) use history::{HISTORY_MINUTES, History, SAMPLE_S};
pub use readings::{Readings, ServerReadings};
pub use table::{METRICS, MetricKind, MetricRow};
