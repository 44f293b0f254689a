//! A client's stream with the limits of its connection: what is read and written through it ends when the client is
//! too slow, is silent for too long, or has to make room for others.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::FutureExt;
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep_until};

use super::client_stream::{ClientStream, ROOM_MIN};
use super::connection_limits::ConnectionLimits;
use super::connections::Place;
use super::give_way::{GiveWay, Scarcity};
use super::memory_budget::{HoldError, Share};
use super::pace::Pace;
use crate::util::meter::ClientPresence;

/// Why a connection ends before its client ends it.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a message has begun, and its rest comes more slowly than {0} bytes a second")]
    SlowMessage(u64),
    #[error("the client reads its replies more slowly than {0} bytes a second")]
    SlowReader(u64),
    #[error("the client was not ready within {0:?}: it has to send STARTUP, and its login if it needs one")]
    SlowHandshake(Duration),
    #[error("the client was silent for {0:?}, which is the limit of --idle-timeout")]
    Idle(Duration),
    #[error(
        "too many connections: this one, the oldest without a completed handshake, login or request, makes room"
    )]
    NoPlace,
    #[error("others need the memory that unfinished messages or unread replies of this connection take")]
    NoMemory,
    #[error(transparent)]
    Full(HoldError),
}

impl From<Scarcity> for LinkError {
    fn from(scarcity: Scarcity) -> LinkError {
        match scarcity {
            Scarcity::Connections => LinkError::NoPlace,
            Scarcity::Memory => LinkError::NoMemory,
        }
    }
}

impl From<HoldError> for LinkError {
    fn from(error: HoldError) -> LinkError {
        match error {
            HoldError::GaveWay => LinkError::NoMemory,
            HoldError::Full(_) => LinkError::Full(error),
        }
    }
}

impl LinkError {
    /// Whether the client can still be sent something.
    pub fn leaves_time_for_a_reply(&self) -> bool {
        matches!(self, LinkError::Full(_))
    }
}

/// What the server waits for when it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The next message; nothing else is under way.
    Message,
    /// The next message, while the client may have reasons to be silent.
    MessageAtAnyTime,
    /// The rest of a message that has begun.
    Rest,
}

/// How fast bytes move one way, by the usual limits and by those of scarcity.
#[derive(Debug, Clone, Copy)]
struct Progress {
    usual: Pace,
    scarce: Pace,
}

impl Progress {
    fn begin(limits: &ConnectionLimits) -> Progress {
        let now = Instant::now();
        Progress { usual: Pace::begin(limits.pace, now), scarce: Pace::begin(limits.scarce_pace, now) }
    }

    fn add(&mut self, bytes: usize) {
        let now = Instant::now();
        self.usual.progress(bytes, now);
        self.scarce.progress(bytes, now);
    }
}

/// A client's stream, and what its connection may take.
#[derive(Debug)]
pub struct ClientLink {
    stream: ClientStream,
    limits: ConnectionLimits,
    pub place: Place,
    pub share: Share,
    /// Of the message that has begun.
    receiving: Option<Progress>,
    /// Of the reply that the client has not taken yet.
    sending: Option<Progress>,
    /// When the client has to be ready, while it is not.
    handshake_until: Option<Instant>,
}

impl ClientLink {
    pub fn new(stream: ClientStream, limits: ConnectionLimits, place: Place, share: Share) -> ClientLink {
        ClientLink { stream, limits, place, share, receiving: None, sending: None, handshake_until: None }
    }

    /// The same for a client that has to complete a handshake soon.
    #[must_use]
    pub fn with_handshake(self) -> ClientLink {
        ClientLink { handshake_until: Some(Instant::now() + self.limits.native_handshake), ..self }
    }

    /// Notes that the client has completed its handshake, its login or its first request.
    pub fn prove(&mut self) {
        if !self.place.is_proven() {
            self.place.prove();
            self.handshake_until = None;
        }
    }

    /// Notes that a message has come whole, or that the server does not read: the next wait begins anew.
    pub fn end_message(&mut self) {
        self.receiving = None;
    }

    /// Waits for bytes and appends them; 0 when there will be none. If the wait is given up no bytes are lost.
    pub async fn receive(&mut self, input: &mut BytesMut, expected: Expected) -> Result<usize, LinkError> {
        if expected == Expected::Rest {
            self.receiving.get_or_insert_with(|| Progress::begin(&self.limits));
        }
        let (deadline, late) = self.receive_deadline(expected);
        let is_watched = deadline.is_some() || self.share.held() > 0 || !self.place.is_proven();
        if !is_watched {
            return Ok(self.stream.receive(input).await?);
        }
        self.share.wait_for_client(self.receiving.map(|progress| progress.scarce.until()));
        let read = within(self.stream.receive(input), self.place.give_way(), deadline).await;
        self.share.wait_for_client(None);
        let read = read.unwrap_or_else(|end| Err(end.unwrap_or(late)))?;
        if let Some(progress) = &mut self.receiving {
            progress.add(read);
        }
        Ok(read)
    }

