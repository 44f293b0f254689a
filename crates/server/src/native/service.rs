//! The state that all connections of the native protocol share.

use std::net::SocketAddr;
use std::sync::Arc;

use super::identity::Identity;
use super::reported_versions::ReportedVersions;
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::util::meter::RequestLimits;
use cql::{PreparedStatements, QueryState};
use db::{Database, User};
use wire::native::ProtocolVersion;

/// Serves the native protocol. Cheap to clone.
#[derive(Clone)]
pub struct NativeService {
    /// The database that statements read and change.
    pub database: Arc<Database>,
    /// The prepared statements, which all connections share.
    pub statements: Arc<PreparedStatements>,
    /// The version that the server reports to each session.
    pub(super) reported: Arc<ReportedVersions>,
    /// The memory and time limits of requests.
    pub limits: RequestLimits,
}

/// The session of one statement: its version of the protocol, keyspace and user.
pub(super) struct StatementContext {
    version: ProtocolVersion,
    keyspace: Option<Arc<str>>,
    user: Option<Arc<User>>,
}

impl NativeService {
    /// Creates the service with the default limits. `reported` is the version that sessions see in `system.local`.
    pub fn new(
        database: Arc<Database>,
        statements: Arc<PreparedStatements>,
        reported: ReportedVersion,
    ) -> NativeService {
        let reported = Arc::new(ReportedVersions::new(reported));
        NativeService { database, statements, reported, limits: RequestLimits::default() }
    }

    /// Returns the same service with other limits of requests.
    #[must_use]
    pub fn with_limits(self, limits: RequestLimits) -> NativeService {
        NativeService { limits, ..self }
    }

    /// Returns the highest version of the protocol that the reported release supports. Drivers disconnect from a server
    /// with a version that its release does not have.
    pub fn highest_version(&self) -> ProtocolVersion {
        let known = ProtocolVersion::of_number(self.reported.server().native_protocol_version());
        known.unwrap_or(ProtocolVersion::HIGHEST)
    }

    /// Returns the same service for a client that connected to this address, which is reported as the node's address.
    #[must_use]
    pub fn reached_at(self, address: SocketAddr) -> NativeService {
        let reported = Arc::new(self.reported.reached_at(address));
        NativeService { reported, ..self }
    }

    /// Returns the context of a statement: the current user, and the keyspace of the request or else of the connection.
    pub(super) fn context(
        &self,
        identity: &Identity,
        version: ProtocolVersion,
        keyspace: Option<&str>,
    ) -> StatementContext {
        let keyspace = keyspace.map(Arc::from).or_else(|| identity.keyspace());
        StatementContext { version, keyspace, user: identity.user() }
    }

    /// Returns the state with which a statement runs.
    pub(super) fn state<'a>(&'a self, context: &'a StatementContext) -> QueryState<'a> {
        QueryState {
            database: &self.database,
            reported: self.reported.of(context.version),
            behaviour: self.reported.of(context.version).behaviour(),
            language: Language::default(),
            keyspace: context.keyspace.as_deref(),
            user: context.user.as_deref(),
            sees_new_indexes: false,
        }
    }

    pub(super) fn behaviour(&self) -> &'static Behaviour {
        self.reported.server().behaviour()
    }
}
