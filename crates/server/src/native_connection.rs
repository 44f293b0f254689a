//! One connection of the CQL native protocol, from its first byte to its last.
//!
//! Requests of a connection run concurrently. A reply is sent with the stream number of its request as soon as it is
//! ready. Requests that change the connection itself (STARTUP, login, REGISTER) are answered before the next frame is
//! read.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{broadcast, watch};

use super::connection::next_restart;
use super::faulty_reply::{AfterReply, TRICKLE, apply_fault};
use super::native_answering::{ConcurrentReply, ConcurrentRequest, ReplyShares};
use crate::limits::{
    HANDSHAKE_BYTES_MAX, IDLE_BUFFER_BYTES_MAX, NATIVE_REQUESTS_MAX, REPLY_BYTES_BEFORE_FLUSH,
};
use crate::native::{
    FailedOperation, Handshake, NativeError, NativeEvent, NativeEventKind, NativeService, Reply, open_body,
};
use crate::observed_request::report_unreadable;
use base::schema::SchemaChange;
use base::util::metrics::EndedRequest;
use net::{
    BUFFER_BYTES, BusyPoll, Client, ClientKind, ClientLink, ConnectionEnd, ConnectionEntry,
    ConnectionHandler, Conversation, Expected, HeldBytes, LinkError, Missing, ShutdownSignal, enlarge,
    give_back, let_others_go_first,
};
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{
    Frame, FrameCutter, NativeFrameError, NextFrame, ProtocolVersion, RequestCode, SEGMENT_PAYLOAD_MAX,
    SegmentCodec, SegmentError, UNREADABLE,
};

