//! The interface between a port and the protocol of its clients.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use crate::busy_poll::BusyPoll;
use crate::client_stream::ClientStream;
use crate::connection_limits::ConnectionLimits;
use crate::connection_table::ConnectionEntry;
use crate::connections::ConnectionPlace;
use crate::memory_budget::MemoryBudget;
use crate::shutdown::ShutdownSignal;

/// An accepted client, and the state that its connection shares with all others.
pub struct Client {
    /// The stream, after a TLS handshake if it uses TLS.
    pub stream: ClientStream,
    /// The address of the client.
    pub peer: SocketAddr,
    /// The address of the server that the client connected to.
    pub local: SocketAddr,
    /// Its place among all connections.
    pub place: ConnectionPlace,
    /// Its row in the table of connections.
    pub entry: ConnectionEntry,
    /// Time limits and rates.
    pub limits: ConnectionLimits,
    /// The memory for messages and replies of all connections.
    pub budget: MemoryBudget,
    /// Reports the shutdown of the server, which waits until all signals are dropped.
    pub shutdown: ShutdownSignal,
    /// To be called for each request.
    pub busy_poll: BusyPoll,
}

/// Why a connection ended that the client did not close.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionEnd {
    /// The client or the network failed. Logged at debug level.
    #[error(transparent)]
    Lost(#[from] io::Error),
    /// The server does not support the client's version of the protocol. Logged at debug level, because drivers try one
    /// version after the other.
    #[error("{0}")]
    OtherVersion(Box<dyn std::error::Error + Send + Sync>),
    /// The server closed the connection because of what the client sent or did not send. Logged at info level.
    #[error("{0}")]
    Closed(Box<dyn std::error::Error + Send + Sync>),
}

/// A conversation with a client.
pub type Conversation = Pin<Box<dyn Future<Output = Result<(), ConnectionEnd>> + Send>>;

/// Speaks a protocol with the clients of a port.
///
/// A conversation is boxed, so that its code is compiled in the crate of the protocol, and not again in each crate that
/// opens a port. It is one allocation for a connection.
pub trait ConnectionHandler: Send + Sync + 'static {
    /// Serves a client until it leaves, breaks the protocol, or the server shuts down.
    fn serve(&self, client: Client) -> Conversation;
}
