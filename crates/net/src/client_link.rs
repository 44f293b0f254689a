//! A client's stream with the limits of its connection: reads and writes fail when the client is too slow, is silent
//! for too long, or has to give its place or memory to other connections.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep_until};

use crate::client_stream::{ClientStream, ROOM_MIN};
use crate::close_request::{CloseRequest, Scarcity};
use crate::connection_limits::ConnectionLimits;
use crate::connections::ConnectionPlace;
use crate::memory_budget::{HoldError, Share};
use crate::pace::ClientPace;
use base::util::allocation::buffer_of;
use base::util::meter::ClientPresence;

/// Why the server ends a connection.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The stream failed, or the client closed it in the middle of a message.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A message arrives too slowly; the minimum rate in bytes a second.
    #[error("the client sends a message more slowly than {0} bytes a second")]
    SlowMessage(u64),
    /// The client reads too slowly; the minimum rate in bytes a second.
    #[error("the client reads its replies more slowly than {0} bytes a second")]
    SlowReader(u64),
    /// The handshake was not completed within this time.
    #[error(
        "the client did not complete the handshake within {0:?}: STARTUP, and the login if one is required"
    )]
    SlowHandshake(Duration),
    /// The client sent nothing for this time.
    #[error("the client was silent for {0:?}, which is the limit of --idle-timeout")]
    Idle(Duration),
    /// A new connection needs the place of this one.
    #[error("too many connections: this one is the oldest without a completed handshake, login or request")]
    NoPlace,
    /// Others wait for the memory of this connection.
    #[error("other connections need the memory of this connection's unfinished messages and unread replies")]
    NoMemory,
    /// A stopping server does not wait for its client.
    #[error("the server stops, and the client reads no replies")]
    Stopping,
    /// There is no memory for a message or reply.
    #[error(transparent)]
    Full(HoldError),
}

impl From<Scarcity> for LinkError {
    fn from(scarcity: Scarcity) -> LinkError {
        match scarcity {
            Scarcity::Connections => LinkError::NoPlace,
            Scarcity::Memory => LinkError::NoMemory,
            Scarcity::Time => LinkError::Stopping,
        }
    }
}

impl From<HoldError> for LinkError {
    fn from(error: HoldError) -> LinkError {
        match error {
            HoldError::GaveWay => LinkError::NoMemory,
            HoldError::Full(_) | HoldError::Refused(_) => LinkError::Full(error),
        }
    }
}

impl LinkError {
    /// Returns whether the server may still send a reply. It may after a lack of memory; in all other cases the
    /// connection closes at once, because the client is slow or silent, or its place or memory is needed.
    pub fn leaves_time_for_a_reply(&self) -> bool {
        matches!(self, LinkError::Full(_))
    }
}

/// The message that the server expects from the client when it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The next message; no request of the connection is running.
    Message,
    /// The next message, from a client that may be silent without limit, because it waits for a reply or an event.
    MessageAtAnyTime,
    /// The rest of a message that has begun.
    Rest,
}

/// The pace in one direction, against the usual limits and against those for scarce memory.
#[derive(Debug, Clone, Copy)]
struct StreamProgress {
    usual: ClientPace,
    scarce: ClientPace,
}

impl StreamProgress {
    fn begin(limits: &ConnectionLimits) -> StreamProgress {
        let now = Instant::now();
        StreamProgress {
            usual: ClientPace::begin(limits.pace, now),
            scarce: ClientPace::begin(limits.scarce_pace, now),
        }
    }

    /// Adds bytes that have moved. If the connection was asked to close because its client stalled, it may stay: the
    /// bytes can have waited for a busy server.
    fn add(&mut self, bytes: usize, close_request: &CloseRequest) {
        let now = Instant::now();
        self.usual.progress(bytes, now);
        self.scarce.progress(bytes, now);
        if self.scarce.until() > now {
            close_request.withdraw(Scarcity::Memory);
        }
    }
}

