//! `thriftstore record`: a proxy that records the traffic.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::process::{self, StopSignals};
use super::redaction::RedactionArgs;
use super::tls::TlsArgs;
use crate::cli::Result;
use base::util::limits::RECORDER_CONNECTIONS_MAX;
use net::{Admission, ConnectionLimits, Connector, ServerTrust, Shutdown, Upstream};
use traffic::Header;
use traffic::file::{PartWriter, RotationLimits};
use traffic::limits::RECORDER_QUEUE_BYTES_MAX;
use traffic::record::{Proxy, Recorder, RecorderSummary, TapQueue, Upstreams, now_us};
use traffic::redact::Redactor;

/// The time that connections may take to end at shutdown: they are closed, not finished.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

const MIB: u64 = 1024 * 1024;

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// The address for clients; port 0 picks a free one. Thrift and the native protocol are told apart by their first
    /// bytes. May be given several times, with as many --upstream in the same order
    #[arg(long, value_name = "HOST:PORT", required = true)]
    listen: Vec<String>,
    /// The server that answers
    #[arg(long, value_name = "HOST:PORT", required = true)]
    upstream: Vec<String>,
    /// Pass the Thrift calls of this keyspace to another server. Calls of the other keyspaces and of none, and all of the
    /// native protocol, go to --upstream. May be given several times
    #[arg(long, value_name = "KEYSPACE=HOST:PORT")]
    upstream_of: Vec<UpstreamOf>,
    /// The file of the recording, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Continue in another file, FILE.2, FILE.3 and so on, once a file has this size
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    rotate_mb: Option<u64>,
    /// Continue in another file once a file covers this time
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=60 * 24 * 366))]
    rotate_minutes: Option<u32>,
    #[command(flatten)]
    redaction: RedactionArgs,
    #[command(flatten)]
    tls: TlsArgs,
    /// Connect to the upstreams with TLS. They are trusted if their certificate is in this file of PEM certificates, or if
    /// an authority in it has signed their certificate and their name
    #[arg(long, value_name = "FILE")]
    upstream_tls_ca: Option<PathBuf>,
    /// The recorder's own certificate, for upstreams that require one
    #[arg(long, value_name = "FILE", requires_all = ["upstream_tls_ca", "upstream_tls_key"])]
    upstream_tls_certificate: Option<PathBuf>,
    /// The key of the recorder's own certificate
    #[arg(long, value_name = "FILE", requires = "upstream_tls_certificate")]
    upstream_tls_key: Option<PathBuf>,
}

/// The server of a keyspace.
#[derive(Debug, Clone)]
struct UpstreamOf {
    keyspace: String,
    /// `HOST:PORT`.
    address: String,
}

impl FromStr for UpstreamOf {
    type Err = String;

    fn from_str(text: &str) -> Result<UpstreamOf> {
        match text.split_once('=') {
            Some((keyspace, address)) if !keyspace.is_empty() => {
                Ok(UpstreamOf { keyspace: keyspace.to_owned(), address: address.to_owned() })
            }
            _ => Err("it must be KEYSPACE=HOST:PORT, such as Blog=old:9160".to_owned()),
        }
    }
}

impl fmt::Display for UpstreamOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.keyspace, self.address)
    }
}

/// Records until SIGTERM or SIGINT.
pub(super) fn record(args: &RecordArgs) -> Result<()> {
    process::start_log();
    process::raise_descriptor_limit();
    process::runtime()?.block_on(serve(args))
}

