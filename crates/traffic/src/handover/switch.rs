//! Switches between the servers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::gate::{Answering, HandoverGate};
use crate::queue::WriteQueue;

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
        })
    }

    /// Returns the server that answers; while the gate is closed, the one that answered last.
    pub fn answering(&self) -> Answering {
        let stored = fs::read(&self.state).ok().and_then(|json| serde_json::from_slice(&json).ok());
        stored.map_or(Answering::Old, |state: HandoverState| state.answering)
    }

    /// Lets the other server answer, once it has all writes. Clients wait meanwhile, at most for `patience`.
    ///
    /// # Errors
    ///
    /// Why the same server goes on answering.
    pub async fn switch(&self, to: Answering, patience: Duration) -> Result<(), String> {
        let from = self.answering();
        if from == to {
            return Ok(());
        }
        let queue = match to {
            Answering::New => &self.to_new,
            Answering::Old => &self.to_old,
        };
        if let Some(trouble) = queue.status().trouble {
            return Err(format!("the writes are not sent: {trouble}"));
        }
        self.gate.close();
        let switched = self.switch_closed(to, queue, Instant::now() + patience).await;
        self.gate.open(if switched.is_ok() { to } else { from });
        switched
    }

    async fn switch_closed(&self, to: Answering, queue: &WriteQueue, end: Instant) -> Result<(), String> {
        if !self.gate.until_left(CONNECTIONS_PATIENCE).await {
            return Err("connections of clients did not end".to_owned());
        }
        loop {
            let status = queue.status();
            if status.unsent == 0 {
                break;
            }
            if Instant::now() >= end {
                let trouble = status.trouble.map_or_else(String::new, |trouble| format!(": {trouble}"));
                return Err(format!("{} writes are not sent{trouble}", status.unsent));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.store(HandoverState { answering: to })
            .map_err(|error| format!("cannot store the state: {error}"))
    }

    fn store(&self, state: HandoverState) -> io::Result<()> {
        let new = self.state.with_extension("new");
        let file = fs::File::create(&new)?;
        serde_json::to_writer(&file, &state)?;
        file.sync_all()?;
        fs::rename(&new, &self.state)
    }
}
