//! The counts of the ports of clients.

use base::util::metrics::Counter;

/// The counts of connections since the start.
#[derive(Debug, Default)]
pub struct ConnectionMetrics {
    /// Connections that were accepted.
    pub accepted: Counter,
    /// Connections that were closed because of what the client sent or did not send.
    pub closed_by_server: Counter,
    /// Connections that the client or the network ended in the middle of something.
    pub lost: Counter,
    /// TLS handshakes that were completed.
    pub handshakes_ok: Counter,
    /// TLS handshakes that failed, or took too long.
    pub handshakes_failed: Counter,
}
