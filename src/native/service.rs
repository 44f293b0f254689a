//! What all connections share.

use std::net::SocketAddr;
use std::sync::Arc;

use super::identity::Identity;
use super::version::ProtocolVersion;
use crate::compat::Behaviour;
use crate::compat::features::releases::NEWEST;
use crate::compat::features::{Claim, Language};
use crate::cql::{PreparedStatements, QueryState};
use crate::db::{Database, User};
use crate::util::Release;
use crate::util::meter::RequestLimits;

/// The release whose behaviour clients of the native protocol get.
const RELEASE: Release = NEWEST;

/// Serves the native protocol. Cheap to clone.
#[derive(Clone)]
pub struct NativeService {
    pub database: Arc<Database>,
    pub statements: Arc<PreparedStatements>,
    /// What the server says it is.
    pub claim: Arc<Claim>,
    /// What all requests may hold, and how long they may take.
    pub limits: RequestLimits,
}

/// The session of one statement: who asks, in which keyspace.
pub struct StatementContext {
    keyspace: Option<Arc<str>>,
    user: Option<Arc<User>>,
}

impl NativeService {
    pub fn new(database: Arc<Database>, statements: Arc<PreparedStatements>, claim: Claim) -> NativeService {
        let claim = Arc::new(claim.speaking(ProtocolVersion::HIGHEST.number()));
        NativeService { database, statements, claim, limits: RequestLimits::default() }
    }

    /// The same with other limits of requests.
    #[must_use]
    pub fn with_limits(self, limits: RequestLimits) -> NativeService {
        NativeService { limits, ..self }
    }

    /// The newest version of the protocol that is spoken: that of the release which the server says it is. Drivers leave a
    /// server that speaks one which its release did not know.
    pub fn highest_version(&self) -> ProtocolVersion {
        let known = ProtocolVersion::of_number(self.claim.native_protocol_version());
        known.unwrap_or(ProtocolVersion::HIGHEST)
    }

    /// The same for a client that has come to this address of ours: it is told that, whatever the node calls itself.
    #[must_use]
    pub fn reached_at(self, address: SocketAddr) -> NativeService {
        let claim = Arc::new(Claim::clone(&self.claim).reached_at(address));
        NativeService { claim, ..self }
    }

    /// The session as it is at the moment, in the keyspace that a request names for itself.
    pub(super) fn asking(&self, identity: &Identity, keyspace: Option<&str>) -> StatementContext {
        let keyspace = keyspace.map(Arc::from).or_else(|| identity.keyspace());
        StatementContext { keyspace, user: identity.user() }
    }

    pub(super) fn state<'a>(&'a self, asking: &'a StatementContext) -> QueryState<'a> {
        QueryState {
            database: &self.database,
            claim: &self.claim,
            behaviour: Behaviour::of(RELEASE),
            language: Language::default(),
            keyspace: asking.keyspace.as_deref(),
            user: asking.user.as_deref(),
        }
    }

    pub(super) fn behaviour(&self) -> &'static Behaviour {
        Behaviour::of(RELEASE)
    }
}
