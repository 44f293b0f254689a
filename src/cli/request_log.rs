//! The options of the log of requests.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tokio::signal::unix::Signal;

use crate::cli::Result;
use base::util::{LineWriter, Rotation};
use db::request_log::{RequestLogMode, RequestLogOutput, RequestLogSwitch};

#[derive(Debug, Args)]
#[command(next_help_heading = "Log of requests")]
pub(super) struct RequestLogArgs {
    /// Log all, errors, slow=50ms or sample=0.01
    ///
    /// With their arguments, one line of JSON each. [default: off] SIGUSR1 switches the log off, and on again.
    #[arg(long, value_name = "MODE", default_value = "off", hide_default_value = true)]
    log_requests: RequestLogMode,
    /// Write logged requests to this file
    ///
    /// Instead of the log of the server.
    #[arg(long, value_name = "FILE")]
    log_requests_file: Option<PathBuf>,
    /// The size at which the file is renamed to FILE.1 and a new one begins
    #[arg(
        long,
        value_name = "MB",
        default_value = "100",
        requires = "log_requests_file",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        hide_short_help = true
    )]
    log_requests_file_mb: u64,
    /// The number of files that are kept
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "5",
        requires = "log_requests_file",
        value_parser = clap::value_parser!(u32).range(1..=1_000),
        hide_short_help = true
    )]
    log_requests_files: u32,
    /// Replace keys, names, values and literals in these lines by hashes, and hide the texts of errors
    #[arg(long, hide_short_help = true)]
    log_requests_redact: bool,
}

impl RequestLogArgs {
    /// Makes the log, and opens its file.
    pub(super) fn switch(&self) -> Result<RequestLogSwitch> {
        let output = match &self.log_requests_file {
            None => RequestLogOutput::Log,
            Some(file) => {
                let rotation = Rotation {
                    bytes_max: self.log_requests_file_mb << 20,
                    files_max: self.log_requests_files,
                };
                let writer = LineWriter::open(file, rotation);
                RequestLogOutput::File(writer.map_err(|error| {
                    format!("cannot write the file of --log-requests-file, {}: {error}", file.display())
                })?)
            }
        };
        Ok(RequestLogSwitch::new(self.log_requests, output, self.log_requests_redact))
    }
}

/// Switches the log of requests at each SIGUSR1.
pub(super) async fn toggle_at(mut signal: Signal, log: Arc<RequestLogSwitch>) {
    while signal.recv().await.is_some() {
        tracing::info!("SIGUSR1: requests are logged from now on: {}", log.toggle());
    }
}
