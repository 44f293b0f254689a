//! `thriftstore serve`: from a configuration to a running server, and to its end.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::gateway;
use super::limits::LimitArgs;
use super::login::LoginArgs;
use super::native::NativeArgs;
use super::ports::{Addresses, Ports, Services};
use super::status::StatusArgs;
use super::store::{Place, StoreArgs};
use super::tls::TlsArgs;
use crate::compat::features::Family;
use crate::config::{self, Config};
use crate::db::{Database, DatabaseParts};
use crate::marshal::Types;
use crate::native::NativeService;
use crate::server::{Admission, BusyPoll, Encryption, Shutdown, StatusService, ask_for_short_turns};
use crate::thrift::{Compat, Service};
use crate::util::limits::LOGGED_KEYSPACES_MAX;
use crate::util::meter::RequestLimits;
use crate::util::{Clock, Release, process_memory};

/// What is logged unless THRIFTSTORE_LOG says otherwise. Of the driver to a cluster only what an operator can act on; why it
/// cannot connect is said by ourselves.
const LOG: &str = "info,scylla=warn,scylla::cluster::metadata::cc_establisher=off";
/// How long connections may take to finish what they are answering when the server ends.
const PATIENCE: Duration = Duration::from_secs(8);

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The configuration [default: ./storage-conf.xml, else a built-in one with the blog schema]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// Where Thrift clients are served, instead of the configuration's ThriftAddress and ThriftPort; port 0 picks
    /// a free one
    #[arg(long, value_name = "HOST:PORT")]
    thrift: Option<String>,
    /// Whose behaviour applies where a call does not tell: 0.4, 0.5, 0.6 for calls that carry a keyspace, 0.7 to
    /// 2.1 for calls after set_keyspace; may be given once for each [default: 0.6 and 2.1]
    #[arg(long, value_name = "VERSION", value_parser = compat_level)]
    compat: Vec<Release>,
    #[command(flatten)]
    login: LoginArgs,
    #[command(flatten)]
    native: NativeArgs,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    status: StatusArgs,
    /// Close a connection whose client has been silent for so long between two requests; clients that wait for events
    /// of the native protocol are not closed [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    idle_timeout: Option<u64>,
    /// Let processors sleep between requests that follow each other within 50 microseconds, instead of keeping two awake
    /// for the next
    #[arg(long)]
    no_busy_poll: bool,
}

/// Reads a level of `--compat`. 0.3 is none: there is no other release with its calls.
fn compat_level(text: &str) -> Result<Release, String> {
    match text.parse()? {
        release if Family::of_release(release) == Family::WithTextPaths => {
            Err("the calls of 0.3 always get the behaviour of 0.3; a level is 0.4 or later".to_owned())
        }
        release => Ok(release),
    }
}

/// Serves until SIGTERM or SIGINT.
pub fn serve(args: &ServeArgs, types: &Types) -> Result<(), String> {
    start_log();
    let compat = compat(&args.compat)?;
    tracing::info!("thriftstore {}", env!("CARGO_PKG_VERSION"));
    let config =
        config::load_or_default(args.config.as_deref(), types).map_err(|errors| errors.to_string())?;
    for note in &config.notes {
        tracing::info!("{note}");
    }
    raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(worker_threads())
        .enable_all()
        .on_thread_start(ask_for_short_turns)
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(serve_config(args, compat, config, types.clone()))
}

fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("THRIFTSTORE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(LOG));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second subscriber is an embedding program's own.
    let _ = log.with_ansi(std::io::stderr().is_terminal()).try_init();
}

/// One thread a processor, and two at least: more only wait for each other at the engine's log, measured at 4
/// on two processors.
fn worker_threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).max(2)
}

/// Thousands of connections need as many descriptors; the usual limit is 1024.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!("cannot raise the limit of open files: {error}");
    }
}

async fn serve_config(args: &ServeArgs, compat: Compat, config: Config, types: Types) -> Result<(), String> {
    let place = args.store.place(&config)?;
    let is_gateway = matches!(place, Place::Cluster(_));
    let described = place.to_string();
    let addresses = addresses(args, &config, is_gateway)?;
    let authenticator = args.login.authenticator(&config)?;
    let status_token = args.status.token()?;
    let encryption = encryption(args, &config)?;
    let cache_bytes = if is_gateway { 0 } else { args.store.cache_bytes() };
    let limits = args.limits.limits(&config, cache_bytes);
    let message_memory = process_memory::for_messages(usize::try_from(cache_bytes).unwrap_or(usize::MAX));
    tracing::info!(
        "requests may hold {} MB, messages and replies on their way {} MB",
        limits.memory.total() >> 20,
        message_memory >> 20
    );
    let mut stop = StopSignals::listen()?;
    let clock = Arc::new(Clock::system());
    let opened = tokio::select! {
        opened = args.store.open(place, &config, clock.clone()) => opened?,
        () = stop.wait() => return Ok(()),
    };
    tracing::info!("data are {described}");
    let store = opened.store.clone();
    let database = Database::new(DatabaseParts {
        catalog: Arc::new(config.catalog),
        store: opened.store,
        partitioner: opened.partitioner,
        authenticator,
        clock,
        types,
        cluster_name: config.cluster_name,
        config_text: config.text,
        token: opened.token,
        endpoint: config.listen_address,
    });
    let database = Arc::new(database.with_login_guard(args.login.guard()));
    tokio::select! {
        loaded = load_schema(&database, is_gateway) => loaded?,
        // A store of our own is not left in the middle of it.
        () = stop.wait(), if is_gateway => return Ok(()),
    }
    log_schema(&database);
    let watching = database.stored_schema().watch();

    let ports = Ports::bind(&addresses)?;
    let shutdown = Shutdown::new();
    if let Some(encryption) = &encryption {
        tokio::spawn(reload_at_hangup(hangup()?, encryption.clone()));
    }
    let busy_poll = if args.no_busy_poll { BusyPoll::off() } else { BusyPoll::start() };
    let admission = |signal| {
        let admission = Admission::new(signal).with_encryption(encryption).with_busy_poll(busy_poll);
        let admission = admission.with_message_memory(message_memory);
        admission.with_idle_timeout(args.idle_timeout.map(Duration::from_secs))
    };
    let status = StatusService::new(database.clone(), &described).with_token(status_token);
    ports.serve(services(args, compat, &database, (status, &limits)), admission, &shutdown);
    stop.wait().await;
    tracing::info!("stopping");
    if !shutdown.end(PATIENCE).await {
        tracing::warn!("some connections did not finish in time");
    }
    if let Some(watching) = watching {
        watching.abort();
    }
    store.close().await.map_err(|error| format!("the store did not close cleanly: {error}"))
}

