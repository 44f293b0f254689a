//! Accepts connections.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::admission::Admission;
use crate::client_link::LinkError;
use crate::client_stream::ClientStream;
use crate::connection_metrics::ConnectionMetrics;
use crate::connections::ConnectionPlace;
use crate::handler::{Client, ConnectionEnd, ConnectionHandler};
use crate::limits::{KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES};
use base::util::RepeatedLines;

/// Connections that the operating system queues for the listener.
const BACKLOG: i32 = 4096;
/// Longest pause after a failed accept, such as one without a free file descriptor.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ListenError {
    /// The address as it was given.
    pub address: String,
    /// The reason.
    #[source]
    pub source: std::io::Error,
}

/// A bound port.
pub struct Listener {
    socket: TcpListener,
    /// The bound address, with the actual port if port 0 was given.
    pub address: SocketAddr,
}

impl Listener {
    /// Binds `host:port`; port 0 picks a free one.
    pub fn bind(address: &str) -> Result<Listener, ListenError> {
        let failed = |source| ListenError { address: address.to_owned(), source };
        check_address(address)?;
        let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address");
        for candidate in address.to_socket_addrs().map_err(failed)? {
            match bind_one(candidate) {
                Ok(socket) => {
                    let address = socket.local_addr().map_err(failed)?;
                    return Ok(Listener { socket, address });
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }

    /// Starts to accept connections, until the server shuts down, and serves each with the handler. While no place is free,
    /// the next connection waits for one, and later connections wait in the operating system's queue.
    pub fn start(self, handler: impl ConnectionHandler, admission: Admission) {
        self.spawn(Arc::new(handler), admission);
    }

    /// Not generic, so that the loop and its tasks are compiled in this crate only.
    fn spawn(self, handler: Arc<dyn ConnectionHandler>, admission: Admission) {
        tokio::spawn(self.accept(handler, admission));
    }

    async fn accept(self, handler: Arc<dyn ConnectionHandler>, mut admission: Admission) {
        let mut pause = Duration::from_millis(1);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = admission.shutdown.requested() => return,
            };
            match accepted {
                Ok((stream, peer)) => {
                    pause = Duration::from_millis(1);
                    let connections = admission.connections.clone();
                    let place = tokio::select! {
                        biased;
                        place = connections.enter() => place,
                        () = admission.shutdown.requested() => return,
                    };
                    let Some(place) = place else { return };
                    let (handler, admission) = (handler.clone(), admission.clone());
                    tokio::spawn(async move {
                        let (lines, metrics) = (admission.lines.clone(), admission.metrics.clone());
                        metrics.accepted.increase();
                        let end = serve(stream, peer, place, &*handler, admission).await;
                        count_end(&end, &metrics);
                        log_end(peer, end, &lines);
                    });
                }
                Err(error) => {
                    if !admission.lines.is_counted(&format!("cannot accept a connection: {error}")) {
                        tracing::warn!("cannot accept a connection: {error}; next try in {pause:?}");
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }
}

/// Checks the form of an address: a host and a port.
///
/// # Errors
///
/// The one that [`Listener::bind`] has for it.
pub fn check_address(address: &str) -> Result<(), ListenError> {
    let parts = address.rsplit_once(':');
    if parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
        return Ok(());
    }
    let why = "an address is HOST:PORT, such as 127.0.0.1:9160";
    let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, why);
    Err(ListenError { address: address.to_owned(), source })
}

fn bind_one(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Serves one connection from its acceptance to its end.
async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    place: ConnectionPlace,
    handler: &dyn ConnectionHandler,
    mut admission: Admission,
) -> Result<(), ConnectionEnd> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("cannot disable Nagle's algorithm: {error}");
    }
    if let Err(error) = keep_alive(&stream) {
        tracing::debug!("cannot enable TCP keepalive: {error}");
    }
    let local = stream.local_addr()?;
    let stream = match admission.encryption {
        None => ClientStream::Plain(stream),
        Some(encryption) => {
            let admitted = tokio::select! {
                admitted = encryption.admit(stream) => {
                    admitted.inspect_err(|_| admission.metrics.handshakes_failed.increase())?
                }
                scarcity = place.close_request().asked() => {
                    return Err(ConnectionEnd::Closed(LinkError::from(scarcity).into()));
                }
                () = admission.shutdown.requested() => None,
            };
            let Some(stream) = admitted else { return Ok(()) };
            if stream.is_encrypted() {
                admission.metrics.handshakes_ok.increase();
            }
            stream
        }
    };
    let entry = admission.table.enter(peer, stream.is_encrypted());
    let Admission { limits, budget, shutdown, busy_poll, .. } = admission;
    handler.serve(Client { stream, peer, local, place, entry, limits, budget, shutdown, busy_poll }).await
}

/// Counts how a connection ended.
fn count_end(end: &Result<(), ConnectionEnd>, metrics: &ConnectionMetrics) {
    match end {
        Ok(()) => {}
        Err(ConnectionEnd::Lost(_)) => metrics.lost.increase(),
        Err(ConnectionEnd::OtherVersion(_) | ConnectionEnd::Closed(_)) => metrics.closed_by_server.increase(),
    }
}

/// Enables TCP keepalive, which notices a peer whose machine has gone.
pub fn keep_alive(stream: &TcpStream) -> std::io::Result<()> {
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(KEEPALIVE_IDLE_S))
        .with_interval(Duration::from_secs(KEEPALIVE_INTERVAL_S))
        .with_retries(KEEPALIVE_PROBES);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// Logs why a connection ended: lost connections at debug level, connections that the server closed at info level.
fn log_end(peer: SocketAddr, end: Result<(), ConnectionEnd>, lines: &Arc<RepeatedLines>) {
    match end {
        Ok(()) => tracing::debug!(%peer, "connection closed"),
        Err(ConnectionEnd::Lost(error)) => tracing::debug!(%peer, "connection lost: {error}"),
        Err(ConnectionEnd::OtherVersion(error)) => tracing::debug!(%peer, "connection closed: {error}"),
        Err(ConnectionEnd::Closed(error)) => {
            if !lines.is_counted(&format!("connection closed: {error}")) {
                tracing::info!(%peer, "connection closed: {error}");
            }
        }
    }
}
