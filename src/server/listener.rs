//! Accepts connections.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::admission::Admission;
use super::client_stream::ClientStream;
use super::handler::{Client, ConnectionEnd, ConnectionHandler};

/// Connections that the operating system keeps waiting.
const BACKLOG: i32 = 4096;
/// Longest pause after a failed accept, as when descriptors have run out.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ListenError {
    pub address: String,
    #[source]
    pub source: std::io::Error,
}

/// A bound port.
pub struct Listener {
    socket: TcpListener,
    /// The address really bound: the port is known even where any was asked for.
    pub address: SocketAddr,
}

impl Listener {
    /// Binds `host:port`; port 0 picks a free one.
    pub fn bind(address: &str) -> Result<Listener, ListenError> {
        let failed = |source| ListenError { address: address.to_owned(), source };
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

    /// Accepts until the server ends, and lets the handler speak with those who come. A permit is taken before a
    /// connection is, so that no more are open than can be served.
    pub async fn run(self, handler: impl ConnectionHandler, mut admission: Admission) {
        let mut pause = Duration::from_millis(1);
        loop {
            let Ok(permit) = admission.permits.clone().acquire_owned().await else { return };
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = admission.shutdown.told() => return,
            };
            match accepted {
                Ok((stream, peer)) => {
                    pause = Duration::from_millis(1);
                    let (handler, admission) = (handler.clone(), admission.clone());
                    tokio::spawn(async move {
                        log_end(peer, serve(stream, peer, handler, admission).await);
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}; next try in {pause:?}");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }
}

fn bind_one(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A connection, from its acceptance to its end.
async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    handler: impl ConnectionHandler,
    mut admission: Admission,
) -> Result<(), ConnectionEnd> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("cannot send small replies at once: {error}");
    }
    let local = stream.local_addr()?;
    let stream = match admission.encryption {
        None => ClientStream::Plain(stream),
        Some(encryption) => {
            let admitted = tokio::select! {
                admitted = encryption.admit(stream) => admitted?,
                () = admission.shutdown.told() => None,
            };
            let Some(stream) = admitted else { return Ok(()) };
            stream
        }
    };
    let Admission { budget, shutdown, busy_poll, .. } = admission;
    handler.serve(Client { stream, peer, local, share: budget.share(), shutdown, busy_poll }).await
}

/// Logs why a connection ended: clients that go away are no news, strange bytes are worth a line.
fn log_end(peer: SocketAddr, end: Result<(), ConnectionEnd>) {
    match end {
        Ok(()) => tracing::debug!(%peer, "connection closed"),
        Err(ConnectionEnd::Lost(error)) => tracing::debug!(%peer, "connection lost: {error}"),
        Err(ConnectionEnd::OtherVersion(error)) => tracing::debug!(%peer, "connection closed: {error}"),
        Err(ConnectionEnd::Closed(error)) => tracing::info!(%peer, "connection closed: {error}"),
    }
}
