//! `thriftstore serve`: starts a server from a configuration, and shuts it down.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::admin::AdminArgs;
use super::archive::ArchiveArgs;
use super::control::ControlArgs;
use super::http_services::{HttpOptions, HttpServices};
use super::identity::IdentityArgs;
use super::limits::LimitArgs;
use super::login::LoginArgs;
use super::message::load_config;
use super::native::NativeArgs;
use super::otlp::OtlpArgs;
use super::ports::{Addresses, Ports, Services};
use super::process::{self, StopSignals};
use super::request_log::{self, RequestLogArgs};
use super::status::StatusArgs;
use super::store::{OpenStore, StoreArgs};
use super::tls::TlsArgs;
use super::{gateway, service_manager, stopping, version};
use crate::cli::Result;
use base::marshal::Types;
use base::util::limits::LOGGED_KEYSPACES_MAX;
use base::util::meter::RequestLimits;
use base::util::{Clock, Release, listed, process_memory};
use config::{Config, Note};
use console::metrics::ServerReadings;
use db::{Authenticator, Database, DatabaseParts};
use double::control::{ClientPorts, Sandboxes};
use net::{Admission, BusyPoll, Encryption, Shutdown};
use server::native::NativeService;
use server::thrift::{Compat, Service};
use tokio::signal::unix::SignalKind;

/// The time that the threads of the runtime may take to end when everything else has.
const RUNTIME_TIMEOUT: Duration = Duration::from_secs(1);

/// The error if the configuration enables TLS with a Java keystore, and no option gives a certificate.
const NO_KEYSTORE: &str = "client_encryption_options enables TLS with a Java keystore, which thriftstore does not read: \
     convert it to PEM files (docs/tls.md) and set --tls-certificate FILE and --tls-key FILE, or disable TLS \
     with --tls off";

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The configuration [default: ./storage-conf.xml]
    ///
    /// A storage-conf.xml or a cassandra.yaml. If there is no ./storage-conf.xml, a built-in sample has the schema of a
    /// blog.
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    config: Option<PathBuf>,
    #[command(flatten)]
    identity: IdentityArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    archive: ArchiveArgs,
    /// The address of Thrift [default: 127.0.0.1:9160]
    ///
    /// It overrides ThriftAddress and ThriftPort of the configuration. Port 0 picks a free one.
    #[arg(long, value_name = "HOST:PORT", help_heading = "Thrift clients")]
    thrift: Option<String>,
    /// The release to emulate [default: 0.6, 2.1]
    ///
    /// One of 0.4 to 2.2, 3.0 and 3.11: 0.4, 0.5 and 0.6 are for calls with a keyspace argument, the later ones for calls
    /// after set_keyspace. May be given once for each.
    #[arg(long, value_name = "VERSION", value_parser = Compat::release, help_heading = "Thrift clients")]
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
    request_log: RequestLogArgs,
    #[command(flatten)]
    otlp: OtlpArgs,
    #[command(flatten)]
    status: StatusArgs,
    #[command(flatten)]
    control: ControlArgs,
    #[command(flatten)]
    admin: AdminArgs,
    /// Close a connection whose client was silent for this time between two requests; clients that wait for events of
    /// the native protocol stay connected [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)), help_heading = "Limits", hide_short_help = true)]
    idle_timeout: Option<u64>,
    /// Let processors sleep between requests that arrive within 50 microseconds, instead of polling on two of them
    #[arg(long, help_heading = "Limits", hide_short_help = true)]
    no_busy_poll: bool,
}

/// Serves until SIGTERM or SIGINT.
pub(super) fn serve(args: &ServeArgs, types: &Types) -> Result<()> {
    let spans = args.otlp.start_log()?;
    let compat = Compat::of(&args.compat).map_err(|error| format!("--compat: {error}"))?;
    tracing::info!("thriftstore {}", version::WITH_COMMIT);
    let config = load_config(args.config.as_deref(), types)?;
    let config = args.identity.over(config)?;
    for Note { text, is_warning } in &config.notes {
        if *is_warning { tracing::warn!("{text}") } else { tracing::info!("{text}") }
    }
    let compat = compat.or_expecting(config.expected_generation);
    process::raise_descriptor_limit();
    let runtime = process::runtime()?;
    let outcome = runtime.block_on(serve_config(args, compat, config, types.clone()));
    spans.end();
    // A request that was cut off may still compute. Dropping the runtime would wait for it.
    runtime.shutdown_timeout(RUNTIME_TIMEOUT);
    outcome
}

