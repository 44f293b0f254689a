//! One Thrift connection, from its first byte to its last.
//!
//! ```text
//!   detect     framed or unframed, from the first bytes; TLS, HTTP and other protocols are refused
//!   repeat     a whole message has arrived     -> answer it, append the reply to the output
//!              no whole message has arrived    -> send the output, then wait for more bytes
//! ```
//!
//! Requests of a connection run one after another, and a client that sends several at once gets their replies together.
//! Before the login only short messages are accepted.
//!
//! Messages and replies count against the memory that all connections share. If it is used up:
//!
//! - A message that has begun is skipped as it arrives, and the client gets an error.
//! - A large reply is dropped, and its request runs again when it is its turn and there is memory. Only requests that
//!   change nothing have large replies.

use bytes::{Bytes, BytesMut};
use tokio::sync::watch;

use super::faulty_reply::{AfterReply, TRICKLE, apply_fault};
use crate::limits::{HANDSHAKE_BYTES_MAX, IDLE_BUFFER_BYTES_MAX, REPLY_BYTES_BEFORE_FLUSH};
use crate::observed_request::report_unreadable;
use crate::thrift::{Service, Session, UNKNOWN, answer, refuse_long, refuse_overloaded};
use base::util::metrics::EndedRequest;
use db::faults::ReplyFault;
use net::limits::MESSAGE_BYTES_FREE;
use net::{
    BUFFER_BYTES, BusyPoll, Client, ClientKind, ClientLink, ConnectionEnd, ConnectionEntry,
    ConnectionHandler, Conversation, Expected, HeldBytes, LinkError, Missing, ShutdownSignal, give_back,
    let_others_go_first,
};
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::frame::{Detection, FrameError, MessageCutter, NextMessage, Refusal, Transport, detect};
use wire::thrift::{Arguments, WireError};

/// Length of the header of a frame.
const FRAME_HEADER_BYTES: usize = 4;

/// Why the server ends a connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("a test's fault")]
    Fault,
}

impl From<ConnectionError> for ConnectionEnd {
    fn from(error: ConnectionError) -> ConnectionEnd {
        match error {
            ConnectionError::Link(LinkError::Io(error)) => ConnectionEnd::Lost(error),
            error => ConnectionEnd::Closed(error.into()),
        }
    }
}

impl ConnectionHandler for Service {
    fn serve(&self, client: Client) -> Conversation {
        let connection = Connection::new(client, self.clone());
        Box::pin(async { Ok(connection.serve().await?) })
    }
}

/// A client's connection.
pub(crate) struct Connection {
    link: ClientLink,
    service: Service,
    session: Session,
    entry: ConnectionEntry,
    /// The server requires a login, and the client has not logged in.
    needs_login: bool,
    input: BytesMut,
    output: BytesMut,
    shutdown: ShutdownSignal,
    busy_poll: BusyPoll,
    /// Changes when a test restarts the server.
    restarts: Option<watch::Receiver<u64>>,
}

impl Connection {
    pub(crate) fn new(client: Client, service: Service) -> Connection {
        let Client { stream, peer, place, entry, limits, budget, shutdown, busy_poll, .. } = client;
        let share = budget.share(place.close_request());
        let connection = service.database.faults().map(|faults| faults.connections.open(peer));
        Connection {
            restarts: service.database.faults().map(|faults| faults.connections.restarts()),
            link: ClientLink::new(stream, limits, place, share),
            entry,
            needs_login: service.database.logins().are_required(),
            service,
            session: Session { connection, ..Session::from_address(peer.ip()) },
            input: BytesMut::with_capacity(BUFFER_BYTES),
            output: BytesMut::with_capacity(BUFFER_BYTES),
            shutdown,
            busy_poll,
        }
    }

    /// Serves the connection until the client closes it, it breaks, or the server shuts down. First sends the replies
    /// to all complete messages, except to a client that is too slow or must free its place or memory.
    pub(crate) async fn serve(mut self) -> Result<(), ConnectionError> {
        let end = self.converse().await;
        if let Err(
            error @ (ConnectionError::Refused(_) | ConnectionError::Frame(_) | ConnectionError::Wire(_)),
        ) = &end
        {
            report_unreadable(&self.service.database, UNKNOWN, error, &EndedRequest::UNREADABLE);
        }
        let flushed = match &end {
            Err(ConnectionError::Link(error)) if !error.leaves_time_for_a_reply() => Ok(()),
            _ => self.flush().await,
        };
        if self.output.is_empty() {
            self.link.close().await;
        } else {
            self.link.reset();
        }
        end.and(flushed.map_err(ConnectionError::from))
    }

