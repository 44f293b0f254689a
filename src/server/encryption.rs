//! The handshake before a client's first message, and whether there is one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, AlertDescription, Error};

use super::client_stream::ClientStream;
use super::handler::ConnectionEnd;
use super::tls::{self, TlsError};
use crate::config::ClientEncryption;

/// How long a client may take for its handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a TLS client's first message begins: a handshake record of SSL 3 or later. No other client's does: it would be a
/// Thrift frame of 369 MB, or version 22 of the native protocol.
const HELLO: [u8; 2] = [0x16, 0x03];

/// Why a client did not get through its handshake.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    #[error(
        "the client does not speak TLS, and this server wants it to: `--tls optional`, or \
         <Optional>true</Optional> in <ClientEncryptionOptions>, would serve it"
    )]
    NotTls,
    #[error("the TLS handshake was not done within {0:?}")]
    TooSlow(Duration),
    #[error(
        "the TLS handshake failed: {0}; the server speaks TLS 1.2 and 1.3 with the ciphers that are still safe"
    )]
    Outdated(rustls::Error),
    #[error("the TLS handshake failed: {0}; the client does not trust the server's certificate")]
    Distrusted(rustls::Error),
    #[error("the TLS handshake failed: {0}")]
    Failed(rustls::Error),
}

impl From<rustls::Error> for HandshakeError {
    fn from(error: rustls::Error) -> HandshakeError {
        use AlertDescription::{BadCertificate, CertificateUnknown, UnknownCA};
        match error {
            Error::PeerIncompatible(_) => HandshakeError::Outdated(error),
            Error::AlertReceived(BadCertificate | CertificateUnknown | UnknownCA) => {
                HandshakeError::Distrusted(error)
            }
            _ => HandshakeError::Failed(error),
        }
    }
}

/// TLS for the connections of all ports.
pub struct Encryption {
    options: ClientEncryption,
    /// Of new connections; those that are open keep theirs.
    acceptor: RwLock<TlsAcceptor>,
    patience: Duration,
}

impl Encryption {
    /// Reads the files that the options name.
    pub fn open(options: ClientEncryption) -> Result<Encryption, TlsError> {
        let acceptor = RwLock::new(acceptor(&options)?);
        Ok(Encryption { options, acceptor, patience: PATIENCE })
    }

    /// How long a client may take for its handshake, instead of 10 seconds.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Encryption {
        Encryption { patience, ..self }
    }

    /// Reads the files again, for the connections to come. After an error the former ones stay.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = acceptor(&self.options)?;
        *self.acceptor.write() = fresh;
        Ok(())
    }

    /// Shakes hands with a client. `None` when it has left before it said anything.
    pub(super) async fn admit(&self, stream: TcpStream) -> Result<Option<ClientStream>, ConnectionEnd> {
        if self.options.optional {
            // Nobody is in a hurry to say the first word without TLS either.
            return match is_tls(&stream).await? {
                None => Ok(None),
                Some(false) => Ok(Some(ClientStream::Plain(stream))),
                Some(true) => self.within_patience(self.shake_hands(stream)).await.map(Some),
            };
        }
        let admitted = self.within_patience(async {
            match is_tls(&stream).await? {
                None => Ok(None),
                Some(false) => Err(closed(HandshakeError::NotTls)),
                Some(true) => self.shake_hands(stream).await.map(Some),
            }
        });
        admitted.await
    }

    async fn within_patience<T>(
        &self,
        work: impl Future<Output = Result<T, ConnectionEnd>>,
    ) -> Result<T, ConnectionEnd> {
        let slow = |_| closed(HandshakeError::TooSlow(self.patience));
        timeout(self.patience, work).await.map_err(slow)?
    }

    async fn shake_hands(&self, stream: TcpStream) -> Result<ClientStream, ConnectionEnd> {
        let acceptor = self.acceptor.read().clone();
        let stream = acceptor.accept(stream).await.map_err(failure)?;
        Ok(ClientStream::Tls(Box::new(stream)))
    }
}

fn acceptor(options: &ClientEncryption) -> Result<TlsAcceptor, TlsError> {
    Ok(TlsAcceptor::from(Arc::new(tls::server_config(options)?)))
}

/// Whether the client's first bytes, which stay where they are, begin a handshake. `None`: there will be none.
async fn is_tls(stream: &TcpStream) -> io::Result<Option<bool>> {
    let mut first = [0; HELLO.len()];
    let count = stream.peek(&mut first).await?;
    let arrived = &first[..count];
    // One byte tells as well: waiting for the second is not possible without taking the first.
    Ok(if arrived.is_empty() { None } else { Some(HELLO.starts_with(arrived)) })
}

fn closed(error: HandshakeError) -> ConnectionEnd {
    ConnectionEnd::Closed(error.into())
}

/// A broken handshake is the client's doing, a broken network is nobody's.
fn failure(error: io::Error) -> ConnectionEnd {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).cloned();
    of_tls.map_or(ConnectionEnd::Lost(error), |error| closed(error.into()))
}
