//! The connection of a request, as the request sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// The connection of a request. Each request has it among its extensions.
#[derive(Debug, Clone)]
pub struct HttpConnection {
    /// The address of the client.
    pub peer: SocketAddr,
    /// The address of the server that the client connected to.
    pub local: SocketAddr,
    /// Whether the client uses TLS.
    pub is_encrypted: bool,
    /// Changes when the connection ends. A reply that is a stream ends then.
    pub ending: watch::Receiver<bool>,
    is_admitted: Arc<AtomicBool>,
}

impl HttpConnection {
    /// Describes a connection that has had no request.
    pub fn new(
        peer: SocketAddr,
        local: SocketAddr,
        is_encrypted: bool,
        ending: watch::Receiver<bool>,
    ) -> HttpConnection {
        HttpConnection { peer, local, is_encrypted, ending, is_admitted: Arc::default() }
    }

    /// Records that a request on this connection may do something here.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// Returns whether the connection has had a request that may do something here. Other connections are closed sooner
    /// if there are too many.
    pub(crate) fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }
}
