//! Counters of what a server does, for its metrics.
//!
//! Requests count on every thread. A number that all threads add to would move its cache line between processors with each
//! request, which costs more than many a request's work. So these counters have a part for each thread, each in cache
//! lines of its own, and reading sums the parts:
//!
//! ```text
//!   thread 1 ──> [ get ok 17 | insert ok 4 | ... ]  ┐
//!   thread 2 ──> [ get ok  9 | insert ok 8 | ... ]  ├─> a scrape: get ok 26, insert ok 12
//!   thread 3 ──> [          not used yet         ]  ┘
//! ```

mod outcome;
mod request_metrics;
mod sharded;

pub use outcome::RequestOutcome;
pub use request_metrics::{
    EndedRequest, LATENCY_BOUNDS_MICROS, MethodTotals, REQUEST_SLOTS_MAX, RequestMetrics, RequestSlot,
};
pub use sharded::{Counter, ShardedCounter};
