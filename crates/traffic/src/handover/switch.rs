//! Switches between the servers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::gate::{Answering, HandoverGate};
use crate::queue::{QueueTable, WriteQueue};
use base::util::{replace_file, sync_name};

/// The time for which connections may take to end when the gate closes.
const CONNECTIONS_PATIENCE: Duration = Duration::from_secs(10);

/// The state of a move that survives a restart of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverState {
    /// The server that answers.
    pub answering: Answering,
}

/// The gate, the queues, and the file with the state.
#[derive(Debug)]
pub struct Handover {
    /// The gate of all ports.
    pub gate: Arc<HandoverGate>,
    /// Writes that the old server has answered.
    pub to_new: Arc<WriteQueue>,
    /// Writes that the new server has answered.
    pub to_old: Arc<WriteQueue>,
    state: PathBuf,
    answering: Mutex<Answering>,
}

/// The options of a switch.
#[derive(Debug, Clone, Copy)]
pub struct SwitchOptions {
    /// The time for which clients may wait.
    pub patience: Duration,
    /// Whether to switch although tables must be compared or copied again.
    pub force: bool,
}

impl Handover {
    /// Opens the gate as the file says; without a file the old server answers.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn open(state: &Path, to_new: Arc<WriteQueue>, to_old: Arc<WriteQueue>) -> io::Result<Handover> {
        let found = match fs::read(state) {
            Ok(json) => serde_json::from_slice(&json)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                HandoverState { answering: Answering::Old }
            }
            Err(error) => return Err(error),
        };
        Ok(Handover {
            gate: Arc::new(HandoverGate::new(found.answering)),
            to_new,
            to_old,
            state: state.to_owned(),
            answering: Mutex::new(found.answering),
        })
    }

    /// Returns the server that answers; while the gate is closed, the one that answered last.
    pub fn answering(&self) -> Answering {
        *self.answering.lock()
    }

    /// Returns the queue to the server that does not answer.
    pub fn queue(&self) -> &WriteQueue {
        match self.answering() {
            Answering::Old => &self.to_new,
            Answering::New => &self.to_old,
        }
    }

    /// Lets the other server answer, once it has all writes. Clients wait meanwhile, at most for the patience.
    ///
    /// # Errors
    ///
    /// Why the same server goes on answering.
    pub async fn switch(&self, to: Answering, options: SwitchOptions) -> Result<(), String> {
        let from = self.answering();
        if from == to {
            return Ok(());
        }
        let queue = self.queue();
        let status = queue.status();
        if let Some(trouble) = status.trouble {
            return Err(format!("the writes are not sent: {trouble}"));
        }
        check_again(&status.again, options)?;
        self.gate.close();
        let switched = self.switch_closed(to, queue, options).await;
        self.gate.open(if switched.is_ok() { to } else { from });
        switched
    }

    async fn switch_closed(
        &self,
        to: Answering,
        queue: &WriteQueue,
        options: SwitchOptions,
    ) -> Result<(), String> {
        let end = Instant::now() + options.patience;
        if !self.gate.until_left(CONNECTIONS_PATIENCE).await {
            return Err("connections of clients did not end".to_owned());
        }
        loop {
            let status = queue.status();
            if status.unsent == 0 {
                // The last writes may have been refused, or cut off without an answer.
                check_again(&status.again, options)?;
                break;
            }
            if Instant::now() >= end {
                let trouble = status.trouble.map_or_else(String::new, |trouble| format!(": {trouble}"));
                return Err(format!("{} writes are not sent{trouble}", status.unsent));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.store(HandoverState { answering: to })
            .map_err(|error| format!("cannot store the state: {error}"))?;
        *self.answering.lock() = to;
        Ok(())
    }

    fn store(&self, state: HandoverState) -> io::Result<()> {
        replace_file(&self.state, &serde_json::to_vec(&state)?)?;
        // A failure of the machine must not bring the other server back, so the new name is synced, too. If that fails, the
        // name is there all the same.
        let _ = sync_name(&self.state);
        Ok(())
    }
}

/// Checks that no table must be compared or copied again.
fn check_again(again: &[QueueTable], options: SwitchOptions) -> Result<(), String> {
    match again.first() {
        Some(table) if !options.force => Err(format!(
            "{} tables may differ, such as {} ({}): compare them first, or use --force",
            again.len(),
            table.shown(),
            table.reason.text()
        )),
        _ => Ok(()),
    }
}
