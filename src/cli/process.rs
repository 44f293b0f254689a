//! The start and the end of a process that serves clients: its log, threads, limits and signals.

use std::io::IsTerminal;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::Result;
use net::{Encryption, ListenError, Listener, request_short_slices};

/// The variable of the environment that selects levels and modules of the log, as `info,net=debug`.
const LOG_VARIABLE: &str = "THRIFTSTORE_LOG";

/// Binds the ports for clients of a proxy.
pub(super) fn bound(addresses: &[String]) -> Result<Vec<Listener>> {
    let listeners = addresses.iter().map(|address| Listener::bind(address));
    listeners.collect::<std::result::Result<_, _>>().map_err(|error: ListenError| error.to_string())
}

/// Returns the filter of the log. Without the variable the log has only warnings of the driver of clusters; the gateway itself
/// logs errors of connecting.
fn log_filter() -> Targets {
    let given = std::env::var(LOG_VARIABLE).ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| {
        Targets::new()
            .with_default(LevelFilter::INFO)
            .with_target("scylla", LevelFilter::WARN)
            .with_target("scylla::cluster::metadata::cc_establisher", LevelFilter::OFF)
    })
}

/// Returns the log on standard error, with its filter.
pub(super) fn log<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(has_colours());
    // A failure to write a line would be printed there, too, by a macro that panics if that fails.
    log.log_internal_errors(false).with_filter(log_filter())
}

/// Starts the log.
pub(super) fn start_log() {
    // An embedding program may have set its own subscriber.
    let _ = tracing_subscriber::registry().with(log()).try_init();
}

/// Returns whether the lines of the log have colours: on a terminal, without `NO_COLOR` in the environment.
fn has_colours() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !no_color
}

/// Returns one thread per processor, at least two. More threads only wait for each other at the commit log, as measured
/// with 4 threads on two processors.
fn worker_threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).max(2)
}

/// Returns the runtime of a process that serves clients.
pub(super) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(worker_threads())
        .enable_all()
        .on_thread_start(request_short_slices)
        .build()
        .map_err(|error| format!("cannot start: {error}"))
}

/// Raises the limit of file descriptors, usually 1024: thousands of connections need as many.
pub(super) fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!("cannot raise the limit of open files: {error}");
    }
}

/// Reads the certificates again at each SIGHUP, if TLS is enabled.
pub(super) fn reload_at_hangup(encryption: Option<&Arc<Encryption>>) -> Result<()> {
    let Some(encryption) = encryption.cloned() else { return Ok(()) };
    let mut hangup = listen(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match encryption.reload() {
                Ok(()) => tracing::info!("certificates read again: new connections use them"),
                Err(error) => tracing::error!("the former certificates stay in use: {error}"),
            }
        }
    });
    Ok(())
}

/// Begins to listen for a signal.
pub(super) fn listen(kind: SignalKind) -> Result<Signal> {
    signal(kind).map_err(|error| format!("cannot listen for signals: {error}"))
}

/// The signals that end the process.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub(super) fn listen() -> Result<StopSignals> {
        Ok(StopSignals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    pub(super) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
