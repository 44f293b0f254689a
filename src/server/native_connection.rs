//! One connection of the CQL native protocol, from its first byte to its last.
//!
//! Requests of a connection run at the same time, each with its stream's number, and are answered as they are done. Those
//! that change the connection itself (STARTUP, login) are answered before the next frame is looked at.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::broadcast;

use super::busy_poll::BusyPoll;
use super::client_link::{ClientLink, Expected, HeldBytes, LinkError};
use super::client_stream::{BUFFER_BYTES, give_back};
use super::handler::{Client, ConnectionEnd, ConnectionHandler};
use super::native_answering::{NativeReply, NativeRequest, ReplyShares};
use super::shutdown::ShutdownSignal;
use super::turn::let_others_go_first;
use crate::db;
use crate::native::{
    BodyReader, Event, EventKind, FailedOperation, Frame, FrameCutter, FrameError, Handshake, NativeError,
    NativeService, NextFrame, ProtocolVersion, Reply, RequestCode, SegmentCodec, SegmentError, open_body,
};
use crate::schema::SchemaChange;
use crate::util::limits::{
    HANDSHAKE_BYTES_MAX, IDLE_BUFFER_BYTES_MAX, NATIVE_FRAME_BYTES_MAX, NATIVE_REQUESTS_MAX,
    REPLY_BYTES_BEFORE_FLUSH,
};

/// Why a connection ends before its client ends it.
#[derive(Debug, thiserror::Error)]
pub enum NativeConnectionError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Segment(#[from] SegmentError),
    #[error("the client reads too slowly for the events that it has registered for, and has missed some")]
    Behind,
}

