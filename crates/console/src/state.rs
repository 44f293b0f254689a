//! The state on which the pages of the admin server work.

use std::sync::Arc;

use parking_lot::Mutex;

use super::access::AdminAccess;
use super::console_requests::{ConsoleRequests, ConsoleSettings};
use super::csrf::CsrfKey;
use super::host::HostNames;
use super::metrics::ServerReadings;
use super::model::SketchRuns;
use super::pages::verification::Verification;
use super::served::Served;
use super::session::Sessions;
use super::status_page::StatusPage;
use base::util::meter::{RequestLimits, TimeLimits};
use db::Database;
use double::control::Control;

/// The parts of an admin server.
pub struct AdminParts {
    pub database: Arc<Database>,
    pub status: StatusPage,
    pub access: AdminAccess,
    /// The names under which browsers reach the server, besides addresses.
    pub hosts: HostNames,
    /// The ports and the releases of the server.
    pub served: Served,
    /// The control of a server for tests.
    pub control: Option<Arc<Control>>,
    /// The counts that metrics read from the ports of clients.
    pub server: ServerReadings,
    /// The settings of requests of the console.
    pub console: ConsoleSettings,
}

/// The state that all requests to the admin server share.
pub struct AdminState {
    pub database: Arc<Database>,
    pub status: StatusPage,
    pub access: AdminAccess,
    pub hosts: HostNames,
    pub served: Served,
    pub control: Option<Arc<Control>>,
    pub(super) server: ServerReadings,
    pub(super) console: ConsoleRequests,
    pub(super) sessions: Sessions,
    pub(super) csrf: CsrfKey,
    pub(super) sketches: SketchRuns,
    pub(super) verification: Arc<Mutex<Verification>>,
}

impl AdminState {
    pub fn new(parts: AdminParts) -> AdminState {
        let AdminParts { database, status, access, hosts, served, control, server, console } = parts;
        let console = ConsoleRequests::new(console);
        let (sessions, csrf, sketches) = (Sessions::default(), CsrfKey::default(), SketchRuns::default());
        AdminState {
            database,
            status,
            access,
            hosts,
            served,
            control,
            server,
            console,
            sessions,
            csrf,
            sketches,
            verification: Arc::default(),
        }
    }

    /// Runs the reads and writes of a page as one request: it has the memory limits of requests of all ports, and no
    /// reset and no restore of a snapshot comes in between.
    pub async fn metered<F: Future>(&self, request: F) -> F::Output {
        let limits = RequestLimits { memory: self.server.request_memory(), times: TimeLimits::default() };
        self.database.metered(&limits, request).await
    }
}