/// A client's stream with its limits, its place and its share of memory.
#[derive(Debug)]
pub struct ClientLink {
    stream: ClientStream,
    limits: ConnectionLimits,
    /// Its place among all connections.
    pub place: ConnectionPlace,
    /// Its share of the memory for messages and replies.
    pub share: Share,
    /// The pace of the message that has begun to arrive.
    receiving: Option<StreamProgress>,
    /// The pace of the reply that the client has not read completely.
    sending: Option<StreamProgress>,
    /// The deadline of the handshake; `None` once it is complete.
    handshake_until: Option<Instant>,
}

impl ClientLink {
    /// Makes a link for an accepted stream.
    pub fn new(
        stream: ClientStream,
        limits: ConnectionLimits,
        place: ConnectionPlace,
        share: Share,
    ) -> ClientLink {
        ClientLink { stream, limits, place, share, receiving: None, sending: None, handshake_until: None }
    }

    /// Returns the same link for a client that must complete a handshake in time.
    #[must_use]
    pub fn with_handshake(self) -> ClientLink {
        ClientLink { handshake_until: Some(Instant::now() + self.limits.native_handshake), ..self }
    }

    /// Records that the client has completed its handshake, its login or its first request.
    pub fn prove(&mut self) {
        if !self.place.is_proven() {
            self.place.prove();
            self.handshake_until = None;
        }
    }

    /// Records that a message is complete, or that the server does not read: the pace of the next message starts from
    /// zero.
    pub fn end_message(&mut self) {
        self.receiving = None;
    }

    /// Waits for bytes and appends them to `input`. Returns their number, 0 at the end of the stream. Cancel safe: no
    /// bytes are lost.
    pub async fn receive(&mut self, input: &mut BytesMut, expected: Expected) -> Result<usize, LinkError> {
        if expected == Expected::Rest {
            self.receiving.get_or_insert_with(|| StreamProgress::begin(&self.limits));
        }
        let (deadline, late) = self.receive_deadline(expected);
        let is_watched = deadline.is_some() || self.share.held() > 0 || !self.place.is_proven();
        if !is_watched {
            return Ok(self.stream.receive(input).await?);
        }
        self.share.wait_for_client(self.receiving.map(|progress| progress.scarce.until()));
        let read = within(self.stream.receive(input), self.place.close_request(), deadline).await;
        self.share.wait_for_client(None);
        let read = read.unwrap_or_else(|end| Err(end.unwrap_or(late)))?;
        if let Some(progress) = &mut self.receiving {
            progress.add(read, self.place.close_request());
        }
        Ok(read)
    }

    /// Returns the deadline for the next bytes, and the error if they are late.
    fn receive_deadline(&self, expected: Expected) -> (Option<Instant>, LinkError) {
        let limits = &self.limits;
        if let Some(until) = self.handshake_until {
            return (Some(until), LinkError::SlowHandshake(limits.native_handshake));
        }
        match (expected, limits.idle, self.receiving) {
            (Expected::Rest, _, Some(progress)) => {
                (Some(progress.usual.until()), LinkError::SlowMessage(limits.pace.bytes_per_s))
            }
            (Expected::Message, Some(idle), _) => (Some(Instant::now() + idle), LinkError::Idle(idle)),
            _ => (None, LinkError::NoPlace),
        }
    }

    /// Sends a prefix of `bytes` and returns its length. Cancel safe: no bytes are lost.
    pub async fn send_some(&mut self, bytes: &[u8]) -> Result<usize, LinkError> {
        let sent = match self.stream.write(bytes).now_or_never() {
            Some(sent) => sent?,
            None => {
                let deadline = self.begin_to_send();
                let sent = within(self.stream.write(bytes), self.place.close_request(), Some(deadline)).await;
                self.end_to_send(sent)?
            }
        };
        if sent == 0 {
            return Err(io::Error::from(io::ErrorKind::WriteZero).into());
        }
        if let Some(progress) = &mut self.sending {
            progress.add(sent, self.place.close_request());
        }
        Ok(sent)
    }

