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
    has_arrived: Arc<AtomicBool>,
}

/// The progress of a client on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionProgress {
    /// Its first request has not arrived completely, or no request was admitted and the last has not arrived completely.
    Arriving,
    /// The last request has arrived completely, and none was admitted.
    Arrived,
    /// A request was admitted.
    Admitted,
}

impl HttpConnection {
    /// Describes a connection that has had no request.
    pub fn new(
        peer: SocketAddr,
        local: SocketAddr,
        is_encrypted: bool,
        ending: watch::Receiver<bool>,
    ) -> HttpConnection {
        HttpConnection {
            peer,
            local,
            is_encrypted,
            ending,
            is_admitted: Arc::default(),
            has_arrived: Arc::default(),
        }
    }

    /// Records that a request on this connection may do something here.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// Records whether the last request has arrived completely.
    pub(crate) fn set_arrived(&self, has_arrived: bool) {
        self.has_arrived.store(has_arrived, Ordering::Relaxed);
    }

    /// Returns the progress of the client. The less it is, the sooner the connection is closed if there are too many.
    pub(crate) fn progress(&self) -> ConnectionProgress {
        if self.is_admitted.load(Ordering::Relaxed) {
            ConnectionProgress::Admitted
        } else if self.has_arrived.load(Ordering::Relaxed) {
            ConnectionProgress::Arrived
        } else {
            ConnectionProgress::Arriving
        }
    }
}