    async fn converse(&mut self) -> Result<(), ConnectionError> {
        if self.service.database.faults().is_some_and(|faults| faults.connections.are_refused()) {
            return Err(ConnectionError::Fault);
        }
        let Some(transport) = self.detect().await? else { return Ok(()) };
        let mut cutter = MessageCutter::new(transport, MESSAGE_BYTES_MAX);
        if self.needs_login {
            cutter.refuse_above(HANDSHAKE_BYTES_MAX);
        }
        loop {
            match cutter.next_message(&mut self.input)? {
                NextMessage::Message(message) => {
                    self.link.end_message();
                    self.answer(message, cutter.arguments(), transport).await?;
                    self.after_request(&mut cutter);
                    if self.output.len() >= REPLY_BYTES_BEFORE_FLUSH {
                        self.flush().await?;
                    }
                }
                NextMessage::TooLong { front, length } => {
                    let why = format!(
                        "a message of {length} bytes before the login, the limit is {HANDSHAKE_BYTES_MAX}: log in first"
                    );
                    report_unreadable(&self.service.database, UNKNOWN, &why, &EndedRequest::UNREADABLE);
                    refuse_long(&front, transport, &why, &mut self.output)?;
                }
                NextMessage::Needed(missing) => {
                    self.flush().await?;
                    self.give_back();
                    let has_begun = cutter.is_within_message(&self.input);
                    let missing = match transport {
                        Transport::Framed => Missing::Exactly(missing),
                        Transport::Unframed => Missing::AtLeast(missing),
                    };
                    match self.receive(missing, has_begun).await {
                        Ok(true) => {}
                        Ok(false) => return Ok(()),
                        Err(error) => self.refuse_for_memory(&mut cutter, error)?,
                    }
                }
            }
        }
    }

    /// Refuses the message that has begun, if the error is a lack of memory and the end of the message is known. Other
    /// errors end the connection.
    fn refuse_for_memory(
        &mut self,
        cutter: &mut MessageCutter,
        error: ConnectionError,
    ) -> Result<(), ConnectionError> {
        let ConnectionError::Link(LinkError::Full(full)) = error else { return Err(error) };
        let Some(front) = cutter.discard(&mut self.input) else { return Err(error) };
        refuse_long(&front, cutter.transport(), &full.to_string(), &mut self.output)?;
        Ok(())
    }

    /// Records that a request has been answered. If it was the login, larger messages are allowed.
    fn after_request(&mut self, cutter: &mut MessageCutter) {
        self.entry.record_request(ClientKind::of_thrift(self.session.generation));
        if let Some(user) = self.session.user.as_ref().or(self.session.old_user.as_ref()) {
            self.entry.set_user(&user.name);
        }
        if self.needs_login && self.session.has_logged_in() {
            self.needs_login = false;
            cutter.refuse_above(MESSAGE_BYTES_MAX);
        }
        if !self.needs_login {
            self.link.prove();
        }
    }