impl NativeConnectionError {
    /// The last words to a client whose bytes cannot be read any more: a stream, and the reason.
    fn last_words(&self) -> Option<(i16, NativeError)> {
        let protocol = |stream, why: String| Some((stream, NativeError::protocol(why)));
        match self {
            NativeConnectionError::Frame(error @ FrameError::OtherVersion { stream, .. }) => {
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

    /// Whether the client may still be sent something.
    fn leaves_time_for_a_reply(&self) -> bool {
        !matches!(self, NativeConnectionError::Link(error) if !error.leaves_time_for_a_reply())
    }
}

impl From<NativeConnectionError> for ConnectionEnd {
    fn from(error: NativeConnectionError) -> ConnectionEnd {
        match error {
            NativeConnectionError::Link(LinkError::Io(error)) => ConnectionEnd::Lost(error),
            NativeConnectionError::Frame(FrameError::Version { .. }) => {
                ConnectionEnd::OtherVersion(error.into())
            }
            error => ConnectionEnd::Closed(error.into()),
        }
    }
}

impl ConnectionHandler for NativeService {
    async fn serve(self, client: Client) -> Result<(), ConnectionEnd> {
        Ok(NativeConnection::new(client, self).serve().await?)
    }
}

type Answering = Pin<Box<dyn Future<Output = NativeReply> + Send>>;

/// What a connection waits for.
enum ConnectionEvent {
    NativeReply(NativeReply),
    Written,
    /// There is memory for what the connection holds.
    Fitted,
    Read(usize),
    Changed(Arc<[SchemaChange]>),
    /// The schema has changed more often than could be told.
    Missed,
    Ending,
}

/// A client's connection.
struct NativeConnection {
    link: ClientLink,
    address: SocketAddr,
    service: NativeService,
    handshake: Handshake,
    cutter: FrameCutter,
    /// From the answer to STARTUP on, in version 5.
    segments: Option<SegmentCodec>,
    /// What has come, in segments or not.
    input: BytesMut,
    /// What was in segments.
    frames: BytesMut,
    /// Frames of ours that are in no segment yet.
    replies: BytesMut,
    /// What is being sent.
    output: BytesMut,
    /// Something has been written that the stream may still keep.
    needs_flush: bool,
    answering: FuturesUnordered<Answering>,
    /// Bytes of the requests that are being answered.
    asked_bytes: usize,
    changes: Option<broadcast::Receiver<Arc<[SchemaChange]>>>,
    /// What the connection holds is more than its share of memory: it does not read until the share has grown.
    is_short: bool,
    reply_shares: Arc<ReplyShares>,
    shutdown: ShutdownSignal,
    busy_poll: BusyPoll,
    is_ending: bool,
}

impl NativeConnection {
    fn new(client: Client, service: NativeService) -> NativeConnection {
        let Client { stream, peer, place, limits, budget, shutdown, local: address, busy_poll } = client;
        let give_way = place.give_way().clone();
        let share = budget.share(&give_way);
        let mut cutter = FrameCutter::up_to(service.highest_version());
        cutter.refuse_above(HANDSHAKE_BYTES_MAX);
        NativeConnection {
            link: ClientLink::new(stream, limits, place, share).with_handshake(),
            address,
            cutter,
            service: service.reached_at(address),
            handshake: Handshake::new(peer.ip()),
            segments: None,
            input: BytesMut::with_capacity(BUFFER_BYTES),
            frames: BytesMut::new(),
            replies: BytesMut::new(),
            output: BytesMut::with_capacity(BUFFER_BYTES),
            needs_flush: false,
            answering: FuturesUnordered::new(),
            asked_bytes: 0,
            changes: None,
            is_short: false,
            reply_shares: Arc::new(ReplyShares { budget, give_way }),
            shutdown,
            busy_poll,
            is_ending: false,
        }
    }

    /// Serves the connection until the client closes it, it breaks, or the server ends. What has been read whole is
    /// answered first.
    async fn serve(mut self) -> Result<(), NativeConnectionError> {
        let end = self.converse().await;
        let told = match &end {
            Err(error) if !error.leaves_time_for_a_reply() => Ok(()),
            Err(error) => {
                self.tell_end(error);
                self.send_all().await
            }
            Ok(()) => self.send_all().await,
        };
        let is_sent = self.output.is_empty();
        for buffer in [&mut self.input, &mut self.frames, &mut self.replies, &mut self.output] {
            *buffer = BytesMut::new();
        }
        self.link.share.try_hold(0);
        // What has begun to write is done to its end, as if the client had waited for it; reads end soon.
        self.handshake.identity.client.leaves();
        while self.answering.next().await.is_some() {}
        if is_sent {
            self.link.close().await;
        } else {
            self.link.reset();
        }
        end.and(told.map_err(NativeConnectionError::from))
    }

    async fn converse(&mut self) -> Result<(), NativeConnectionError> {
        let mut end = Ok(());
        loop {
            if end.is_ok() {
                match self.take_frames().await {
                    // What came before is answered all the same.
                    Err(error) if error.last_words().is_some() => {
                        self.is_ending = true;
                        end = Err(error);
                    }
                    taken => taken?,
                }
            }
            self.fill_output();
            if self.is_ending && self.answering.is_empty() && self.output.is_empty() && !self.needs_flush {
                return end;
            }
            self.fit();
            let happened = match self.wait().await {
                Err(NativeConnectionError::Link(LinkError::Full(full))) => {
                    self.give_up(LinkError::Full(full)).await?;
                    continue;
                }
                happened => happened?,
            };
            match happened {
                ConnectionEvent::NativeReply(answered) => self.push_answers(answered),
                ConnectionEvent::Written | ConnectionEvent::Fitted => {}
                ConnectionEvent::Read(0) => {
                    self.is_ending = true;
                    self.handshake.identity.client.stops_sending();
                }
                ConnectionEvent::Read(_) => self.busy_poll.note_request(),
                ConnectionEvent::Changed(changes) => {
                    changes.iter().for_each(|change| self.push_event(&Event::Schema(change.clone())));
                }
                ConnectionEvent::Missed => return Err(NativeConnectionError::Behind),
                ConnectionEvent::Ending => {
                    self.is_ending = true;
                    self.push_event(&Event::Down(self.address.ip(), self.address.port()));
                }
            }
        }
    }

    /// Memory that the connection takes beside what it reads into.
    fn held_beside_input(&self) -> HeldBytes {
        HeldBytes {
            received: self.frames.capacity() + self.asked_bytes,
            replies: self.replies.capacity() + self.output.capacity(),
        }
    }

    /// Memory that the connection takes, as the budget counts it.
    fn held(&self) -> usize {
        self.link.counted(self.held_beside_input().with_received(self.input.capacity()))
    }

    /// Makes the share of memory fit what the connection holds.
    fn fit(&mut self) {
        self.give_back();
        let held = self.held();
        self.is_short = !self.link.share.try_hold(held);
    }

    /// Refuses the request that has begun, if there is no memory for it and its header has come. Where none has begun, what
    /// is being answered gives memory back, and the next answer is waited for: a connection that alone holds more than there
    /// is finds that out without waiting, and would ask again and again. Other errors end the connection.
    async fn give_up(&mut self, error: LinkError) -> Result<(), NativeConnectionError> {
        let source = if self.segments.is_some() { &mut self.frames } else { &mut self.input };
        let Some(stream) = self.cutter.give_up(source) else {
            let Some(answered) = self.answering.next().await else { return Err(error.into()) };
            self.push_answers(answered);
            return Ok(());
        };
        let version = self.cutter.version();
        let error = db::Error::Overloaded(error.to_string()).into();
        self.push(Reply::error(stream, &error, FailedOperation::default(), version));
        Ok(())
    }

    /// Whether more answers may be made before some are sent.
    fn has_room(&self) -> bool {
        self.output.len() + self.replies.len() < REPLY_BYTES_BEFORE_FLUSH
    }

    /// Waits for the next thing to happen. Answers that are ready come first, so that they are sent together.
    async fn wait(&mut self) -> Result<ConnectionEvent, NativeConnectionError> {
        let has_room = self.has_room();
        let others = self.held_beside_input();
        let expected = self.expected();
        let may_read = has_room && !self.is_ending && self.answering.len() < NATIVE_REQUESTS_MAX;
        // They go on when their answers have to wait, too: others may wait for what they hold.
        let may_answer = !self.answering.is_empty();
        let has_output = !self.output.is_empty() || self.needs_flush;
        self.link.share.wait_for_client(None);
        if has_output || !may_read {
            self.link.end_message();
        }
        // A client that does not read its answers is not asked for more requests.
        let moving = async {
            if has_output {
                self.needs_flush = true;
                let_others_go_first().await;
                send(&mut self.link, &mut self.output).await?;
                self.needs_flush = false;
                return Ok(ConnectionEvent::Written);
            }
            if self.is_short {
                let held = self.link.counted(others.with_received(self.input.capacity()));
                self.link.hold(held).await?;
                return Ok(ConnectionEvent::Fitted);
            }
            let begun = self.cutter.begun(&self.input).filter(|_| self.segments.is_none());
            let missing = begun.map_or(BUFFER_BYTES, |(_, missing)| missing);
            self.link.make_room(&mut self.input, missing, others).await?;
            self.link.receive(&mut self.input, expected).await.map(ConnectionEvent::Read)
        };
        tokio::select! {
            biased;
            Some(answered) = self.answering.next(), if may_answer => Ok(ConnectionEvent::NativeReply(answered)),
            moved = moving, if has_output || may_read => moved.map_err(NativeConnectionError::Link),
            change = next_change(&mut self.changes), if has_room => {
                Ok(change.map_or(ConnectionEvent::Missed, ConnectionEvent::Changed))
            }
            () = self.shutdown.told(), if !self.is_ending => Ok(ConnectionEvent::Ending),
        }
    }

    /// What the client sends next.
    fn expected(&self) -> Expected {
        let is_within = self.segments.is_some() && !self.frames.is_empty();
        if is_within || self.cutter.is_within_frame(&self.input) {
            return Expected::Rest;
        }
        // A client that has registered for events waits for them, and one that has asked for its answer.
        let may_be_silent = self.changes.is_some() || !self.answering.is_empty();
        if may_be_silent { Expected::MessageAtAnyTime } else { Expected::Message }
    }

    /// Takes up what has come whole, as far as there is room for answers.
    async fn take_frames(&mut self) -> Result<(), NativeConnectionError> {
        while self.answering.len() < NATIVE_REQUESTS_MAX && self.has_room() {
            if let Some(codec) = self.segments {
                while codec.take(&mut self.input, &mut self.frames)? {}
            }
            let source = if self.segments.is_some() { &mut self.frames } else { &mut self.input };
            match self.cutter.next_frame(source)? {
                NextFrame::Incomplete => return Ok(()),
                NextFrame::Frame(frame) => {
                    if frame.body.len() > IDLE_BUFFER_BYTES_MAX && source.len() <= BUFFER_BYTES {
                        // The buffer would keep the memory of the frame.
                        *source = BytesMut::from(&source[..]);
                    }
                    self.link.end_message();
                    self.take_up(frame).await;
                }
                NextFrame::TooLong { version, stream, length } => {
                    let error = NativeError::longer(length, self.cutter.bytes_max());
                    self.push(Reply::error(stream, &error, FailedOperation::default(), version));
                }
            }
        }
        Ok(())
    }

    /// Answers a frame, or begins to.
    async fn take_up(&mut self, frame: Frame) {
        let (version, stream, flags) = (frame.version, frame.stream, frame.flags);
        let (code, body) = match self.open(&frame) {
            Ok(opened) => opened,
            Err(error) => {
                self.push(Reply::error(stream, &error, FailedOperation::default(), version));
                return;
            }
        };
        // One that was packed is not kept beside what was in it.
        drop(frame);
        if !code.has_statement() {
            let reply = self.handshake.answer(&self.service, code, stream, body).await;
            self.push(reply);
            self.follow(version);
            return;
        }
        self.asked_bytes += body.bytes_left();
        let (service, identity) = (self.service.clone(), self.handshake.identity.clone());
        let request = NativeRequest { service, identity, code, stream, flags, body };
        self.answering.push(Box::pin(request.answer_within(self.reply_shares.clone())));
    }

    /// What a frame is, and its body, if it may come here and now.
    fn open(&self, frame: &Frame) -> Result<(RequestCode, BodyReader), NativeError> {
        let unknown = || NativeError::protocol(format!("Unknown opcode {}", frame.opcode));
        let code = RequestCode::of_number(frame.opcode).ok_or_else(unknown)?;
        self.handshake.check(code, frame.version)?;
        let bytes_max = if code.has_statement() { NATIVE_FRAME_BYTES_MAX } else { HANDSHAKE_BYTES_MAX };
        Ok((code, open_body(frame, self.handshake.compression, bytes_max)?))
    }

    /// Does what the handshake has decided.
    fn follow(&mut self, version: ProtocolVersion) {
        if self.handshake.is_ready() {
            self.link.prove();
            self.cutter.refuse_above(NATIVE_FRAME_BYTES_MAX);
        }
        if version.has_segments() && self.segments.is_none() && self.handshake.has_started() {
            // The answer to STARTUP is the last that is in no segment.
            self.fill_output();
            self.segments = Some(SegmentCodec { is_compressed: self.handshake.compression.is_some() });
        }
        if self.changes.is_none() && self.handshake.registered.contains(&EventKind::Schema) {
            self.changes = Some(self.service.database.schema_events());
        }
    }

    /// Takes an answer, and those that are ready as well: they are sent together.
    fn push_answers(&mut self, answered: NativeReply) {
        let mut next = Some(answered);
        while let Some(NativeReply { asked_bytes, reply, share }) = next {
            self.asked_bytes = self.asked_bytes.saturating_sub(asked_bytes);
            self.push(reply);
            if let Some(share) = share {
                self.link.share.absorb(share);
            }
            next = if self.has_room() { self.answering.next().now_or_never().flatten() } else { None };
        }
    }

    fn push(&mut self, reply: Reply) {
        let version = self.cutter.version();
        reply.write(version, self.handshake.compression, &mut self.replies);
    }

    fn push_event(&mut self, event: &Event) {
        if self.handshake.registered.contains(&event.kind()) {
            let version = self.cutter.version();
            self.push(Reply::event(event, version));
        }
    }

    /// The last words to a client whose frames cannot be read. One that speaks a version that is too high learns from
    /// the header which would do.
    fn tell_end(&mut self, error: &NativeConnectionError) {
        let Some((stream, error)) = error.last_words() else { return };
        let version = self.cutter.version();
        self.push(Reply::error(stream, &error, FailedOperation::default(), version));
        self.fill_output();
    }

    /// Moves replies to what is being sent.
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

    /// Lets go of buffers that large messages have left behind.
    fn give_back(&mut self) {
        let bytes_max = self.link.place.free_bytes();
        for buffer in [&mut self.input, &mut self.frames, &mut self.replies, &mut self.output] {
            give_back(buffer, bytes_max);
        }
    }
}

/// Sends what there is; what has been sent is taken off, even where this is not waited for to its end.
async fn send(link: &mut ClientLink, output: &mut BytesMut) -> Result<(), LinkError> {
    while !output.is_empty() {
        let sent = link.send_some(output).await?;
        output.advance(sent);
    }
    link.flush().await
}

/// The next change of the schema; `None` where some were missed. Never returns for those that want none.
async fn next_change(
    changes: &mut Option<broadcast::Receiver<Arc<[SchemaChange]>>>,
) -> Option<Arc<[SchemaChange]>> {
    match changes {
        Some(changes) => changes.recv().await.ok(),
        None => std::future::pending().await,
    }
}
