//! The numbers of one scrape.

use std::fs;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::request_totals::requests;
use crate::state::AdminState;
use base::util::meter::RequestMemory;
use base::util::metrics::{MethodTotals, RequestSlot};
use net::{Admission, ConnectedClient, ConnectionMetrics};
use store::StoreStatus;

/// The counts that the admin server reads from the ports of clients.
pub struct ServerReadings {
    /// The lock lets several threads read it.
    admission: Mutex<Admission>,
    request_memory: Arc<RequestMemory>,
    started_s: f64,
}

impl ServerReadings {
    /// Reads the connections and messages of `admission`, and the memory of requests.
    pub fn new(admission: Admission, request_memory: Arc<RequestMemory>) -> ServerReadings {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ServerReadings { admission: Mutex::new(admission), request_memory, started_s: now.as_secs_f64() }
    }

    /// Returns the memory that the requests of all ports share.
    pub fn request_memory(&self) -> Arc<RequestMemory> {
        self.request_memory.clone()
    }

    /// Returns the open connections of clients.
    pub fn clients(&self) -> Vec<ConnectedClient> {
        self.admission.lock().clients()
    }
}

/// The numbers of one scrape.
#[derive(Debug)]
pub struct Readings {
    /// The methods that had requests.
    pub requests: Vec<(RequestSlot, MethodTotals)>,
    /// The status of the store.
    pub store: StoreStatus,
    /// Indexes that are being built.
    pub index_builds: usize,
    /// Logins that succeeded, and those that failed.
    pub logins: (u64, u64),
    /// The counts of the connections of clients since the start.
    pub connections: Arc<ConnectionMetrics>,
    /// Connections of clients that are open.
    pub connections_open: usize,
    /// Memory of the messages and replies of all connections, in bytes.
    pub message_bytes: usize,
    /// Memory of running requests, in bytes.
    pub request_bytes: usize,
    /// When the server started, in seconds since 1970.
    pub started_s: f64,
    /// Memory of the process, in bytes. `None` on systems without /proc.
    pub resident_bytes: Option<u64>,
    /// Threads of the process. `None` on systems without /proc.
    pub threads: Option<u64>,
}

impl Readings {
    /// Reads all numbers.
    pub fn take(state: &AdminState) -> Readings {
        let (database, server) = (&state.database, &state.server);
        let metrics = database.metrics();
        let (connections, connections_open, message_bytes) = {
            let admission = server.admission.lock();
            (admission.metrics().clone(), admission.open_connections(), admission.message_bytes())
        };
        Readings {
            requests: requests(database),
            store: database.store().status(),
            index_builds: database.index_builds(),
            logins: (metrics.logins_ok.get(), metrics.logins_failed.get()),
            connections,
            connections_open,
            message_bytes,
            request_bytes: server.request_memory.held(),
            started_s: server.started_s,
            resident_bytes: process_number("VmRSS:").map(|kilobytes| kilobytes * 1024),
            threads: process_number("Threads:"),
        }
    }
}

/// Returns a number of this process as the operating system has it; sizes are in kilobytes.
fn process_number(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
