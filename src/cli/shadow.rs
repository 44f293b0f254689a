//! `thriftstore shadow`: sends the calls of clients to a second server too, and compares the answers.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use super::http_port::HttpPort;
use super::process::{self, StopSignals};
use super::queue::{self, QueueArgs};
use super::report::ReportArgs;
use super::tls::TlsArgs;
use crate::cli::Result;
use base::util::limits::{RECORDER_CONNECTIONS_MAX, SHADOW_QUEUE_BYTES_MAX};
use base::util::output::print_line;
use net::{Admission, ConnectionLimits, Listener, Shutdown, Upstream};
use traffic::queue::{Capture, SenderOptions};
use traffic::record::{Proxy, Stamps, TapQueue, Upstreams};
use traffic::replay::CandidateServer;
use traffic::report::{Report, ReportSubject, RunKind};
use traffic::shadow::{Only, Shadow, ShadowPlan, ShadowState, shadow_page};

/// The time that connections may take to end at shutdown: they are closed, not finished.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The time that the comparison of the last calls may take at shutdown.
const LAST_CALLS_TIMEOUT: Duration = Duration::from_secs(10);

/// The interval at which the line on a terminal changes, and the interval of lines without a terminal.
const LINE_EVERY: Duration = Duration::from_millis(500);
const LOG_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub(super) struct ShadowArgs {
    /// The address for clients; port 0 picks a free one. Thrift and the native protocol are told apart by their first
    /// bytes. May be given several times, with as many --primary in the same order
    #[arg(long, value_name = "HOST:PORT", required = true)]
    listen: Vec<String>,
    /// The server that answers the clients
    #[arg(long, value_name = "HOST:PORT", required = true)]
    primary: Vec<String>,
    /// The server that gets the same calls, and whose answers no client sees: its address of Thrift
    #[arg(long, value_name = "HOST:PORT")]
    candidate: String,
    /// The candidate's address of the native protocol [default: its calls are not compared]
    #[arg(long, value_name = "HOST:PORT")]
    candidate_cql: Option<String>,
    /// The share of the reads that are sent to the candidate, from 0 to 1. All writes are sent
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    share: f64,
    /// Send only `reads` or only `writes` to the candidate [default: both]
    #[arg(long, value_name = "KIND")]
    only: Option<Only>,
    /// Pass CQL writes without a timestamp as they are: each server then sets its own [default: the shadow sets one for
    /// both, by its clock]
    #[arg(long)]
    server_timestamps: bool,
    /// The time that the candidate may take for an answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    timeout_ms: u64,
    /// The address of an HTTP port with the report so far: GET /, /report.txt, /report.json and /status.json. An address
    /// that is not loopback needs --http-token-file [default: disabled]
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    /// A file whose first line is the token of requests to the HTTP port, as in `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "http")]
    http_token_file: Option<std::path::PathBuf>,
    /// A name under which browsers reach the HTTP port, besides addresses, localhost and the host of --http; may be given
    /// several times
    #[arg(long, value_name = "NAME", requires = "http")]
    http_host: Vec<String>,
    #[command(flatten)]
    queue: QueueArgs,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    report: ReportArgs,
}

fn share(text: &str) -> Result<f64> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("{text:?} is not a number from 0 to 1"))
}

/// Serves until SIGTERM or SIGINT, then writes the report.
pub(super) fn shadow(args: &ShadowArgs) -> Result<()> {
    process::start_log();
    process::raise_descriptor_limit();
    process::runtime()?.block_on(serve(args))
}

