//! Sandboxes: further databases in the same process, one for each test that runs at the same time.
//!
//! A sandbox has ports, a clock, faults, requests and snapshots of its own. It begins with the rows, the schema and the
//! users of the server's start, or of a snapshot, and shares their memory. Threads, places for connections and the
//! memory for messages belong to the server.
//!
//! ```text
//!   PUT /sandboxes/cart            opens it, and replies with the addresses of its ports
//!   POST /sandboxes/cart/reset     what POST /reset does, in the sandbox
//!   DELETE /sandboxes/cart         closes its connections, and frees it
//! ```

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::client_ports::{ClientAddresses, ClientPorts};
use super::error::{ControlError, ErrorKind};
use super::operations::{Control, check_name};
use crate::control::Result;
use crate::limits::SANDBOXES_MAX;
use base::compat::features::ReportedVersion;
use base::util::Release;
use db::Database;
use net::{Admission, Shutdown};
use server::thrift::Compat;

/// The path of all sandboxes.
const PATH: &str = "/sandboxes/";
/// The time that a deleted sandbox waits for its running requests.
const CLOSING_PATIENCE: Duration = Duration::from_secs(2);

/// The sandboxes of a server, and how they are served.
pub struct Sandboxes {
    ports: ClientPorts,
    /// The limits that their connections share with the server's. The lock lets several threads copy it.
    admission: Mutex<Admission>,
    /// Is `None` while a sandbox is being opened.
    open: Mutex<BTreeMap<String, Option<Sandbox>>>,
}

struct Sandbox {
    control: Arc<Control>,
    addresses: ClientAddresses,
    shutdown: Shutdown,
}

/// The request of `PUT /sandboxes/NAME`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxRequest {
    /// The snapshot of the server that it begins with. Without it, that is the state at the server's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The releases whose behaviour Thrift calls have, as the option --compat sets them: `["0.6", "1.2"]`. Without it,
    /// the server's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compat: Vec<String>,
    /// The version that the native protocol reports, as the option --claim sets it. Without it, the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

/// A sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxReply {
    /// The name of the sandbox.
    pub name: String,
    /// The address of Thrift, `HOST:PORT`.
    #[schemars(with = "String")]
    pub thrift: SocketAddr,
    /// The address of the native protocol, `HOST:PORT`.
    #[schemars(with = "String")]
    pub native: SocketAddr,
}

impl SandboxReply {
    fn new(name: &str, addresses: ClientAddresses) -> SandboxReply {
        SandboxReply { name: name.to_owned(), thrift: addresses.thrift, native: addresses.native }
    }
}

impl SandboxRequest {
    /// Returns the settings of the server's ports, changed as the request specifies.
    fn changed(&self, ports: &ClientPorts) -> Result<ClientPorts> {
        let mut ports = ports.clone();
        if !self.compat.is_empty() {
            let releases: Result<Vec<Release>, String> =
                self.compat.iter().map(|text| Compat::release(text)).collect();
            let compat = releases.and_then(|releases| Compat::of(&releases));
            ports.compat = compat.map_err(|error| ControlError::invalid(format!("compat: {error}")))?;
        }
        if let Some(claim) = &self.claim {
            let reported = ReportedVersion::new(claim);
            ports.reported = reported.map_err(|error| ControlError::invalid(format!("claim: {error}")))?;
        }
        Ok(ports)
    }
}

impl Sandboxes {
    /// Opens sandboxes with these settings of ports. Their connections share the limits of `admission`.
    pub fn new(ports: ClientPorts, admission: Admission) -> Sandboxes {
        Sandboxes { ports, admission: Mutex::new(admission), open: Mutex::default() }
    }

