//! What the pages of the admin server work on.

use std::sync::Arc;

use super::access::AdminAccess;
use super::console_requests::{ConsoleRequests, ConsoleSettings};
use super::csrf::CsrfKey;
use super::host::HostNames;
use super::metrics::ServerReadings;
use super::model::SketchRuns;
use super::served::Served;
use super::session::Sessions;
use crate::control::ControlApi;
use crate::db::Database;
use crate::server::StatusPage;
use crate::util::meter::{RequestLimits, RequestMeter, TimeLimits, metered};

/// The parts of an admin server.
pub struct AdminParts {
    pub database: Arc<Database>,
    pub status: StatusPage,
    pub access: AdminAccess,
    /// The names under which browsers reach the server, besides addresses.
    pub hosts: HostNames,
    /// The ports and the releases of the server.
    pub served: Served,
    /// The control API of a server for tests.
    pub control: Option<ControlApi>,
    /// What metrics read of the ports of clients.
    pub server: ServerReadings,
    /// How requests of the console run.
    pub console: ConsoleSettings,
}

/// What all requests to the admin server share.
pub struct AdminState {
    pub database: Arc<Database>,
    pub status: StatusPage,
    pub access: AdminAccess,
    pub hosts: HostNames,
    pub served: Served,
    pub control: Option<ControlApi>,
    pub(super) server: ServerReadings,
    pub(super) console: ConsoleRequests,
    pub(super) sessions: Sessions,
    pub(super) csrf: CsrfKey,
    pub(super) sketches: SketchRuns,
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
        }
    }

    /// Runs the reads and writes of a page as one request: it has the memory limits of requests of all ports, and no
    /// reset and no restore of a snapshot comes in between.
    pub async fn metered<F: Future>(&self, request: F) -> F::Output {
        let limits = RequestLimits { memory: self.server.request_memory(), times: TimeLimits::default() };
        let permit = self.database.admit().await;
        let meter = RequestMeter::new(&limits, Arc::default()).with_permit(permit);
        metered(Arc::new(meter), request).await
    }
}
