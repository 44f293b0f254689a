//! The bytes to and from a client, whether they are encrypted or not.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::util::meter::ClientPresence;

/// How long a client may take to let the end of an encrypted connection be told to it.
const GOODBYE: Duration = Duration::from_secs(1);

/// First room of a connection's buffers, in bytes.
pub const BUFFER_BYTES: usize = 4 * 1024;
/// Room that there is for what a client sends, in bytes.
pub const ROOM_MIN: usize = 1024;

/// Lets go of a buffer that is larger than so many bytes and has little in it. What has been taken from its front counts
/// too: the memory is still there.
pub fn give_back(buffer: &mut BytesMut, bytes_max: usize) {
    let length = buffer.len();
    if length <= BUFFER_BYTES && buffer.try_reclaim(bytes_max.saturating_sub(length) + 1) {
        let mut smaller = BytesMut::with_capacity(BUFFER_BYTES);
        smaller.extend_from_slice(buffer);
        *buffer = smaller;
    }
}

/// A client's stream. What is written to it may wait for a flush.
#[derive(Debug)]
pub enum ClientStream {
    Plain(TcpStream),
    /// After the handshake. Boxed, because it is a thousand bytes and most clients do not have it.
    Tls(Box<TlsStream<TcpStream>>),
}

impl ClientStream {
    pub fn is_encrypted(&self) -> bool {
        matches!(self, ClientStream::Tls(_))
    }

    /// The connection below.
    pub fn socket(&self) -> &TcpStream {
        match self {
            ClientStream::Plain(stream) => stream,
            ClientStream::Tls(stream) => stream.get_ref().0,
        }
    }

    /// Waits for bytes and appends them; 0 when there will be none. A read that does not take all that has come costs
    /// another one, so there is room for a little request at least. That costs nothing as long as the messages before are
    /// gone: their room is taken again.
    pub async fn receive(&mut self, input: &mut BytesMut) -> io::Result<usize> {
        if input.capacity() - input.len() < ROOM_MIN {
            input.reserve(BUFFER_BYTES.saturating_sub(input.len()).max(ROOM_MIN));
        }
        self.read_buf(input).await
    }

    /// Notes when the client stops sending, or the connection breaks, and takes nothing that it has sent. It never ends.
    pub async fn watch(&self, client: &ClientPresence) -> Infallible {
        let stream = self.socket();
        // What it has sent already makes it readable, and its end shows beside that. If it sends more before it ends, only
        // a reset is noted.
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

    /// Ends the connection. An encrypted one says so, or its client must take it for cut off.
    pub async fn close(mut self) {
        if let ClientStream::Tls(stream) = &mut self {
            // A client that has gone does not need to be told.
            let _ = tokio::time::timeout(GOODBYE, stream.shutdown()).await;
        }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            ClientStream::Plain(stream) => stream.is_write_vectored(),
            ClientStream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_flush(context),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
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

    /// Watches a connection until its client has left, or for a short time.
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
            // What has been taken off no longer shows in the capacity.
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
        assert!(buffer.capacity() >= 60_000, "it is small enough");
    }

    #[tokio::test]
    async fn a_broken_connection_is_noted_even_behind_what_was_sent() {
        for sent in [&b""[..], b"the next call"] {
            let (mut client, stream) = pair().await;
            client.write_all(sent).await.unwrap();
            assert!(!has_left(&stream).await, "it is there and waits");
            // It is closed by a reset.
            socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
            drop(client);
            assert!(has_left(&stream).await);
        }
    }

    #[tokio::test]
    async fn a_client_that_only_reads_on_is_waited_for() {
        let (mut client, stream) = pair().await;
        client.shutdown().await.unwrap();
        assert!(!has_left(&stream).await);
    }
}
