//! A running shadow.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::super::record::TapQueue;
use super::super::replay::{CandidateServer, Replay, ReplayOptions, Speed};
use super::plan::ShadowPlan;
use super::selection::CallSelection;
use super::source;
use super::status::ShadowState;

/// A running shadow: the thread that decodes, and the replay on a thread of its own, so that comparing long answers does
/// not take the time of clients.
pub struct Shadow {
    queue: TapQueue,
    threads: [JoinHandle<()>; 2],
}

impl Shadow {
    /// Starts to send the calls that pass the taps of `queue` to the candidate.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub fn start(
        queue: TapQueue,
        candidate: CandidateServer,
        plan: &ShadowPlan,
        state: Arc<ShadowState>,
    ) -> io::Result<Shadow> {
        let seed = u64::from_ne_bytes(uuid::Uuid::new_v4().as_bytes()[..8].try_into().unwrap_or_default());
        let reading = source::start(queue.clone(), state.clone(), CallSelection::new(plan, seed))?;
        let options = ReplayOptions { speed: Speed::Max, only_own_reads: false, timeout: plan.timeout };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let comparing = std::thread::Builder::new()
            .name("shadow-replay".to_owned())
            .spawn(move || runtime.block_on(replay(&candidate, &options, &state)))?;
        Ok(Shadow { queue, threads: [reading, comparing] })
    }

    /// Waits until all calls so far are compared, at most for this time. Blocks. Returns whether all is compared.
    pub fn finish(self, patience: Duration) -> bool {
        self.queue.end();
        let deadline = std::time::Instant::now() + patience;
        while !self.threads.iter().all(JoinHandle::is_finished) {
            if std::time::Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }
}

async fn replay(candidate: &CandidateServer, options: &ReplayOptions, state: &ShadowState) {
    let mut report = state.report.clone();
    let mut replay = Replay::new(candidate, options, &mut report);
    while let Some(event) = state.backlog.next().await {
        replay.take(event).await;
        if state.backlog.size().events == 0 {
            replay.settle().await;
        }
    }
    replay.finish().await;
}
