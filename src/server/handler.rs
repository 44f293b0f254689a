//! The seam between a port and the protocol that is spoken on it.

use std::io;
use std::net::SocketAddr;

use super::busy_poll::BusyPoll;
use super::client_stream::ClientStream;
use super::connection_limits::ConnectionLimits;
use super::connections::Place;
use super::memory_budget::MemoryBudget;
use super::shutdown::ShutdownSignal;

/// A client that has been let in, and what its connection shares with all others.
pub struct Client {
    pub stream: ClientStream,
    pub peer: SocketAddr,
    /// The address of ours that it has come to.
    pub local: SocketAddr,
    /// Its place among all connections.
    pub place: Place,
    pub limits: ConnectionLimits,
    /// The memory for messages and replies of all connections.
    pub budget: MemoryBudget,
    pub shutdown: ShutdownSignal,
    /// Is to hear of what the client sends.
    pub busy_poll: BusyPoll,
}

/// Why a connection ended that its client did not end.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionEnd {
    /// The client went away, or the network did: no news.
    #[error(transparent)]
    Lost(#[from] io::Error),
    /// The server speaks no version of the protocol that the client does: drivers try one after the other.
    #[error("{0}")]
    OtherVersion(Box<dyn std::error::Error + Send + Sync>),
    /// The server closed it, for what the client sent.
    #[error("{0}")]
    Closed(Box<dyn std::error::Error + Send + Sync>),
}

/// Speaks a protocol with the clients of a port.
pub trait ConnectionHandler: Clone + Send + 'static {
    /// Serves a client until it leaves, breaks the protocol, or the server ends.
    fn serve(self, client: Client) -> impl Future<Output = Result<(), ConnectionEnd>> + Send;
}
