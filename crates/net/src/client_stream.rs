//! The byte stream of a client, with or without TLS.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

use crate::maybe_tls::MaybeTls;
use crate::tls::{ServerTls, socket_of};
use base::util::meter::ClientPresence;

/// The time that the server waits until a TLS client takes its close_notify alert.
const CLOSE_NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);

/// Initial capacity of a connection's buffers, in bytes.
pub const BUFFER_BYTES: usize = 4 * 1024;
/// Free room in a buffer before the server reads from a client, in bytes.
pub(crate) const ROOM_MIN: usize = 1024;

/// Replaces a buffer of more than `bytes_max` bytes that holds at most [`BUFFER_BYTES`] by a small one. Bytes that were
/// split off its front count too: they still occupy memory.
pub fn give_back(buffer: &mut BytesMut, bytes_max: usize) {
    let length = buffer.len();
    if length <= BUFFER_BYTES && buffer.try_reclaim(bytes_max.saturating_sub(length) + 1) {
        let mut smaller = BytesMut::with_capacity(BUFFER_BYTES);
        smaller.extend_from_slice(buffer);
        *buffer = smaller;
    }
}

/// A client's stream. Written bytes may be buffered until a flush.
pub type ClientStream = MaybeTls<ServerTls>;

impl ClientStream {
    /// Returns whether the client uses TLS.
    pub fn is_encrypted(&self) -> bool {
        matches!(self, ClientStream::Tls(_))
    }

    /// Returns the TCP connection below.
    pub fn socket(&self) -> &TcpStream {
        match self {
            ClientStream::Plain(stream) => stream,
            ClientStream::Tls(stream) => socket_of(stream),
        }
    }

    /// Waits for bytes and appends them to `input`. Returns their number, 0 at the end of the stream. A read with too
    /// little room needs a second one, so there is room for at least a small request. This allocates nothing once
    /// earlier messages are freed: `reserve` takes their room again.
    pub async fn receive(&mut self, input: &mut BytesMut) -> io::Result<usize> {
        if input.capacity() - input.len() < ROOM_MIN {
            input.reserve(BUFFER_BYTES.saturating_sub(input.len()).max(ROOM_MIN));
        }
        self.read_buf(input).await
    }

    /// Records in `client` when the client stops sending or the connection breaks. Reads nothing, and never returns.
    pub async fn watch(&self, client: &ClientPresence) -> Infallible {
        let stream = self.socket();
        // Unread bytes make the stream readable, and its end is visible beside them. If the client sends more before it
        // closes, only a reset is recorded.
        if let Ok(ready) = stream.ready(Interest::READABLE).await
            && ready.is_read_closed()
        {
            client.stops_sending();
        }
        if stream.ready(Interest::ERROR).await.is_ok() {
            client.leaves();
        }
        std::future::pending().await
    }

    /// Closes the connection. A TLS client gets a close_notify alert; without it the client would see a truncated
    /// stream.
    pub async fn close(mut self) {
        if let ClientStream::Tls(stream) = &mut self {
            // The client may be gone already.
            let _ = tokio::time::timeout(CLOSE_NOTIFY_TIMEOUT, stream.shutdown()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (TcpStream, ClientStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (client, ClientStream::Plain(listener.accept().await.unwrap().0))
    }

    /// Returns whether the client leaves within half a second.
    async fn has_left(stream: &ClientStream) -> bool {
        let client = ClientPresence::default();
        let watching = async {
            while !client.has_left() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::select! {
            never = stream.watch(&client) => match never {},
            () = watching => true,
            () = tokio::time::sleep(Duration::from_millis(500)) => false,
        }
    }

    #[test]
    fn a_large_buffer_is_given_back_when_little_is_in_it() {
        let full = || BytesMut::from(&[7; 60_000][..]);
        for left in [0, 1, BUFFER_BYTES] {
            let mut buffer = full();
            let message = buffer.split_to(60_000 - left).freeze();
            give_back(&mut buffer, 8192);
            drop(message);
            // The capacity does not include the bytes that were split off.
            assert!(buffer.capacity() < 8192);
            give_back(&mut buffer, 8192);
            assert!(buffer.iter().all(|byte| *byte == 7) && buffer.len() == left);
            assert!(!buffer.try_reclaim(8192), "{left}");
        }
        let mut buffer = full();
        give_back(&mut buffer, 8192);
        assert_eq!(buffer.len(), 60_000);
        buffer.clear();
        give_back(&mut buffer, 64 * 1024);
        assert!(buffer.capacity() >= 60_000, "a buffer within the limit is kept");
    }

    #[tokio::test]
    async fn a_reset_behind_unread_bytes_is_recorded() {
        for sent in [&b""[..], b"the next call"] {
            let (mut client, stream) = pair().await;
            client.write_all(sent).await.unwrap();
            assert!(!has_left(&stream).await, "the client waits");
            // Linger of 0 closes with a reset.
            socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
            drop(client);
            assert!(has_left(&stream).await);
        }
    }

    #[tokio::test]
    async fn a_client_that_has_only_stopped_sending_has_not_left() {
        let (mut client, stream) = pair().await;
        client.shutdown().await.unwrap();
        assert!(!has_left(&stream).await);
    }
}