    /// Sends the bytes that the stream still buffers.
    pub async fn flush(&mut self) -> Result<(), LinkError> {
        if self.stream.flush().now_or_never().transpose()?.is_none() {
            let deadline = self.begin_to_send();
            let flushed = within(self.stream.flush(), self.place.close_request(), Some(deadline)).await;
            self.end_to_send(flushed)?;
        }
        self.sending = None;
        Ok(())
    }

    fn begin_to_send(&mut self) -> Instant {
        let progress = self.sending.get_or_insert_with(|| StreamProgress::begin(&self.limits));
        self.share.wait_for_client(Some(progress.scarce.until()));
        progress.usual.until()
    }

    fn end_to_send<T>(&mut self, sent: Watched<T>) -> Result<T, LinkError> {
        self.share.wait_for_client(None);
        let slow = LinkError::SlowReader(self.limits.pace.bytes_per_s);
        sent.unwrap_or_else(|end| Err(end.unwrap_or(slow)))
    }

    /// Makes room in `input` for a message of which `missing` bytes have not arrived, as far as the memory of all
    /// connections allows. `others` is the memory of the connection's other buffers.
    ///
    /// # Errors
    /// Fails like [`ClientLink::hold`]; with `Full` also if the operating system refuses the memory.
    pub async fn make_room(
        &mut self,
        input: &mut BytesMut,
        missing: Missing,
        others: HeldBytes,
    ) -> Result<(), LinkError> {
        let has_room = input.capacity() - input.len() >= ROOM_MIN;
        if has_room || input.len() < self.place.free_bytes() / 2 {
            return self.hold(self.counted(others.with_received(input.capacity()))).await;
        }
        let capacity = missing.capacity_after(input.len());
        // Both buffers exist while the bytes are copied.
        self.hold(self.counted(others.with_received(input.capacity() + capacity))).await?;
        enlarge(input, capacity)?;
        self.share.try_hold(self.counted(others.with_received(input.capacity())));
        Ok(())
    }

    /// Returns the bytes that the budget counts: buffers up to `ConnectionPlace::free_bytes` are free.
    pub fn counted(&self, held: HeldBytes) -> usize {
        let free = self.place.free_bytes();
        [held.received, held.replies].iter().filter(|bytes| **bytes > free).sum()
    }

    /// Changes the connection's share of memory to `bytes`. The time that the server waits for memory does not count
    /// against the client's pace.
    pub async fn hold(&mut self, bytes: usize) -> Result<(), LinkError> {
        if self.share.try_hold(bytes) {
            return Ok(());
        }
        let began = Instant::now();
        self.share.hold(bytes).await?;
        if let Some(progress) = &mut self.receiving {
            progress.usual.leave_out(began.elapsed());
            progress.scarce.leave_out(began.elapsed());
        }
        Ok(())
    }

    /// Records in `client` when the client stops sending or the connection breaks. Reads nothing, and never returns.
    pub async fn watch(&self, client: &ClientPresence) -> Infallible {
        self.stream.watch(client).await
    }

    /// Closes the connection; with TLS, the client gets a close_notify alert.
    pub async fn close(self) {
        self.stream.close().await;
    }

    /// Resets the connection of a client that does not read: the operating system discards unsent bytes, too.
    pub fn reset(self) {
        let set = SockRef::from(self.stream.socket()).set_linger(Some(Duration::ZERO));
        if let Err(error) = set {
            tracing::debug!("cannot reset the connection of a client that does not read: {error}");
        }
    }
}

