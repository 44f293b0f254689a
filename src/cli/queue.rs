//! The options of a queue of writes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use crate::cli::Result;
use base::compat::features::releases::NEWEST;
use base::compat::features::{ConsistencyLevel, consistency_of};
use traffic::queue::{QueueLimits, QueueSender, SenderOptions, WriteQueue};

const MIB: u64 = 1024 * 1024;
/// The numbers of consistency levels in Thrift.
const LEVELS: std::ops::RangeInclusive<i32> = 1..=11;

#[derive(Debug, Args)]
pub(super) struct QueueLimitArgs {
    /// The size of the queue. Writes above it are counted, and their tables must be copied again
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    queue_mb: u64,
    /// The age that the oldest write of the queue may have. After that, as with --queue-mb
    #[arg(long, value_name = "HOURS", default_value_t = 72, value_parser = clap::value_parser!(u64).range(1..=24 * 366))]
    queue_hours: u64,
    /// The consistency level of the writes that the queue sends, such as QUORUM [default: as the client has chosen]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    candidate_consistency: Option<ConsistencyLevel>,
}

fn level(text: &str) -> Result<ConsistencyLevel> {
    let levels =
        LEVELS.filter_map(|number| consistency_of(number, NEWEST)).filter(|level| !level.is_serial());
    let found = levels.clone().find(|level| level.to_string() == text);
    found.ok_or_else(|| {
        let names: Vec<String> = levels.map(|level| level.to_string()).collect();
        format!("unknown consistency level {text:?}: use {}", names.join(", "))
    })
}

impl QueueLimitArgs {
    /// Opens the queue of a directory.
    pub(super) fn open(&self, directory: &std::path::Path) -> Result<Arc<WriteQueue>> {
        let limits =
            QueueLimits { bytes: self.queue_mb * MIB, age: Duration::from_secs(self.queue_hours * 3600) };
        WriteQueue::open(directory, limits).map(Arc::new).map_err(|error| error.to_string())
    }

    pub(super) fn consistency(&self) -> Option<ConsistencyLevel> {
        self.candidate_consistency
    }
}

/// The queue of a shadow.
#[derive(Debug, Args)]
pub(super) struct QueueArgs {
    /// Queue the writes in this directory until the candidate has acknowledged them, also across restarts. The candidate
    /// then gets the writes only [default: a write that the candidate does not answer is counted as missing]
    #[arg(long, value_name = "DIRECTORY")]
    queue: Option<PathBuf>,
    #[command(flatten)]
    limits: QueueLimitArgs,
}

impl QueueArgs {
    /// Opens the queue, if there is one.
    pub(super) fn open(&self) -> Result<Option<Arc<WriteQueue>>> {
        self.queue.as_deref().map(|directory| self.limits.open(directory)).transpose()
    }

    pub(super) fn consistency(&self) -> Option<ConsistencyLevel> {
        self.limits.consistency()
    }
}

/// Starts to send the writes of a queue.
pub(super) fn send(queue: Arc<WriteQueue>, options: SenderOptions) {
    tokio::spawn(async move {
        if let Err(error) = QueueSender::new(queue, options).run().await {
            tracing::error!("the writes of the queue are not sent any more: {error}");
        }
    });
}

/// Waits until the queue is empty, at most for this time, and not while the other server cannot be reached.
pub(super) async fn drain(queue: &WriteQueue, patience: Duration) {
    let end = Instant::now() + patience;
    while Instant::now() < end {
        let status = queue.status();
        if status.unsent == 0 || status.trouble.is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_named_as_in_the_interface() {
        assert_eq!(level("LOCAL_QUORUM"), Ok(ConsistencyLevel::LocalQuorum));
        for wrong in ["quorum", "SERIAL", ""] {
            assert!(level(wrong).unwrap_err().contains("use ONE, QUORUM,"), "{wrong}");
        }
    }
}