async fn serve_config(args: &ServeArgs, compat: Compat, config: Config, types: Types) -> Result<()> {
    let place = args.store.place(&config)?;
    let archive = args.archive.checked(&place)?;
    let is_gateway = place.is_cluster();
    let described = place.to_string();
    let addresses = addresses(args, &config, is_gateway)?;
    addresses.check()?;
    let authenticator = args.login.authenticator(&config)?;
    let is_in_memory = place.is_in_memory();
    let http = HttpOptions::checked(&args.status, &args.control, &args.admin, is_in_memory, &authenticator)?;
    let encryption = encryption(args, &config)?;
    let cache_bytes = if is_gateway { 0 } else { args.store.cache_bytes() };
    let limits = args.limits.limits(&config, cache_bytes);
    let message_memory = process_memory::for_messages(usize::try_from(cache_bytes).unwrap_or(usize::MAX));
    tracing::info!(
        "memory for requests: {} MB, for messages and replies: {} MB",
        limits.memory.total() >> 20,
        message_memory >> 20
    );
    let mut stop = StopSignals::listen()?;
    let clock = Arc::new(args.control.clock());
    let opened = tokio::select! {
        opened = args.store.open(place, &config, clock.clone()) => opened?,
        () = stop.wait() => return Ok(()),
    };
    tracing::info!("data is stored {described}");
    let store = opened.store.clone();
    let archive = archive.start(opened.on_disk.as_deref())?;
    let database = database_of(args, config, opened, authenticator, clock, types)?;
    tokio::spawn(request_log::toggle_at(
        process::listen(SignalKind::user_defined1())?,
        database.request_log().clone(),
    ));
    tokio::select! {
        loaded = load_schema(&database, is_gateway) => loaded?,
        // An embedded store finishes loading before the server stops.
        () = stop.wait(), if is_gateway => return Ok(()),
    }
    args.control.load(&database).await?;
    log_schema(&database);
    let watching = database.stored_schema().watch();
    let ports = Ports::bind(&addresses)?;
    let shutdown = Shutdown::new();
    let signal = shutdown.signal().ok_or("the server is stopping")?;
    process::reload_at_hangup(encryption.as_ref())?;
    let busy_poll = if args.no_busy_poll { BusyPoll::off() } else { BusyPoll::start() };
    let admission =
        Admission::new(signal.clone()).with_encryption(encryption.clone()).with_busy_poll(busy_poll);
    let admission = admission.with_message_memory(message_memory);
    let admission = admission.with_idle_timeout(args.idle_timeout.map(Duration::from_secs));
    let reported = args.native.claim();
    let sandboxes = ClientPorts { hosts: ports.client_hosts(), compat, reported, limits: limits.clone() };
    let sandboxes = Sandboxes::new(sandboxes, admission.clone());
    let open = admission.watch();
    let readings = ServerReadings::new(admission.clone(), limits.memory.clone());
    let served = ports.described(compat, args.native.claim(), encryption.is_some());
    let http = http.services(&database, &described, sandboxes, served, readings, limits.clone()).await?;
    let admin_encryption = encryption.filter(|_| http.may_encrypt_admin);
    let services = services(args, compat, &database, http, &limits);
    ports.serve(services, admission, admin_encryption, signal);
    service_manager::report_ready();
    stop.wait().await;
    service_manager::report_stopping();
    tracing::info!("stopping");
    if let Some(watching) = watching {
        watching.abort();
    }
    archive.stop_after(stopping::stop(shutdown, &open, &database, &store)).await
}

/// Makes the database, without its stored schema.
fn database_of(
    args: &ServeArgs,
    config: Config,
    opened: OpenStore,
    authenticator: Authenticator,
    clock: Arc<Clock>,
    types: Types,
) -> Result<Arc<Database>> {
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
    let database = database.with_login_guard(args.login.guard()).with_request_log(args.request_log.switch()?);
    Ok(Arc::new(args.control.controlled(database)))
}

/// Returns the addresses of the ports.
fn addresses(args: &ServeArgs, config: &Config, is_gateway: bool) -> Result<Addresses> {
    Ok(Addresses {
        thrift: args
            .thrift
            .clone()
            .unwrap_or_else(|| format!("{}:{}", config.thrift_host(), config.thrift_port)),
        native: args.native.address(config, args.thrift.as_deref(), is_gateway)?,
        must_be_native: args.native.is_asked_for(config),
        status: args.status.status.clone(),
        control: args.control.control.clone(),
        admin: args.admin.address().map(str::to_owned),
    })
}

async fn load_schema(database: &Arc<Database>, is_gateway: bool) -> Result<()> {
    let loaded =
        if is_gateway { gateway::load_schema(database).await } else { database.stored_schema().load().await };
    loaded.map_err(|error| format!("cannot read the schema that clients created: {error}"))
}

/// Logs the keyspaces, and data without a definition. Needs the whole schema: of the configuration and of clients.
fn log_schema(database: &Database) {
    let catalog = database.catalog();
    let names: Vec<&str> = catalog.keyspaces.keys().map(String::as_str).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    tracing::info!("{} keyspace{plural}: {}", names.len(), listed(&names, LOGGED_KEYSPACES_MAX));
    let undefined = database.store().status().undefined;
    if !undefined.is_empty() {
        tracing::warn!(
            "there is data of column families that neither the configuration nor a client has defined: {}",
            undefined.join(", ")
        );
    }
}

/// Makes the services of the ports.
fn services(
    args: &ServeArgs,
    compat: Compat,
    database: &Arc<Database>,
    http: HttpServices,
    limits: &RequestLimits,
) -> Services {
    let thrift = Service::new(database.clone(), compat).with_limits(limits.clone());
    let native = NativeService::new(database.clone(), thrift.statements.clone(), args.native.claim());
    Services { thrift, native: native.with_limits(limits.clone()), http }
}

/// Opens TLS if it is enabled.
fn encryption(args: &ServeArgs, config: &Config) -> Result<Option<Arc<Encryption>>> {
    let Some(options) = args.tls.over(config.client_encryption.clone())? else {
        return if config.needs_tls && !args.tls.is_off() { Err(NO_KEYSTORE.to_owned()) } else { Ok(None) };
    };
    let encryption = Encryption::open(options).map_err(|error| error.to_string())?;
    Ok(Some(Arc::new(encryption)))
}
