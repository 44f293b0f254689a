//! The state on which the pages of the admin server work.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use parking_lot::Mutex;

use super::access::AdminAccess;
use super::census::Census;
use super::console_requests::{ConsoleRequests, ConsoleSettings};
use super::csrf::CsrfKey;
use super::metrics::{History, SAMPLE_S, ServerReadings};
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
    /// The database that pages read and change.
    pub database: Arc<Database>,
    /// The status page of the server.
    pub status: StatusPage,
    /// The rules for visitors: token, logins, or neither.
    pub access: AdminAccess,
    /// The ports and the releases of the server.
    pub served: Served,
    /// The control of a server for tests.
    pub control: Option<Arc<Control>>,
    /// The counts that metrics read from the ports of clients.
    pub server: ServerReadings,
    /// The settings of requests of the console.
    pub console: ConsoleSettings,
}

/// The state, as the handler of a request gets it.
pub(crate) type Admin = State<Arc<AdminState>>;

/// The state that all requests to the admin server share.
pub struct AdminState {
    parts: AdminParts,
    pub(super) console: ConsoleRequests,
    pub(super) sessions: Sessions,
    pub(super) csrf: CsrfKey,
    pub(super) sketches: SketchRuns,
    pub(super) verification: Arc<Mutex<Verification>>,
    /// The requests of the last minutes.
    pub(super) history: History,
    pub(super) census: Census,
}

impl Deref for AdminState {
    type Target = AdminParts;

    fn deref(&self) -> &AdminParts {
        &self.parts
    }
}

impl AdminState {
    /// Creates the state of a server that nobody has visited.
    pub fn new(parts: AdminParts) -> AdminState {
        AdminState {
            console: ConsoleRequests::new(parts.console.clone()),
            parts,
            sessions: Sessions::default(),
            csrf: CsrfKey::default(),
            sketches: SketchRuns::default(),
            verification: Arc::default(),
            history: History::default(),
            census: Census::default(),
        }
    }

    /// Begins to sample the counters of requests, until nobody else has the state.
    pub(super) fn begin_history(self: &Arc<Self>) {
        let state = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(state) = state.upgrade() {
                state.history.sample(&state.database);
                drop(state);
                tokio::time::sleep(Duration::from_secs(SAMPLE_S)).await;
            }
        });
    }

    /// Runs the reads and writes of a page as one request: it has the memory limits of requests of all ports, and no
    /// reset and no restore of a snapshot comes in between.
    pub async fn metered<F: Future>(&self, request: F) -> F::Output {
        let limits = RequestLimits { memory: self.server.request_memory(), times: TimeLimits::default() };
        self.database.metered(&limits, request).await
    }
}
