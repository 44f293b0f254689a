//! `move start`: the proxy.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::super::process::{self, StopSignals};
use super::super::queue::{self, QueueLimitArgs};
use super::super::tls::TlsArgs;
use super::control;
use super::plan::MovePlan;
use crate::cli::Result;
use base::marshal::Types;
use base::util::limits::RECORDER_CONNECTIONS_MAX;
use base::util::output::print_line;
use base::util::{password_of, sync_name};
use net::{Admission, ConnectionLimits, Connector, Listener, Shutdown, Upstream};
use traffic::handover::{Handover, HandoverPort, HandoverSide};
use traffic::queue::{AgainReason, Capture, QueueLogin, SenderOptions, WriteQueue};
use traffic::record::now_us;
use traffic::replay::CandidateServer;
use transfer::copy::{Selection, create_missing};
use transfer::endpoint::ThriftAddress;

/// The time that connections may take to end at shutdown: they are closed, not finished.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(super) struct StartArgs {
    /// The directory of the move
    directory: PathBuf,
    /// The address for clients of Thrift; port 0 picks a free one
    #[arg(long, value_name = "HOST:PORT")]
    listen: String,
    /// The address for clients of the native protocol, if the plan has the addresses of both servers
    #[arg(long, value_name = "HOST:PORT")]
    listen_cql: Option<String>,
    /// The time that the server which gets the writes may take for an answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    timeout_ms: u64,
    #[command(flatten)]
    limits: QueueLimitArgs,
    #[command(flatten)]
    tls: TlsArgs,
}

pub(super) fn start(args: &StartArgs, types: &Types) -> Result<()> {
    process::start_log();
    process::raise_descriptor_limit();
    process::runtime()?.block_on(serve(args, types))
}

async fn serve(args: &StartArgs, types: &Types) -> Result<()> {
    let plan = MovePlan::read(&args.directory)?;
    if control::is_finished(&args.directory) {
        return Err("the move is finished: clients connect to the new server itself".to_owned());
    }
    let [from, to] = plan.addresses()?;
    let native = native_addresses(args, &plan)?;
    let handover = Arc::new(open(args)?);
    let encryption = args.tls.open()?;
    let mut stop = StopSignals::listen()?;
    let bind = |address: &str| Listener::bind(address).map_err(|error| error.to_string());
    let thrift_listener = bind(&args.listen)?;
    let native_listener = args.listen_cql.as_deref().map(bind).transpose()?;
    create_schema(&plan, types, &args.directory).await?;
    send(args, &handover.to_new, &to, plan.to_cql.clone())?;
    send(args, &handover.to_old, &from, plan.from_cql.clone())?;
    let shutdown = Shutdown::new();
    let limits = ConnectionLimits {
        connections_max: RECORDER_CONNECTIONS_MAX,
        unproven_max: RECORDER_CONNECTIONS_MAX,
        ..ConnectionLimits::default()
    };
    let admission = Admission::limited(shutdown.signal().ok_or("the proxy is stopping")?, limits)
        .with_encryption(encryption.clone());
    process::reload_at_hangup(encryption.as_ref())?;
    let captures = [Capture::new(handover.to_new.clone()), Capture::new(handover.to_old.clone())];
    let encrypted = [connector(&from)?, connector(&to)?];
    let sides = |old: &str, new: &str| -> Result<[HandoverSide; 2]> {
        let side = |address: &str, number: usize| {
            let upstream = Upstream::new(address, encrypted[number].clone());
            let upstream = upstream.map_err(|error| error.to_string())?;
            Ok::<_, String>(HandoverSide { upstream, capture: captures[number].clone() })
        };
        Ok([side(old, 0)?, side(new, 1)?])
    };
    let [old, new] = sides(&from.address, &to.address)?;
    let port = HandoverPort::new(handover.gate.clone(), old, new);
    let running = RunningMark::set(&args.directory, &handover)?;
    let control = tokio::spawn(control::serve(args.directory.clone(), handover.clone()));
    print_line!("listening for Thrift clients on {}", thrift_listener.address);
    if let (Some(listener), Some([from, to])) = (native_listener, native) {
        let [old, new] = sides(&from, &to)?;
        print_line!("listening for CQL clients on {}", listener.address);
        listener.start(port.with_sides(old, new), admission.clone());
    }
    thrift_listener.start(port, admission);
    stop.wait().await;
    control.abort();
    tracing::info!("stopping");
    let have_ended = shutdown.end(SHUTDOWN_TIMEOUT).await;
    let flushed = [&handover.to_new, &handover.to_old].map(|queue| queue.flush());
    flushed.into_iter().collect::<Result<(), _>>().map_err(|error| error.to_string())?;
    // A connection that goes on may still have a write without a reply.
    if have_ended { running.remove() } else { Ok(()) }
}