/// Why the server ends a connection.
#[derive(Debug, thiserror::Error)]
pub enum NativeConnectionError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Frame(#[from] NativeFrameError),
    #[error(transparent)]
    Segment(#[from] SegmentError),
    #[error("the client reads its events too slowly, and has missed some")]
    Behind,
    #[error("a test's fault")]
    Fault,
}

impl NativeConnectionError {
    /// Returns the stream and the error to send before the server closes the connection, if this error can be sent.
    fn final_error(&self) -> Option<(i16, NativeError)> {
        let protocol = |stream, why: String| Some((stream, NativeError::protocol(why)));
        match self {
            NativeConnectionError::Frame(error @ NativeFrameError::OtherVersion { stream, .. }) => {
                protocol(*stream, error.to_string())
            }
            NativeConnectionError::Frame(error) => protocol(0, error.to_string()),
            NativeConnectionError::Segment(error) => protocol(0, error.to_string()),
            NativeConnectionError::Link(error @ LinkError::Full(_)) => {
                Some((0, db::Error::Overloaded(error.to_string()).into()))
            }
            _ => None,
        }
    }

    /// Returns whether the server may still send the client a reply.
    fn leaves_time_for_a_reply(&self) -> bool {
        !matches!(self, NativeConnectionError::Link(error) if !error.leaves_time_for_a_reply())
    }
}

impl From<NativeConnectionError> for ConnectionEnd {
    fn from(error: NativeConnectionError) -> ConnectionEnd {
        match error {
            NativeConnectionError::Link(LinkError::Io(error)) => ConnectionEnd::Lost(error),
            NativeConnectionError::Frame(NativeFrameError::Version { .. }) => {
                ConnectionEnd::OtherVersion(error.into())
            }
            error => ConnectionEnd::Closed(error.into()),
        }
    }
}

impl ConnectionHandler for NativeService {
    fn serve(&self, client: Client) -> Conversation {
        let connection = NativeConnection::new(client, self.clone());
        Box::pin(async { Ok(connection.serve().await?) })
    }
}

type Answering = Pin<Box<dyn Future<Output = ConcurrentReply> + Send>>;

/// An event while a connection waited.
enum ConnectionEvent {
    ConcurrentReply(ConcurrentReply),
    Written,
    /// The share of memory now covers the connection's buffers.
    ShareGrown,
    Read(usize),
    /// The schema has changed, and the client has registered for this.
    SchemaChanged(Arc<[SchemaChange]>),
    /// The connection was too slow to receive all changes of the schema.
    ChangesMissed,
    /// A test restarts the server.
    Restarted,
    Ending,
}

/// A client's connection.
struct NativeConnection {
    link: ClientLink,
    entry: ConnectionEntry,
    address: SocketAddr,
    service: NativeService,
    handshake: Handshake,
    cutter: FrameCutter,
    /// The codec of segments: in version 5, from the reply to STARTUP on.
    segments: Option<SegmentCodec>,
    /// Received bytes: segments in version 5, else frames.
    input: BytesMut,
    /// Frames that were taken out of segments.
    frames: BytesMut,
    /// Reply frames that are not in segments yet.
    replies: BytesMut,
    /// Bytes to send.
    output: BytesMut,
    /// The stream may still buffer written bytes.
    needs_flush: bool,
    /// The running requests.
    answering: FuturesUnordered<Answering>,
    /// Bytes of the bodies of running requests.
    request_bytes: usize,
    /// Size of the larger buffer for `frames` that the connection waits for; 0 if it waits for none.
    growing: usize,
    /// Changes of the schema, if the client has registered for them.
    changes: Option<broadcast::Receiver<Arc<[SchemaChange]>>>,
    /// The buffers take more than the connection's share of memory: it does not read until the share has grown.
    is_short: bool,
    reply_shares: Arc<ReplyShares>,
    shutdown: ShutdownSignal,
    busy_poll: BusyPoll,
    is_ending: bool,
    /// Changes when a test restarts the server.
    restarts: Option<watch::Receiver<u64>>,
    /// The effect of a test's fault after the replies in the output.
    after_reply: AfterReply,
}

impl NativeConnection {
    fn new(client: Client, service: NativeService) -> NativeConnection {
        let Client { stream, peer, place, entry, limits, budget, shutdown, local: address, busy_poll } =
            client;
        let close_request = place.close_request().clone();
        let share = budget.share(&close_request);
        let mut cutter = FrameCutter::up_to(service.highest_version());
        cutter.refuse_above(HANDSHAKE_BYTES_MAX);
        let restarts = service.database.faults().map(|faults| faults.connections.restarts());
        let connection = service.database.faults().map(|faults| faults.connections.open(peer));
        NativeConnection {
            link: ClientLink::new(stream, limits, place, share).with_handshake(),
            entry,
            address,
            cutter,
            service: service.reached_at(address),
            handshake: Handshake::new(peer.ip(), connection),
            segments: None,
            input: BytesMut::with_capacity(BUFFER_BYTES),
            frames: BytesMut::new(),
            replies: BytesMut::new(),
            output: BytesMut::with_capacity(BUFFER_BYTES),
            needs_flush: false,
            answering: FuturesUnordered::new(),
            request_bytes: 0,
            growing: 0,
            changes: None,
            is_short: false,
            reply_shares: Arc::new(ReplyShares { budget, close_request }),
            shutdown,
            busy_poll,
            is_ending: false,
            restarts,
            after_reply: AfterReply::GoOn,
        }
    }

    /// Serves the connection until the client closes it, it breaks, or the server shuts down. Answers all complete
    /// requests first.
    async fn serve(mut self) -> Result<(), NativeConnectionError> {
        let end = self.converse().await;
        let sent = match &end {
            Err(error) if !error.leaves_time_for_a_reply() => Ok(()),
            Err(error) => {
                self.push_final_error(error);
                self.send_all().await
            }
            Ok(()) => self.send_all().await,
        };
        let is_sent = self.output.is_empty();
        for buffer in [&mut self.input, &mut self.frames, &mut self.replies, &mut self.output] {
            *buffer = BytesMut::new();
        }
        self.link.share.try_hold(0);
        // Requests that write run to their end, as if the client had waited for them; reads end soon.
        self.handshake.identity.client.leaves();
        if is_sent && matches!(end, Err(NativeConnectionError::Fault)) {
            self.link.close().await;
            while self.answering.next().await.is_some() {}
            return end;
        }
        while self.answering.next().await.is_some() {}
        if is_sent {
            self.link.close().await;
        } else {
            self.link.reset();
        }
        end.and(sent.map_err(NativeConnectionError::from))
    }

    async fn converse(&mut self) -> Result<(), NativeConnectionError> {
        let mut end = Ok(());
        if self.service.database.faults().is_some_and(|faults| faults.connections.are_refused()) {
            return Err(NativeConnectionError::Fault);
        }
        loop {
            if end.is_ok() {
                match self.take_frames().await {
                    Err(NativeConnectionError::Link(LinkError::Full(full))) => {
                        self.refuse_for_memory(LinkError::Full(full)).await?;
                    }
                    // Earlier requests are still answered.
                    Err(error) if error.final_error().is_some() => {
                        self.is_ending = true;
                        end = Err(error);
                    }
                    taken => taken?,
                }
            }
            self.fill_output();
            if self.after_reply == AfterReply::Close {
                return Err(NativeConnectionError::Fault);
            }
            if self.is_ending && self.answering.is_empty() && self.output.is_empty() && !self.needs_flush {
                return end;
            }
            self.resize_share();
            let happened = match self.wait().await {
                Err(NativeConnectionError::Link(LinkError::Full(full))) => {
                    self.refuse_for_memory(LinkError::Full(full)).await?;
                    continue;
                }
                happened => happened?,
            };
            match happened {
                ConnectionEvent::ConcurrentReply(answered) => self.push_answers(answered),
                ConnectionEvent::Written | ConnectionEvent::ShareGrown => {}
                ConnectionEvent::Read(0) => {
                    self.is_ending = true;
                    self.handshake.identity.client.stops_sending();
                }
                ConnectionEvent::Read(_) => self.busy_poll.record_request(),
                ConnectionEvent::SchemaChanged(changes) => {
                    changes.iter().for_each(|change| self.push_event(&NativeEvent::Schema(change.clone())));
                }
                ConnectionEvent::ChangesMissed => return Err(NativeConnectionError::Behind),
                ConnectionEvent::Restarted => self.is_ending = true,
                ConnectionEvent::Ending => {
                    self.is_ending = true;
                    self.push_event(&NativeEvent::Down(self.address.ip(), self.address.port()));
                }
            }
        }
    }

    /// Returns the memory of all buffers and requests except `input`.
    fn held_beside_input(&self) -> HeldBytes {
        HeldBytes {
            received: self.frames.capacity() + self.growing + self.request_bytes,
            replies: self.replies.capacity() + self.output.capacity(),
        }
    }

    /// Returns the memory of the connection as the budget counts it.
    fn held(&self) -> usize {
        self.link.counted(self.held_beside_input().with_received(self.input.capacity()))
    }

    /// Changes the share of memory to the size of the buffers, as far as possible without waiting.
    fn resize_share(&mut self) {
        self.give_back();
        let held = self.held();
        self.is_short = !self.link.share.try_hold(held);
    }

    /// Refuses the request that has begun, if the error is a lack of memory and the header of the request has arrived.
    /// If no request has begun, waits for the next reply, which returns memory: a connection that holds more than the
    /// whole budget gets the error without waiting, and would try again in a loop. Other errors end the connection.
    async fn refuse_for_memory(&mut self, error: LinkError) -> Result<(), NativeConnectionError> {
        let source = if self.segments.is_some() { &mut self.frames } else { &mut self.input };
        let Some(stream) = self.cutter.discard(source) else {
            let Some(answered) = self.answering.next().await else { return Err(error.into()) };
            self.push_answers(answered);
            return Ok(());
        };
        let version = self.cutter.version();
        let error = db::Error::Overloaded(error.to_string()).into();
        self.push(Reply::error(stream, &error, FailedOperation::default(), version));
        Ok(())
    }

    /// Returns whether more replies may be buffered before some are sent.
    fn has_room(&self) -> bool {
        self.output.len() + self.replies.len() < REPLY_BYTES_BEFORE_FLUSH
    }

    /// Waits for the next event. Replies that are ready come first, so that they are sent together.
    async fn wait(&mut self) -> Result<ConnectionEvent, NativeConnectionError> {
        let has_room = self.has_room();
        let others = self.held_beside_input();
        let expected = self.expected();
        let may_read = has_room && !self.is_ending && self.answering.len() < NATIVE_REQUESTS_MAX;
        // Running requests go on even if their replies must wait, because other requests may wait for memory or locks
        // that they hold.
        let may_answer = !self.answering.is_empty();
        let has_output = !self.output.is_empty() || self.needs_flush;
        self.link.share.wait_for_client(None);
        if has_output || !may_read {
            self.link.end_message();
        }
        // No more requests are read from a client that does not read its replies.
        let moving = async {
            if has_output {
                self.needs_flush = true;
                let_others_go_first().await;
                while self.after_reply == AfterReply::Trickle && !self.output.is_empty() {
                    let sent = self.link.send_some(&self.output[..1]).await?;
                    self.output.advance(sent);
                    self.link.flush().await?;
                    tokio::time::sleep(TRICKLE).await;
                }
                self.after_reply = AfterReply::GoOn;
                send(&mut self.link, &mut self.output).await?;
                self.needs_flush = false;
                return Ok(ConnectionEvent::Written);
            }
            if self.is_short {
                let held = self.link.counted(others.with_received(self.input.capacity()));
                self.link.hold(held).await?;
                return Ok(ConnectionEvent::ShareGrown);
            }
            let begun = self.cutter.begun(&self.input).filter(|_| self.segments.is_none());
            let missing = begun.map_or(Missing::AtLeast(0), |(_, missing)| Missing::Exactly(missing));
            self.link.make_room(&mut self.input, missing, others).await?;
            self.link.receive(&mut self.input, expected).await.map(ConnectionEvent::Read)
        };
        tokio::select! {
            biased;
            Some(answered) = self.answering.next(), if may_answer => Ok(ConnectionEvent::ConcurrentReply(answered)),
            () = next_restart(&mut self.restarts), if !self.is_ending => Ok(ConnectionEvent::Restarted),
            moved = moving, if has_output || may_read => moved.map_err(NativeConnectionError::Link),
            change = next_change(&mut self.changes), if has_room => {
                Ok(change.map_or(ConnectionEvent::ChangesMissed, ConnectionEvent::SchemaChanged))
            }
            () = self.shutdown.requested(), if !self.is_ending => Ok(ConnectionEvent::Ending),
        }
    }

    /// Returns the message that the client should send next.
    fn expected(&self) -> Expected {
        let is_within = self.segments.is_some() && !self.frames.is_empty();
        if is_within || self.cutter.is_within_frame(&self.input) {
            return Expected::Rest;
        }
        // A client that waits for events or for a reply may be silent.
        let may_be_silent = self.changes.is_some() || !self.answering.is_empty();
        if may_be_silent { Expected::MessageAtAnyTime } else { Expected::Message }
    }

    /// Takes all complete frames from the input, as long as there is room for replies.
    async fn take_frames(&mut self) -> Result<(), NativeConnectionError> {
        while self.answering.len() < NATIVE_REQUESTS_MAX && self.has_room() {
            if let Some(codec) = self.segments {
                while self.grow_frames()? && codec.take(&mut self.input, &mut self.frames)? {}
            }
            let source = if self.segments.is_some() { &mut self.frames } else { &mut self.input };
            match self.cutter.next_frame(source)? {
                NextFrame::Incomplete => return Ok(()),
                NextFrame::Frame(frame) => {
                    if frame.body.len() > IDLE_BUFFER_BYTES_MAX && source.len() <= BUFFER_BYTES {
                        // The buffer shares the memory of the frame and would keep it allocated.
                        *source = BytesMut::from(&source[..]);
                    }
                    self.link.end_message();
                    self.handle_frame(frame).await;
                }
                NextFrame::TooLong { version, stream, length } => {
                    let error = NativeError::longer(length, self.cutter.bytes_max());
                    self.refuse_frame(stream, version, &error);
                }
            }
        }
        Ok(())
    }

    /// Makes room for a segment in the buffer of frames: for all of the frame that has begun. Returns `false` if the memory
    /// of all connections does not allow that yet; then `growing` is the memory to wait for.
    fn grow_frames(&mut self) -> Result<bool, LinkError> {
        self.growing = 0;
        let begun = self.cutter.begun(&self.frames);
        let room = self.frames.capacity() - self.frames.len();
        let Some((_, missing)) = begun.filter(|_| room < SEGMENT_PAYLOAD_MAX) else { return Ok(true) };
        // The last segment can have other frames behind this one.
        let missing = Missing::Exactly(missing + SEGMENT_PAYLOAD_MAX);
        self.growing = missing.capacity_after(self.frames.len());
        let may_grow = self.link.share.try_hold(self.held());
        if may_grow {
            enlarge(&mut self.frames, std::mem::take(&mut self.growing))?;
        }
        Ok(may_grow)
    }

    /// Answers a frame of the handshake, or starts the request of a frame with a statement.
    async fn handle_frame(&mut self, frame: Frame) {
        let (version, stream) = (frame.version, frame.stream);
        let code = match self.code_of(&frame) {
            Ok(code) => code,
            Err(error) => {
                self.refuse_frame(stream, version, &error);
                return;
            }
        };
        let compression = self.handshake.compression;
        if !code.has_statement() {
            match open_body(&frame, compression, HANDSHAKE_BYTES_MAX) {
                Ok(body) => {
                    let reply = self.handshake.answer(&self.service, code, stream, body).await;
                    self.push(reply);
                    self.apply_handshake(version);
                }
                Err(error) => self.refuse_frame(stream, version, &error),
            }
            return;
        }
        self.entry.record_request(ClientKind::Native);
        self.request_bytes += frame.body.len();
        let (service, identity) = (self.service.clone(), self.handshake.identity.clone());
        // The body is decompressed as a part of the request, whose memory is counted.
        let request = ConcurrentRequest { service, identity, code, frame, compression };
        self.answering.push(Box::pin(request.answer_within(self.reply_shares.clone())));
    }

    /// Returns the request code of a frame.
    ///
    /// # Errors
    ///
    /// If the opcode is unknown, or is not allowed in this state of the handshake.
    fn code_of(&self, frame: &Frame) -> Result<RequestCode, NativeError> {
        let Some(code) = RequestCode::of_number(frame.opcode) else {
            return Err(NativeError::protocol(format!("Unknown opcode {}", frame.opcode)));
        };
        self.handshake.check(code, frame.version)?;
        Ok(code)
    }

    /// Applies the new state of the handshake to the connection: limits, segments and events.
    fn apply_handshake(&mut self, version: ProtocolVersion) {
        if self.handshake.is_ready() {
            self.link.prove();
            if let Some(user) = self.handshake.identity.user() {
                self.entry.set_user(&user.name);
            }
            self.cutter.refuse_above(NATIVE_FRAME_BYTES_MAX);
        }
        if version.has_segments() && self.segments.is_none() && self.handshake.has_started() {
            // The reply to STARTUP is the last frame outside of segments.
            self.fill_output();
            debug_assert!(self.replies.is_empty(), "the reply to STARTUP would be in a segment");
            self.segments = Some(SegmentCodec { is_compressed: self.handshake.compression.is_some() });
        }
        if self.changes.is_none() && self.handshake.registered.contains(&NativeEventKind::Schema) {
            self.changes = Some(self.service.database.schema_events());
        }
    }

    /// Takes a reply, and all others that are ready, so that they are sent together.
    fn push_answers(&mut self, answered: ConcurrentReply) {
        let mut next = Some(answered);
        while let Some(ConcurrentReply { request_bytes, reply, share }) = next {
            debug_assert!(request_bytes <= self.request_bytes, "the bytes of a request are counted twice");
            self.request_bytes = self.request_bytes.saturating_sub(request_bytes);
            self.push(reply);
            if let Some(share) = share {
                self.link.share.absorb(share);
            }
            next = if self.has_room() { self.answering.next().now_or_never().flatten() } else { None };
        }
    }

    fn push(&mut self, reply: Reply) {
        if self.after_reply == AfterReply::Close {
            // The reply before this one ends the connection.
            return;
        }
        let version = self.cutter.version();
        let (fault, start) = (reply.fault, self.replies.len());
        reply.write(version, self.handshake.compression, &mut self.replies);
        if let Some(fault) = fault {
            match apply_fault(fault, &mut self.replies, start, version.header_bytes()) {
                AfterReply::GoOn => {}
                after => self.after_reply = after,
            }
        }
    }

    /// Answers a frame that cannot be read, or that is not allowed now, and counts it.
    fn refuse_frame(&mut self, stream: i16, version: ProtocolVersion, error: &NativeError) {
        report_unreadable(&self.service.database, UNREADABLE, error, &EndedRequest::UNREADABLE);
        self.push(Reply::error(stream, error, FailedOperation::default(), version));
    }

    fn push_event(&mut self, event: &NativeEvent) {
        if self.handshake.registered.contains(&event.kind()) {
            let version = self.cutter.version();
            self.push(Reply::event(event, version));
        }
    }

    /// Appends the error that ends the connection. Its header has a version that the server supports, so that a driver
    /// with a higher version can choose that one.
    fn push_final_error(&mut self, error: &NativeConnectionError) {
        let Some((stream, error)) = error.final_error() else { return };
        let version = self.cutter.version();
        match &error {
            NativeError::Protocol(_) => self.refuse_frame(stream, version, &error),
            _ => self.push(Reply::error(stream, &error, FailedOperation::default(), version)),
        }
        self.fill_output();
    }

    /// Moves the replies to the output, in segments if the version has them.
    fn fill_output(&mut self) {
        if self.replies.is_empty() {
            return;
        }
        match self.segments {
            Some(codec) => {
                codec.put(&self.replies, &mut self.output);
                self.replies.clear();
            }
            None if self.output.is_empty() => std::mem::swap(&mut self.replies, &mut self.output),
            None => {
                self.output.extend_from_slice(&self.replies);
                self.replies.clear();
            }
        }
    }

    async fn send_all(&mut self) -> Result<(), LinkError> {
        send(&mut self.link, &mut self.output).await
    }

    /// Frees buffers that large messages have left behind.
    fn give_back(&mut self) {
        let bytes_max = self.link.place.free_bytes();
        for buffer in [&mut self.input, &mut self.frames, &mut self.replies, &mut self.output] {
            give_back(buffer, bytes_max);
        }
    }
}

/// Sends all of `output` and removes the sent bytes. Cancel safe.
async fn send(link: &mut ClientLink, output: &mut BytesMut) -> Result<(), LinkError> {
    while !output.is_empty() {
        let sent = link.send_some(output).await?;
        output.advance(sent);
    }
    link.flush().await
}

/// Returns the next changes of the schema; `None` if some were missed. Never returns for a client that has not
/// registered for them.
async fn next_change(
    changes: &mut Option<broadcast::Receiver<Arc<[SchemaChange]>>>,
) -> Option<Arc<[SchemaChange]>> {
    match changes {
        Some(changes) => changes.recv().await.ok(),
        None => std::future::pending().await,
    }
}