/// Where clients come to.
fn addresses(args: &ServeArgs, config: &Config, is_gateway: bool) -> Result<Addresses, String> {
    Ok(Addresses {
        thrift: args.thrift.clone().unwrap_or_else(|| configured_address(config)),
        native: args.native.address(config, args.thrift.as_deref(), is_gateway)?,
        must_be_native: args.native.is_asked_for(config),
        status: args.status.address.clone(),
    })
}

async fn load_schema(database: &Arc<Database>, is_gateway: bool) -> Result<(), String> {
    let loaded =
        if is_gateway { gateway::load_schema(database).await } else { database.stored_schema().load().await };
    loaded.map_err(|error| format!("cannot read the schema that clients made: {error}"))
}

/// Logs which keyspaces are served, and which data are not. Only the whole schema tells: that of the configuration and that
/// which clients made.
fn log_schema(database: &Database) {
    let catalog = database.catalog();
    let names: Vec<&str> = catalog.keyspaces.keys().map(String::as_str).collect();
    let (shown, others) = names.split_at(names.len().min(LOGGED_KEYSPACES_MAX));
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    tracing::info!("{} keyspaces: {}{more}", names.len(), shown.join(", "));
    let undefined = database.store().status().undefined;
    if !undefined.is_empty() {
        tracing::warn!(
            "data exist of column families that neither the configuration nor a client has defined: {}",
            undefined.join(", ")
        );
    }
}

/// The behaviour that `--compat` asks for. Each generation of calls has one.
fn compat(releases: &[Release]) -> Result<Compat, String> {
    let is_old = |release: &Release| Family::of_release(*release) != Family::AfterSetKeyspace;
    for (which, calls) in [(true, "calls that carry a keyspace"), (false, "calls after set_keyspace")] {
        let mut of_generation = releases.iter().filter(|release| is_old(release) == which);
        if let (Some(first), Some(second)) = (of_generation.next(), of_generation.next()) {
            return Err(format!(
                "--compat {first} and --compat {second} are both for {calls}, which have one behaviour: leave one away"
            ));
        }
    }
    let mut compat = Compat::default();
    releases.iter().for_each(|release| compat.set(*release));
    Ok(compat)
}

/// Who answers clients.
fn services(
    args: &ServeArgs,
    compat: Compat,
    database: &Arc<Database>,
    (status, limits): (StatusService, &RequestLimits),
) -> Services {
    let thrift = Service::new(database.clone(), compat).with_limits(limits.clone());
    let native = NativeService::new(database.clone(), thrift.statements.clone(), args.native.claim());
    Services { thrift, native: native.with_limits(limits.clone()), status }
}

/// TLS, if there shall be any.
fn encryption(args: &ServeArgs, config: &Config) -> Result<Option<Arc<Encryption>>, String> {
    let Some(options) = args.tls.over(config.client_encryption.clone())? else { return Ok(None) };
    let encryption = Encryption::open(options).map_err(|error| error.to_string())?;
    Ok(Some(Arc::new(encryption)))
}

/// Takes new certificates whenever an operator says that there are some.
async fn reload_at_hangup(mut hangup: Signal, encryption: Arc<Encryption>) {
    while hangup.recv().await.is_some() {
        match encryption.reload() {
            Ok(()) => tracing::info!("certificates read again: new connections use them"),
            Err(error) => tracing::error!("the former certificates stay: {error}"),
        }
    }
}

fn hangup() -> Result<Signal, String> {
    signal(SignalKind::hangup()).map_err(|error| format!("cannot listen for signals: {error}"))
}

fn configured_address(config: &Config) -> String {
    format!("{}:{}", config.thrift_host(), config.thrift_port)
}

/// The signals that end the server.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn listen() -> Result<StopSignals, String> {
        let listen = |kind| signal(kind).map_err(|error| format!("cannot listen for signals: {error}"));
        Ok(StopSignals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_has_one_level() {
        let both = compat(&[Release::V0_5, Release::V1_2]).unwrap();
        assert_eq!((both.with_keyspace, both.after_set_keyspace), (Release::V0_5, Release::V1_2));
        for two in
            [[Release::V0_4, Release::V0_5], [Release::V2_1, Release::V0_7], [Release::V0_6, Release::V0_6]]
        {
            let error = compat(&two).unwrap_err();
            let [first, second] = two;
            assert!(
                error.starts_with(&format!("--compat {first} and --compat {second} are both for")),
                "{error}"
            );
        }
    }
}
