//! The state that all Thrift connections share.

use std::sync::Arc;

use super::dialect::Compat;
use base::util::meter::RequestLimits;
use cql::PreparedStatements;
use db::Database;

/// The state that all Thrift connections share.
#[derive(Clone)]
pub struct Service {
    /// The database that calls read and change.
    pub database: Arc<Database>,
    /// The releases whose behaviour clients see, one for each API generation.
    pub compat: Compat,
    /// The prepared statements of CQL 3.
    pub statements: Arc<PreparedStatements>,
    /// The memory and time limits of requests.
    pub limits: RequestLimits,
}

impl Service {
    /// Creates the service with the default limits. A test's restart of the server forgets its prepared statements.
    pub fn new(database: Arc<Database>, compat: Compat) -> Service {
        let statements = Arc::<PreparedStatements>::default();
        if let Some(faults) = database.faults() {
            let forgotten = Arc::downgrade(&statements);
            faults.connections.at_restart(move || {
                if let Some(statements) = forgotten.upgrade() {
                    statements.forget_all();
                }
            });
        }
        Service { database, compat, statements, limits: RequestLimits::default() }
    }

    /// Returns the same service with other limits of requests.
    #[must_use]
    pub fn with_limits(self, limits: RequestLimits) -> Service {
        Service { limits, ..self }
    }
}
