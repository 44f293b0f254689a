//! The options of the control port, and the control of a test double.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::http_port::HttpPort;
use crate::control::{Control, ControlService, SnapshotLimits};
use crate::db::Database;
use crate::util::{Clock, Password};

/// The options of the control port.
#[derive(Debug, Default, Args)]
pub struct ControlArgs {
    /// The address of the control API for tests: HTTP with JSON, which resets the data, takes snapshots and moves the
    /// clock; port 0 picks a free one. Needs --ephemeral. An address that is not loopback needs --control-token-file
    /// [default: disabled]
    #[arg(id = "control_address", long = "control", value_name = "HOST:PORT")]
    pub address: Option<String>,
    /// A file whose first line is the token of requests to the control port, as in `Authorization: Bearer TOKEN`
    #[arg(
        id = "control_token_file",
        long = "control-token-file",
        value_name = "FILE",
        requires = "control_address"
    )]
    token_file: Option<PathBuf>,
}

/// The checked options of the control port.
pub struct ControlOptions {
    token: Option<Password>,
}

impl ControlArgs {
    /// Checks the options; `None` if the control port is disabled.
    pub fn options(&self, is_in_memory: bool) -> Result<Option<ControlOptions>, String> {
        let Some(address) = &self.address else { return Ok(None) };
        if !is_in_memory {
            return Err(format!(
                "--control {address} lets tests replace all data, and only a server in memory can do that: add \
                 --ephemeral, or remove --control"
            ));
        }
        let port = HttpPort { option: "--control", name: "control port" };
        let token = port.token(Some(address), self.token_file.as_deref())?;
        Ok(Some(ControlOptions { token }))
    }

    /// Returns the clock of the server: with a control port tests can change it.
    pub fn clock(&self) -> Clock {
        if self.address.is_some() { Clock::adjustable() } else { Clock::system() }
    }

    /// Returns the database, whose requests wait for the control port's changes if there is one.
    pub fn gated(&self, database: Database) -> Database {
        if self.address.is_some() { database.with_gate() } else { database }
    }
}

impl ControlOptions {
    /// Makes the service of the control port. The current state of the database becomes its start-up state.
    pub async fn service(self, database: Arc<Database>) -> Result<ControlService, String> {
        let control = Control::new(database, SnapshotLimits::default()).await;
        let control = control.map_err(|error| format!("cannot take the first snapshot: {error}"))?;
        Ok(ControlService::new(Arc::new(control), self.token))
    }
}
