//! The options of the control port, and the control of a test double.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;

use super::http_port::HttpPort;
use super::load_location::{load_export, load_location};
use crate::cli::Result;
use base::util::meter::RequestLimits;
use base::util::{Clock, Password};
use db::Database;
use double::control::{
    CONTROL_TIMES, Control, ControlError, LoadBody, Sandboxes, SnapshotLimits, control_service, load,
};
use transfer::endpoint::Location;
use web::{HostNames, HttpService};

/// The options of the control port.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Tests")]
pub(super) struct ControlArgs {
    /// The address of the control API [default: off]
    ///
    /// Tests use the control API to reset the data, to take snapshots and to move the clock. It needs --ephemeral.
    ///
    /// HTTP with JSON. Port 0 picks a free one. An address that is not loopback needs --control-token-file.
    #[arg(long, value_name = "HOST:PORT")]
    pub control: Option<String>,
    /// A file whose first line is the token of requests to the control port, as in `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "control", hide_short_help = true)]
    control_token_file: Option<PathBuf>,
    /// A name under which clients reach the control port, besides addresses, localhost and the host of --control; may be
    /// given several times
    #[arg(long, value_name = "NAME", requires = "control", hide_short_help = true)]
    control_host: Vec<String>,
    /// Load data at the start; needs --ephemeral
    ///
    /// FILE.cql, FILE.cli, FILE.json, json:DIRECTORY, a data directory or thrift:HOST:PORT. FILE.cql has statements, FILE.cli or FILE.txt
    /// statements of cassandra-cli, FILE.json rows as the control API's GET /dump prints them. json:DIRECTORY is an
    /// export, which creates its tables. A data directory may be a backup. thrift:HOST:PORT is a server, as `copy --from` has it. May be given several times. Clients can connect
    /// when everything is loaded.
    #[arg(long, value_name = "SOURCE")]
    load: Vec<LoadSource>,
}

/// The checked options of the control port.
pub(super) struct ControlOptions {
    token: Option<Password>,
    hosts: HostNames,
}

impl ControlArgs {
    /// Checks the options; `None` if the control port is disabled.
    pub(super) fn options(&self, is_in_memory: bool) -> Result<Option<ControlOptions>> {
        if let (Some(source), false) = (self.load.first(), is_in_memory) {
            return Err(format!(
                "--load {} loads data for tests, and only into a server in memory: add --ephemeral, or remove --load",
                source
            ));
        }
        let Some(address) = &self.control else { return Ok(None) };
        if !is_in_memory {
            return Err(format!(
                "--control {address} lets tests replace all data, and only a server in memory can do that: add \
                 --ephemeral, or remove --control"
            ));
        }
        let port = HttpPort { option: "--control", host_option: "--control-host", name: "control port" };
        let token = port.token(Some(address), self.control_token_file.as_deref())?;
        let hosts = port.hosts(Some(address), &self.control_host, token.is_some());
        Ok(Some(ControlOptions { token, hosts }))
    }

    /// Loads the data of `--load`.
    pub(super) async fn load(&self, database: &Arc<Database>) -> Result<()> {
        for source in &self.load {
            source.load(database).await?;
        }
        Ok(())
    }

    /// Returns the clock of the server: with a control port tests can change it.
    pub(super) fn clock(&self) -> Clock {
        if self.control.is_some() { Clock::adjustable() } else { Clock::system() }
    }

    /// Returns the database. If there is a control port, its requests wait for changes of the whole database, and meet
    /// the rules of faults.
    pub(super) fn controlled(&self, database: Database) -> Database {
        if self.control.is_some() { database.with_gate().with_faults() } else { database }
    }
}

/// The source of `--load`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LoadSource {
    File(PathBuf),
    /// A data directory, or a Thrift server.
    Location(Location),
    /// The directory of an export in JSON.
    Export(PathBuf),
}

impl LoadSource {
    /// Loads the data into a server in memory.
    pub(super) async fn load(&self, database: &Arc<Database>) -> Result<()> {
        match self {
            LoadSource::File(file) => load_file("--load", database, file).await,
            LoadSource::Location(place) => load_location(database, place).await,
            LoadSource::Export(directory) => load_export(database, directory).await,
        }
    }
}

impl FromStr for LoadSource {
    type Err = String;

    fn from_str(text: &str) -> Result<LoadSource> {
        match text.split_once(':') {
            Some(("json", directory)) => Ok(LoadSource::Export(directory.into())),
            Some(("data" | "thrift", _)) => Ok(LoadSource::Location(text.parse()?)),
            _ if Path::new(text).is_dir() => Ok(LoadSource::Location(Location::Data(text.into()))),
            _ => Ok(LoadSource::File(text.into())),
        }
    }
}

impl fmt::Display for LoadSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadSource::File(file) => file.display().fmt(out),
            LoadSource::Location(place) => place.fmt(out),
            LoadSource::Export(directory) => write!(out, "json:{}", directory.display()),
        }
    }
}

/// Loads a file. `option` named it.
pub(super) async fn load_file(option: &str, database: &Arc<Database>, file: &Path) -> Result<()> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {name}: {error}"))?;
    let of_file = |error: ControlError| format!("{option} {name}: {error}");
    let body = LoadBody::of_file(&name, bytes).map_err(of_file)?;
    let loaded = load(database, &RequestLimits::default(), &body).await.map_err(of_file)?;
    tracing::info!("{name}: {} statements and {} rows loaded", loaded.statements, loaded.rows);
    Ok(())
}

impl ControlOptions {
    /// Makes the control of the server. The current state of the database becomes its start-up state.
    pub(super) async fn control(
        &self,
        database: Arc<Database>,
        sandboxes: Sandboxes,
    ) -> Result<Arc<Control>> {
        let control = Control::new(database, SnapshotLimits::default()).await;
        let control = control.map_err(|error| format!("cannot take the first snapshot: {error}"))?;
        Ok(Arc::new(control.with_sandboxes(sandboxes)))
    }

    /// Makes the service of the control port.
    pub(super) fn service(self, control: &Arc<Control>) -> HttpService {
        control_service(control, self.token, self.hosts, CONTROL_TIMES)
    }
}