async fn serve(args: &RecordArgs) -> Result<()> {
    if args.listen.len() != args.upstream.len() {
        return Err(format!(
            "{} --listen and {} --upstream were given: give one --upstream for each --listen",
            args.listen.len(),
            args.upstream.len()
        ));
    }
    let upstreams = upstreams(args)?;
    let encryption = args.tls.open()?;
    let mut stop = StopSignals::listen()?;
    let listeners = process::bound(&args.listen)?;
    let rotation = RotationLimits {
        bytes: args.rotate_mb.map(|megabytes| megabytes * MIB),
        age_us: args.rotate_minutes.map(|minutes| i64::from(minutes) * 60_000_000),
    };
    let named = args.upstream_of.iter().map(UpstreamOf::to_string);
    let mut header = Header::new(now_us(), args.upstream.iter().cloned().chain(named).collect());
    let redactor = args.redaction.hashes()?.map(Redactor::new);
    if let Some(redactor) = &redactor {
        redactor.describe(&mut header);
    }
    let writer = PartWriter::create(&args.to, header, rotation).map_err(|error| error.to_string())?;
    let queue = TapQueue::new(RECORDER_QUEUE_BYTES_MAX);
    let recorder =
        Recorder::start(&queue, writer, redactor).map_err(|error| format!("cannot start: {error}"))?;
    let shutdown = Shutdown::new();
    let signal = shutdown.signal().ok_or("the recorder is stopping")?;
    process::reload_at_hangup(encryption.as_ref())?;
    let limits = ConnectionLimits {
        connections_max: RECORDER_CONNECTIONS_MAX,
        unproven_max: RECORDER_CONNECTIONS_MAX,
        ..ConnectionLimits::default()
    };
    let admission = Admission::limited(signal, limits).with_encryption(encryption);
    let proxy = Proxy::new(queue);
    for (listener, upstream) in listeners.into_iter().zip(upstreams) {
        say(&format!(
            "listening for recorded clients on {}, answered by {}",
            listener.address, upstream.usual.address
        ));
        listener.start(proxy.to(upstream), admission.clone());
    }
    drop((proxy, admission));
    stop.wait().await;
    tracing::info!("stopping");
    shutdown.end(SHUTDOWN_TIMEOUT).await;
    let finished = tokio::task::spawn_blocking(|| recorder.finish()).await;
    report(args, &finished.map_err(|error| format!("the recorder failed: {error}"))?)
}

/// Returns the servers of each listener.
fn upstreams(args: &RecordArgs) -> Result<Vec<Upstreams>> {
    let own = args.upstream_tls_certificate.clone().zip(args.upstream_tls_key.clone());
    let trust = args.upstream_tls_ca.clone().map(|authorities| ServerTrust { authorities, own });
    let tls = trust.as_ref().map(Connector::open).transpose().map_err(|error| error.to_string())?;
    let upstream = |address: &str| Upstream::new(address, tls.clone()).map_err(|error| error.to_string());
    let mut by_keyspace = HashMap::new();
    for named in &args.upstream_of {
        if by_keyspace.insert(named.keyspace.clone(), upstream(&named.address)?).is_some() {
            return Err(format!("--upstream-of was given twice for the keyspace {}", named.keyspace));
        }
    }
    let by_keyspace = Arc::new(by_keyspace);
    let servers =
        |address: &String| Ok(Upstreams { usual: upstream(address)?, by_keyspace: by_keyspace.clone() });
    args.upstream.iter().map(servers).collect()
}

/// Prints the counts of the recording.
fn report(args: &RecordArgs, summary: &RecorderSummary) -> Result<()> {
    let RecorderSummary { connections, calls, bytes, parts, .. } = summary;
    let files = if *parts > 1 { format!("{parts} files, the first is ") } else { String::new() };
    let file = args.to.display();
    say(&format!("recorded {calls} calls of {connections} connections in {files}{file} ({bytes} bytes)"));
    if let Some(losses) = summary.losses_text() {
        say(&format!("not recorded: {losses}"));
    }
    match &summary.stopped {
        None => Ok(()),
        Some(why) => Err(format!("recording stopped before the end: {why}")),
    }
}

/// Prints a line. Standard output may be closed, which must not end the recorder.
fn say(line: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        tracing::warn!("cannot print {line:?}: {error}");
    }
}
