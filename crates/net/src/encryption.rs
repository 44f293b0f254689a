//! The TLS handshake of a client, and the detection of clients without TLS.

use std::io;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client_stream::ClientStream;
use crate::handler::ConnectionEnd;
use crate::tls::Acceptor;
use crate::tls_error::{HandshakeError, TlsError};
use config::ClientEncryption;

/// The time that a client may take for its handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The first bytes of a TLS client: a handshake record of SSL 3 or later. No other client begins like this: it would be
/// a Thrift frame of 369 MB, or version 22 of the native protocol.
const HELLO: [u8; 2] = [0x16, 0x03];

/// TLS for the connections of all ports.
pub struct Encryption {
    options: ClientEncryption,
    /// The acceptor of new connections; open connections keep the one they began with.
    acceptor: RwLock<Acceptor>,
    patience: Duration,
}

impl Encryption {
    /// Reads the certificate, the key and the authorities that the options name.
    pub fn open(options: ClientEncryption) -> Result<Encryption, TlsError> {
        let acceptor = RwLock::new(Acceptor::open(&options)?);
        Ok(Encryption { options, acceptor, patience: HANDSHAKE_TIMEOUT })
    }

    /// Returns the same with another time limit for the handshake than 10 seconds.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Encryption {
        Encryption { patience, ..self }
    }

    /// Reads the files again for new connections. After an error the former certificates stay in use.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = Acceptor::open(&self.options)?;
        *self.acceptor.write() = fresh;
        Ok(())
    }

    /// Does the handshake with a client. `None` if the client left without sending anything.
    pub(super) async fn admit(&self, stream: TcpStream) -> Result<Option<ClientStream>, ConnectionEnd> {
        if self.options.optional {
            // A client without TLS may be idle before its first message, so waiting for that has no time limit.
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
        match timeout(self.patience, work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(closed(HandshakeError::TooSlow(self.patience))),
        }
    }

    async fn shake_hands(&self, stream: TcpStream) -> Result<ClientStream, ConnectionEnd> {
        let acceptor = self.acceptor.read().clone();
        let stream = acceptor.accept(stream).await?;
        Ok(ClientStream::Tls(Box::new(stream)))
    }
}

/// Returns whether the client's first bytes begin a handshake, without reading them. `None` if the client closed the
/// stream.
async fn is_tls(stream: &TcpStream) -> io::Result<Option<bool>> {
    let mut first = [0; HELLO.len()];
    let count = stream.peek(&mut first).await?;
    let arrived = &first[..count];
    // One byte is enough: waiting for the second is not possible without reading the first.
    Ok(if arrived.is_empty() { None } else { Some(HELLO.starts_with(arrived)) })
}

fn closed(error: HandshakeError) -> ConnectionEnd {
    ConnectionEnd::Closed(error.into())
}