    /// Until when bytes have to come, and what it is called if they do not.
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

    /// Sends the first of these bytes, and returns how many it has sent. If the wait is given up none are lost.
    pub async fn send_some(&mut self, bytes: &[u8]) -> Result<usize, LinkError> {
        let sent = match self.stream.write(bytes).now_or_never() {
            Some(sent) => sent?,
            None => {
                let deadline = self.begin_to_send();
                let sent = within(self.stream.write(bytes), self.place.give_way(), Some(deadline)).await;
                self.end_to_send(sent)?
            }
        };
        if sent == 0 {
            return Err(io::Error::from(io::ErrorKind::WriteZero).into());
        }
        if let Some(progress) = &mut self.sending {
            progress.add(sent);
        }
        Ok(sent)
    }

    /// Sends what the stream itself still keeps.
    pub async fn flush(&mut self) -> Result<(), LinkError> {
        if self.stream.flush().now_or_never().transpose()?.is_none() {
            let deadline = self.begin_to_send();
            let flushed = within(self.stream.flush(), self.place.give_way(), Some(deadline)).await;
            self.end_to_send(flushed)?;
        }
        self.sending = None;
        Ok(())
    }

    fn begin_to_send(&mut self) -> Instant {
        let progress = self.sending.get_or_insert_with(|| Progress::begin(&self.limits));
        self.share.wait_for_client(Some(progress.scarce.until()));
        progress.usual.until()
    }

    fn end_to_send<T>(&mut self, sent: Watched<T>) -> Result<T, LinkError> {
        self.share.wait_for_client(None);
        let slow = LinkError::SlowReader(self.limits.pace.bytes_per_s);
        sent.unwrap_or_else(|end| Err(end.unwrap_or(slow)))
    }

    /// Makes room in a buffer for more of a message of which so many bytes are missing, as far as the memory of all
    /// connections allows. The connection's other buffers take so much.
    pub async fn make_room(
        &mut self,
        input: &mut BytesMut,
        missing: usize,
        others: HeldBytes,
    ) -> Result<(), LinkError> {
        let has_room = input.capacity() - input.len() >= ROOM_MIN;
        if has_room || input.len() < self.place.free_bytes() / 2 {
            return self.hold(self.counted(others.with_received(input.capacity()))).await;
        }
        // Never for what was announced, only for as much again as has come.
        let capacity = input.len() + input.len().min(missing.saturating_add(ROOM_MIN));
        self.hold(self.counted(others.with_received(capacity))).await?;
        let mut larger = BytesMut::with_capacity(capacity);
        larger.extend_from_slice(input);
        *input = larger;
        Ok(())
    }

    /// Memory of the connection's buffers as the budget counts it: a little is free.
    pub fn counted(&self, held: HeldBytes) -> usize {
        let free = self.place.free_bytes();
        [held.received, held.replies].iter().filter(|bytes| **bytes > free).sum()
    }

    /// Makes the connection's share of memory so large. The time that this takes is not the client's.
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

    /// Notes when the client stops sending, or the connection breaks, and takes nothing that it has sent. It never ends.
    pub async fn watch(&self, client: &ClientPresence) -> Infallible {
        self.stream.watch(client).await
    }

    /// Ends the connection with a word to the client.
    pub async fn close(self) {
        self.stream.close().await;
    }

    /// Ends the connection of a client that does not read: the operating system drops what it still has for it, too.
    pub fn reset(self) {
        let set = SockRef::from(self.stream.socket()).set_linger(Some(Duration::ZERO));
        if let Err(error) = set {
            tracing::debug!("cannot drop what a client does not read: {error}");
        }
    }
}

/// Memory of a connection's buffers, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldBytes {
    /// Of messages.
    pub received: usize,
    pub replies: usize,
}

impl HeldBytes {
    #[must_use]
    pub fn with_received(self, more: usize) -> HeldBytes {
        HeldBytes { received: self.received + more, ..self }
    }
}

/// What was done, or why the connection ends instead; an end without a reason is that it was too slow.
type Watched<T> = Result<Result<T, LinkError>, Option<LinkError>>;

/// Does something as long as the connection need not give way, and until the deadline if there is one.
async fn within<T>(
    work: impl Future<Output = io::Result<T>>,
    give_way: &GiveWay,
    deadline: Option<Instant>,
) -> Watched<T> {
    tokio::select! {
        biased;
        done = work => Ok(done.map_err(LinkError::from)),
        scarcity = give_way.told() => Err(Some(scarcity.into())),
        () = until(deadline) => Err(None),
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
