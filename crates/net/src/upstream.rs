//! Servers to which this program connects: those behind a recorder or a move, and the sides of a copy.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::listener::keep_alive;
use crate::maybe_tls::MaybeTls;
use crate::tls::{ClientTls, Connector};

/// The time that connecting may take, with the handshake of TLS: as long as old clients wait for a reply.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a server cannot be reached.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts of the errors name their fields")]
pub enum UpstreamError {
    /// The address has no host or port.
    #[error("{0:?} is not HOST:PORT")]
    Address(String),
    /// The server refused the connection, or cannot be reached.
    #[error("cannot connect to {address}: {why}")]
    Connect { address: Arc<str>, why: io::Error },
    /// The server did not answer.
    #[error("cannot connect to {address}: no answer within {CONNECT_TIMEOUT:?}")]
    Slow { address: Arc<str> },
}

/// A server, and how to connect to it.
#[derive(Clone)]
pub struct Upstream {
    /// `HOST:PORT`.
    pub address: Arc<str>,
    /// The name or address of its host, without the brackets of an address of IPv6.
    host: Arc<str>,
    tls: Option<Connector>,
}

impl Upstream {
    /// Returns the server at `HOST:PORT`. With `tls`, connections to it are encrypted.
    ///
    /// # Errors
    ///
    /// If the address is not of that form.
    pub fn new(address: &str, tls: Option<Connector>) -> Result<Upstream, UpstreamError> {
        let wrong = || UpstreamError::Address(address.to_owned());
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        port.parse::<u16>().map_err(|_| wrong())?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || tls.as_ref().is_some_and(|connector| !connector.can_name(host)) {
            return Err(wrong());
        }
        Ok(Upstream { address: address.into(), host: host.into(), tls })
    }

    /// Connects to the server.
    pub async fn connect(&self) -> Result<ServerStream, UpstreamError> {
        let connected = timeout(CONNECT_TIMEOUT, self.connect_slowly()).await;
        let connected = connected.map_err(|_| UpstreamError::Slow { address: self.address.clone() })?;
        connected.map_err(|why| UpstreamError::Connect { address: self.address.clone(), why })
    }

    async fn connect_slowly(&self) -> io::Result<ServerStream> {
        let stream = TcpStream::connect(&*self.address).await?;
        stream.set_nodelay(true)?;
        keep_alive(&stream)?;
        match &self.tls {
            None => Ok(ServerStream::Plain(stream)),
            Some(connector) => {
                let stream = connector.connect(&self.host, stream).await?;
                Ok(ServerStream::Tls(Box::new(stream)))
            }
        }
    }
}

/// A connection to a server.
pub type ServerStream = MaybeTls<ClientTls>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for address in ["old:9160", "127.0.0.1:1", "[::1]:9160"] {
            assert!(Upstream::new(address, None).is_ok(), "{address}");
        }
        for address in ["old", ":9160", "old:port", "old:70000", ""] {
            assert!(Upstream::new(address, None).is_err(), "{address}");
        }
    }
}
