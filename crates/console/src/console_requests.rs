//! Runs the console's own requests.

use std::sync::{Arc, OnceLock};

use base::util::meter::RequestLimits;
use cql::PreparedStatements;
use db::Database;
use server::thrift::{Compat, Service};

/// The settings of requests that visitors make by the console.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// The memory and time limits, which are the same as for clients.
    pub limits: RequestLimits,
    /// The releases whose behaviour clients get.
    pub compat: Compat,
    /// Whether visitors may change data, if their rights allow it.
    pub may_change: bool,
}

/// Runs requests of the console.
pub(crate) struct ConsoleRequests {
    pub settings: ConsoleSettings,
    /// The prepared statements of Thrift calls, which the console does not use. They are made for the first call, since
    /// their cache has a size.
    statements: OnceLock<Arc<PreparedStatements>>,
}

impl ConsoleRequests {
    pub(crate) fn new(settings: ConsoleSettings) -> ConsoleRequests {
        ConsoleRequests { settings, statements: OnceLock::new() }
    }

    /// Returns a service for Thrift calls on a database.
    pub(crate) fn thrift(&self, database: Arc<Database>) -> Service {
        let statements = self.statements.get_or_init(Arc::default).clone();
        let ConsoleSettings { limits, compat, .. } = self.settings.clone();
        Service { database, compat, statements, limits }
    }
}