    /// Reserves a name, so that it is opened only once.
    fn reserve(&self, name: &str) -> Result<Reserved<'_>> {
        check_name("sandbox", name)?;
        let mut open = self.open.lock();
        if open.contains_key(name) {
            return Err(ControlError::new(
                ErrorKind::Limit,
                format!("there is already a sandbox {name}: use another name, or DELETE {PATH}{name} first"),
            ));
        }
        if open.len() >= SANDBOXES_MAX {
            let why =
                format!("there are {SANDBOXES_MAX} sandboxes, the limit: delete one with DELETE {PATH}NAME");
            return Err(ControlError::new(ErrorKind::Limit, why));
        }
        open.insert(name.to_owned(), None);
        Ok(Reserved { sandboxes: self, name: Some(name.to_owned()) })
    }

    /// Serves a database as a sandbox.
    async fn serve(&self, database: Arc<Database>, ports: &ClientPorts) -> Result<Sandbox> {
        let shutdown = Shutdown::new();
        let signal = shutdown.signal();
        let signal = signal.ok_or_else(|| ControlError::new(ErrorKind::Busy, "the server is stopping"))?;
        let admission = self.admission.lock().with_shutdown(signal);
        let control = Arc::new(Control::new(database, Default::default()).await?);
        let served = ports.serve(control.database(), admission);
        let addresses = served.map_err(|error| ControlError::new(ErrorKind::Busy, error.to_string()))?;
        Ok(Sandbox { control, addresses, shutdown })
    }
}

/// The name of a sandbox that is being opened. Dropping it makes the name free again, unless `fill` has taken it.
struct Reserved<'a> {
    sandboxes: &'a Sandboxes,
    name: Option<String>,
}

impl Reserved<'_> {
    fn fill(mut self, sandbox: Sandbox) {
        if let Some(name) = self.name.take() {
            self.sandboxes.open.lock().insert(name, Some(sandbox));
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.sandboxes.open.lock().remove(name);
        }
    }
}

impl Control {
    /// Opens a sandbox with the state of a snapshot, or of the start.
    pub async fn open_sandbox(&self, name: &str, request: &SandboxRequest) -> Result<SandboxReply> {
        let sandboxes = self.sandboxes()?;
        let ports = request.changed(&sandboxes.ports)?;
        let reserved = sandboxes.reserve(name)?;
        let database = self.further_database(request.from.as_deref()).await?;
        let sandbox = sandboxes.serve(database, &ports).await?;
        let reply = SandboxReply::new(name, sandbox.addresses);
        reserved.fill(sandbox);
        tracing::debug!("sandbox {name}: Thrift on {}, CQL on {}", reply.thrift, reply.native);
        Ok(reply)
    }

    /// Returns all sandboxes in the order of their names.
    pub fn list_sandboxes(&self) -> Result<Vec<SandboxReply>> {
        let open = self.sandboxes()?.open.lock();
        let replies = open.iter().filter_map(|(name, sandbox)| {
            sandbox.as_ref().map(|sandbox| SandboxReply::new(name, sandbox.addresses))
        });
        Ok(replies.collect())
    }

    /// Closes the connections of a sandbox, and frees it.
    pub async fn delete_sandbox(&self, name: &str) -> Result<()> {
        let Sandbox { control, shutdown, .. } = {
            let mut open = self.sandboxes()?.open.lock();
            match open.get_mut(name).map(Option::take) {
                Some(Some(sandbox)) => {
                    open.remove(name);
                    sandbox
                }
                _ => return Err(unknown(name)),
            }
        };
        // Ends running delays.
        control.faults()?.clear();
        shutdown.end(CLOSING_PATIENCE).await;
        // Waits for a thread of the store.
        tokio::task::spawn_blocking(move || drop(control));
        Ok(())
    }

    /// Returns the control of a sandbox.
    pub fn of_sandbox(&self, name: &str) -> Result<Arc<Control>> {
        let open = self.sandboxes()?.open.lock();
        let sandbox = open.get(name).and_then(Option::as_ref);
        sandbox.map(|sandbox| sandbox.control.clone()).ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> ControlError {
    let why = format!("there is no sandbox {name:?}: GET /sandboxes lists them, PUT {PATH}NAME opens one");
    ControlError::new(ErrorKind::NotFound, why)
}
