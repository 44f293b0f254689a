//! Takes the place of `tls` in a build without the feature `tls`: whatever asks for TLS gets [`TlsError::NotBuilt`].

use std::io;

use tokio::net::TcpStream;

use crate::handler::ConnectionEnd;
use crate::server_trust::ServerTrust;
use crate::tls_error::TlsError;
use config::ClientEncryption;

/// The type that encrypted streams of clients would have.
pub type ServerTls = TcpStream;
/// The type that encrypted streams to servers would have.
pub type ClientTls = TcpStream;

/// Returns the TCP connection below a stream.
pub(crate) fn socket_of(stream: &ServerTls) -> &TcpStream {
    stream
}

/// The handshakes of a server, which cannot be opened.
#[derive(Clone)]
pub(crate) struct Acceptor;

impl Acceptor {
    /// Fails: a server that is configured to encrypt must not serve without TLS.
    pub(crate) fn open(_options: &ClientEncryption) -> Result<Acceptor, TlsError> {
        Err(TlsError::NotBuilt)
    }

    /// Never called: no certificate is accepted in this build.
    pub(crate) async fn accept(&self, _stream: TcpStream) -> Result<ServerTls, ConnectionEnd> {
        Err(ConnectionEnd::Closed(TlsError::NotBuilt.into()))
    }
}

/// The handshakes of a client, which cannot be opened.
#[derive(Clone)]
pub struct Connector;

impl Connector {
    /// Fails.
    pub fn open(_trust: &ServerTrust) -> Result<Connector, TlsError> {
        Err(TlsError::NotBuilt)
    }

    /// Never called: no connector is made in this build.
    pub fn can_name(&self, _host: &str) -> bool {
        false
    }

    /// Never called: no connector is made in this build.
    pub async fn connect(&self, _host: &str, _stream: TcpStream) -> io::Result<ClientTls> {
        Err(io::Error::other(TlsError::NotBuilt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_refused_with_the_way_to_build_it() {
        let trust = ServerTrust { authorities: "a.pem".into(), own: None };
        let refused = Connector::open(&trust).err().unwrap().to_string();
        assert!(refused.contains("built without TLS") && refused.contains("./serve"), "{refused}");
    }
}