async fn serve(args: &ShadowArgs) -> Result<()> {
    if args.listen.len() != args.primary.len() {
        return Err(format!(
            "{} --listen and {} --primary were given: give one --primary for each --listen",
            args.listen.len(),
            args.primary.len()
        ));
    }
    let mut primaries = Vec::new();
    for address in &args.primary {
        primaries.push(Upstream::new(address, None).map_err(|error| error.to_string())?);
    }
    let encryption = args.tls.open()?;
    let mut stop = StopSignals::listen()?;
    let listeners = process::bound(&args.listen)?;
    let shutdown = Shutdown::new();
    let signal = || shutdown.signal().ok_or("the shadow is stopping");
    let writes = args.queue.open()?;
    let state = ShadowState::new(Report::new(subject(args)), writes.clone());
    serve_page(args, &state, Admission::for_status(signal()?))?;
    let queue = TapQueue::new(SHADOW_QUEUE_BYTES_MAX);
    let shadow = start(args, &queue, &state)?;
    process::reload_at_hangup(encryption.as_ref())?;
    let limits = ConnectionLimits {
        connections_max: RECORDER_CONNECTIONS_MAX,
        unproven_max: RECORDER_CONNECTIONS_MAX,
        ..ConnectionLimits::default()
    };
    let admission = Admission::limited(signal()?, limits).with_encryption(encryption);
    let mut proxy = Proxy::new(queue);
    if !args.server_timestamps {
        proxy = proxy.with_stamps(Stamps::default());
    }
    if let Some(writes) = &writes {
        proxy = proxy.with_capture(Capture::new(writes.clone()));
        let (server, timeout) = (candidate(args), Duration::from_millis(args.timeout_ms));
        let consistency = args.queue.consistency();
        queue::send(writes.clone(), SenderOptions { server, tls: None, timeout, consistency, login: None });
    }
    for (listener, primary) in listeners.into_iter().zip(primaries) {
        print_line!("listening for clients on {}, answered by {}", listener.address, primary.address);
        listener.start(proxy.to(Upstreams::only(primary)), admission.clone());
    }
    drop((proxy, admission));
    let progress = tokio::spawn(show(state.clone()));
    stop.wait().await;
    progress.abort();
    tracing::info!("stopping");
    shutdown.end(SHUTDOWN_TIMEOUT).await;
    let finished = tokio::task::spawn_blocking(|| shadow.finish(LAST_CALLS_TIMEOUT)).await;
    if !finished.map_err(|error| format!("the shadow failed: {error}"))? {
        tracing::warn!("the last calls are not compared: the candidate has not answered them in time");
        state.abandon_rest();
    }
    if let Some(writes) = &writes {
        queue::drain(writes, LAST_CALLS_TIMEOUT).await;
        writes.flush().map_err(|error| error.to_string())?;
    }
    args.report.write_summary(&state.summary(), &state.report)
}

fn subject(args: &ShadowArgs) -> ReportSubject {
    let candidates: Vec<&str> = [Some(&args.candidate), args.candidate_cql.as_ref()]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    ReportSubject {
        run: RunKind::Shadow,
        recorded: args.primary.join(", "),
        candidate: candidates.join(", "),
    }
}

fn candidate(args: &ShadowArgs) -> CandidateServer {
    CandidateServer { thrift: args.candidate.clone(), native: args.candidate_cql.clone() }
}

fn start(args: &ShadowArgs, queue: &TapQueue, state: &Arc<ShadowState>) -> Result<Shadow> {
    let plan = ShadowPlan {
        share: args.share,
        only: args.only,
        has_queue: state.queue.is_some(),
        timeout: Duration::from_millis(args.timeout_ms),
    };
    let started = Shadow::start(queue.clone(), candidate(args), &plan, state.clone());
    started.map_err(|error| format!("cannot start the shadow: {error}"))
}

/// Serves the HTTP port, if there is one.
fn serve_page(args: &ShadowArgs, state: &Arc<ShadowState>, admission: Admission) -> Result<()> {
    let port = HttpPort { option: "--http", host_option: "--http-host", name: "HTTP port" };
    let token = port.token(args.http.as_deref(), args.http_token_file.as_deref())?;
    let Some(address) = &args.http else { return Ok(()) };
    let listener = Listener::bind(address).map_err(|error| error.to_string())?;
    print_line!("the report so far is at http://{}/", listener.address);
    let hosts = port.hosts(Some(address), &args.http_host, token.is_some());
    listener.start(shadow_page(state.clone(), token, hosts), admission);
    Ok(())
}

/// Shows counts on the terminal, or a line now and then.
async fn show(state: Arc<ShadowState>) {
    let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
    if let (Some(bar), Ok(style)) = (&bar, ProgressStyle::with_template("{spinner} {msg}")) {
        bar.set_style(style);
    }
    let mut ticks = tokio::time::interval(if bar.is_some() { LINE_EVERY } else { LOG_EVERY });
    // The first tick is at once.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let status = state.status();
        let line = format!(
            "{} calls, {} compared, {} differences from {} causes, {} not compared, {} waiting",
            HumanCount(status.calls),
            HumanCount(status.compared),
            HumanCount(status.differences),
            status.causes,
            HumanCount(status.not_compared),
            status.waiting_events,
        );
        match &bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None => tracing::info!("{line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_between_0_and_1() {
        assert_eq!(["0", "0.25", "1"].map(share), [Ok(0.0), Ok(0.25), Ok(1.0)]);
        for wrong in ["-0.1", "1.1", "NaN", "half", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