    /// Detects the transport from the first bytes; `None` if the client leaves before that is possible.
    async fn detect(&mut self) -> Result<Option<Transport>, ConnectionError> {
        loop {
            match detect(&self.input, MESSAGE_BYTES_MAX) {
                Detection::Found(transport) => return Ok(Some(transport)),
                Detection::Refused(refusal) => return Err(refusal.into()),
                Detection::Needed(missing) => {
                    let has_begun = !self.input.is_empty();
                    if !self.receive(Missing::AtLeast(missing), has_begun).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Answers a message. If there is no memory for a large reply, the reply is dropped, and the request runs again
    /// when there is memory. This is safe because only requests that change nothing have large replies.
    async fn answer(
        &mut self,
        message: Bytes,
        arguments: Option<&Arguments>,
        transport: Transport,
    ) -> Result<(), ConnectionError> {
        let start = self.output.len();
        self.make_reply(&message, arguments, transport).await?;
        if let Some(fault) = self.session.reply_fault.take() {
            return self.fault_reply(fault, start, transport).await;
        }
        let received = message.len() + self.input.capacity();
        let held = HeldBytes { received, replies: self.output.capacity() };
        if !self.link.share.try_hold(self.link.counted(held)) {
            debug_assert!(self.output.len() >= start, "a call has cut the replies before its own");
            let is_large = self.output.len() - start > MESSAGE_BYTES_FREE;
            if is_large {
                self.output = BytesMut::from(&self.output[..start]);
            }
            self.flush().await?;
            if is_large {
                self.answer_in_turn(&message, transport, held).await?;
            } else {
                // Earlier replies have filled the buffer. The message may be a write, which must not run twice.
                self.give_back();
            }
        }
        let is_large = message.len() > IDLE_BUFFER_BYTES_MAX;
        drop(message);
        if is_large && self.input.len() <= BUFFER_BYTES {
            // The buffer shares the memory of the message and would keep it allocated.
            self.input = BytesMut::from(&self.input[..]);
        }
        Ok(())
    }

    /// Applies a fault to the last reply.
    async fn fault_reply(
        &mut self,
        fault: ReplyFault,
        start: usize,
        transport: Transport,
    ) -> Result<(), ConnectionError> {
        let header = if transport == Transport::Framed { FRAME_HEADER_BYTES } else { 0 };
        match apply_fault(fault, &mut self.output, start, header) {
            AfterReply::GoOn => Ok(()),
            AfterReply::Close => Err(ConnectionError::Fault),
            AfterReply::Trickle => {
                for at in 0..self.output.len() {
                    self.link.send_some(&self.output[at..=at]).await?;
                    self.link.flush().await?;
                    tokio::time::sleep(TRICKLE).await;
                }
                self.output.clear();
                Ok(())
            }
        }
    }

    /// Appends the reply to a message. Meanwhile the request sees whether its client has left.
    async fn make_reply(
        &mut self,
        message: &Bytes,
        arguments: Option<&Arguments>,
        transport: Transport,
    ) -> Result<(), WireError> {
        let client = self.session.meter.client().clone();
        let (service, session, out) = (&self.service, &mut self.session, &mut self.output);
        tokio::select! {
            biased;
            answered = answer(service, session, message, arguments, transport, out) => answered,
            never = self.link.watch(&client) => match never {},
        }
    }

    /// Waits for memory of the size of a reply, then runs the request again.
    async fn answer_in_turn(
        &mut self,
        message: &Bytes,
        transport: Transport,
        held: HeldBytes,
    ) -> Result<(), ConnectionError> {
        let counted = self.link.counted(held);
        let why = match self.link.share.hold_in_turn(counted).await.map_err(LinkError::from) {
            Err(LinkError::Full(error)) => error.to_string(),
            turn => {
                let turn = turn?;
                self.output = BytesMut::with_capacity(held.replies);
                self.make_reply(message, None, transport).await?;
                drop(turn);
                let held = HeldBytes { replies: self.output.capacity(), ..held };
                if self.link.share.try_hold(self.link.counted(held)) {
                    return Ok(());
                }
                "the reply has grown, and there is no memory for it: try again".to_owned()
            }
        };
        self.output = BytesMut::with_capacity(BUFFER_BYTES);
        let (service, session) = (&self.service, &mut self.session);
        Ok(refuse_overloaded(service, session, message, transport, &why, &mut self.output)?)
    }

    /// Waits for more bytes of a message. Returns false if no more will arrive.
    async fn receive(&mut self, missing: Missing, has_begun: bool) -> Result<bool, ConnectionError> {
        if self.shutdown.is_ending() {
            return Ok(false);
        }
        let expected = if has_begun { Expected::Rest } else { Expected::Message };
        let others = HeldBytes { received: 0, replies: self.output.capacity() };
        self.link.make_room(&mut self.input, missing, others).await?;
        let read = tokio::select! {
            biased;
            () = next_restart(&mut self.restarts) => return Err(ConnectionError::Fault),
            read = self.link.receive(&mut self.input, expected) => read?,
            () = self.shutdown.requested() => return Ok(false),
        };
        if read > 0 {
            self.busy_poll.record_request();
        }
        Ok(read > 0)
    }

    async fn flush(&mut self) -> Result<(), LinkError> {
        if !self.output.is_empty() {
            let_others_go_first().await;
            let mut sent = 0;
            while sent < self.output.len() {
                sent += self.link.send_some(&self.output[sent..]).await?;
            }
            self.link.flush().await?;
            self.output.clear();
        }
        Ok(())
    }

    /// Frees buffers that large messages have left behind.
    fn give_back(&mut self) {
        let bytes_max = self.link.place.free_bytes();
        [&mut self.input, &mut self.output].into_iter().for_each(|buffer| give_back(buffer, bytes_max));
    }
}

/// Waits until a test restarts the server. Never returns for a server that tests do not control.
pub(super) async fn next_restart(restarts: &mut Option<watch::Receiver<u64>>) {
    let restarted = match restarts {
        Some(restarts) => restarts.changed().await.is_ok(),
        None => false,
    };
    if !restarted {
        std::future::pending().await
    }
}