/// Moves the bytes of a buffer to a larger one.
///
/// # Errors
/// `Refused` if the operating system has no memory for it.
pub fn enlarge(buffer: &mut BytesMut, capacity: usize) -> Result<(), HoldError> {
    debug_assert!(capacity > buffer.len(), "the larger buffer has room for more bytes than have arrived");
    let mut larger = buffer_of(capacity).map_err(|_| HoldError::Refused(capacity))?;
    larger.extend_from_slice(buffer);
    // Takes the list as it is, with all its room.
    *buffer = BytesMut::from(Bytes::from(larger));
    Ok(())
}

/// The number of bytes of a message that have not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The length of the message is known.
    Exactly(usize),
    /// Only the length of a part is known.
    AtLeast(usize),
}

/// A buffer grows to this multiple of its bytes at most, so that a length that a client only announces reserves little.
const GROWTH_MAX: usize = 8;

impl Missing {
    /// Returns the capacity of the next buffer for a message of which `received` bytes have arrived: exactly what is
    /// needed if that is known, else half as much again.
    pub fn capacity_after(self, received: usize) -> usize {
        let more = match self {
            Missing::Exactly(missing) => missing,
            Missing::AtLeast(missing) => missing.max(received / 2),
        };
        received + more.min((GROWTH_MAX - 1) * received).max(ROOM_MIN) + ROOM_MIN
    }
}

/// Memory of a connection's buffers, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldBytes {
    /// Bytes of messages.
    pub received: usize,
    /// Bytes of replies.
    pub replies: usize,
}

impl HeldBytes {
    /// Returns the sum with further bytes of messages.
    #[must_use]
    pub fn with_received(self, more: usize) -> HeldBytes {
        HeldBytes { received: self.received + more, ..self }
    }
}

/// The result of an operation, or why the connection ends; `Err(None)` is a missed deadline.
type Watched<T> = Result<Result<T, LinkError>, Option<LinkError>>;

/// Runs `work` until it is done, the connection is asked to close, or the deadline passes.
async fn within<T>(
    work: impl Future<Output = io::Result<T>>,
    close_request: &CloseRequest,
    deadline: Option<Instant>,
) -> Watched<T> {
    tokio::select! {
        biased;
        done = work => Ok(done.map_err(LinkError::from)),
        scarcity = close_request.asked() => Err(Some(scarcity.into())),
        () = until(deadline) => Err(None),
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::connections::Connections;
    use crate::memory_budget::MemoryBudget;

    /// Returns a link, and the client's end of it.
    async fn link() -> (ClientLink, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let stream = ClientStream::Plain(listener.accept().await.unwrap().0);
        let place = Connections::new(2, 2).enter().await.unwrap();
        let share = MemoryBudget::default().share(place.close_request());
        (ClientLink::new(stream, ConnectionLimits::default(), place, share), client)
    }

    /// The bytes of a client have waited for a busy server, which took the client for one that stalls.
    #[tokio::test]
    async fn a_connection_whose_bytes_have_arrived_does_not_close() {
        let (mut link, mut client) = link().await;
        let mut input = BytesMut::new();
        client.write_all(b"begin").await.unwrap();
        assert_eq!(link.receive(&mut input, Expected::Rest).await.unwrap(), 5);
        client.write_all(b"rest").await.unwrap();
        link.stream.socket().readable().await.unwrap();
        link.place.close_request().ask(Scarcity::Memory);
        assert_eq!(link.receive(&mut input, Expected::Rest).await.unwrap(), 4);
        assert!(!link.place.close_request().is_asked());
        // Nothing has arrived.
        link.place.close_request().ask(Scarcity::Memory);
        let end = link.receive(&mut input, Expected::Rest).await;
        assert!(matches!(end, Err(LinkError::NoMemory)), "{end:?}");
        // The server stops: bytes do not change that.
        link.place.close_request().withdraw(Scarcity::Memory);
        client.write_all(b"more").await.unwrap();
        link.stream.socket().readable().await.unwrap();
        link.place.close_request().ask(Scarcity::Time);
        assert_eq!(link.receive(&mut input, Expected::Rest).await.unwrap(), 4);
        assert!(link.place.close_request().is_asked());
    }
}