/// A file that exists as long as the proxy runs. A proxy that is killed leaves it.
struct RunningMark {
    path: PathBuf,
}

impl RunningMark {
    /// Creates the file. If it is there, the last writes before the kill may have reached the server that answers, without a
    /// reply that would have put them into the queue: all tables must be compared.
    fn set(directory: &Path, handover: &Handover) -> Result<RunningMark> {
        let path = directory.join("running");
        if path.exists() {
            let listed = handover.queue().add_again("", AgainReason::Killed, "", now_us());
            listed.map_err(|error| error.to_string())?;
        }
        let created = std::fs::write(&path, "").and_then(|()| sync_name(&path));
        created.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(RunningMark { path })
    }

    fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path)
            .map_err(|error| format!("cannot remove {}: {error}", self.path.display()))
    }
}

fn native_addresses(args: &StartArgs, plan: &MovePlan) -> Result<Option<[String; 2]>> {
    match (&args.listen_cql, &plan.from_cql, &plan.to_cql) {
        (None, _, _) => Ok(None),
        (Some(_), Some(from), Some(to)) => Ok(Some([from.clone(), to.clone()])),
        (Some(_), _, _) => Err("--listen-cql needs a plan with --from-cql and --to-cql".to_owned()),
    }
}

/// Opens the queues and the state of a directory.
fn open(args: &StartArgs) -> Result<Handover> {
    let queue = |name| args.limits.open(&args.directory.join(name));
    let state = args.directory.join("state.json");
    let (to_new, to_old) = (queue("queue-to-new")?, queue("queue-to-old")?);
    Handover::open(&state, to_new, to_old)
        .map_err(|error| format!("cannot read {}: {error}", state.display()))
}

/// Creates the schema at the new server, once.
async fn create_schema(plan: &MovePlan, types: &Types, directory: &Path) -> Result<()> {
    let done = directory.join("schema-created");
    if done.exists() {
        return Ok(());
    }
    let servers = plan.open(types).await?;
    let created = create_missing(&servers.from, &servers.to, &Selection::default()).await;
    created.map_err(|error| error.to_string())?;
    std::fs::write(&done, "").map_err(|error| format!("cannot write {}: {error}", done.display()))
}

/// Returns how to encrypt connections to a server, of both protocols.
fn connector(server: &ThriftAddress) -> Result<Option<Connector>> {
    server.tls.as_ref().map(Connector::open).transpose().map_err(|error| error.to_string())
}

/// Starts to send a queue to a server.
fn send(
    args: &StartArgs,
    writes: &Arc<WriteQueue>,
    to: &ThriftAddress,
    native: Option<String>,
) -> Result<()> {
    let server = CandidateServer { thrift: to.address.clone(), native };
    let login = match &to.login {
        Some((user, file)) => {
            let password = password_of("the password", file)?;
            Some(QueueLogin { user: user.clone(), password })
        }
        None => None,
    };
    let (timeout, consistency) = (Duration::from_millis(args.timeout_ms), args.limits.consistency());
    let tls = connector(to)?;
    queue::send(writes.clone(), SenderOptions { server, tls, timeout, consistency, login });
    Ok(())
}
