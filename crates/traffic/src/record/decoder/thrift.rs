//! The two sides of a Thrift connection.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::connection::{Outputs, Unreadable};
use super::replies;
use super::secrets::{CallSecrets, hide_in_thrift};
use crate::file::thrift_id_of_reply;
use crate::limits::{RECORDED_MESSAGE_BYTES_MAX, RECORDER_OPEN_CALLS_MAX};
use crate::{LossReason, Side};
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::frame::{Detection, FrameError, MessageCutter, NextMessage, Transport, detect};
use wire::thrift::{MessageHeader, MessageKind, Reader, WireError};

/// Both sides, and the calls without a reply.
#[derive(Debug)]
pub(super) struct ThriftStreams {
    transport: Transport,
    client: ThriftHalf,
    server: ThriftHalf,
    open: VecDeque<ThriftOpenCall>,
}

/// A call that waits for its reply. Replies come in the order of the calls.
#[derive(Debug)]
struct ThriftOpenCall {
    /// Why the request was not recorded: then the reply is not, either.
    call: Result<u64, LossReason>,
    name: Bytes,
    seqid: i32,
    secrets: CallSecrets,
}

/// The bytes of one side.
#[derive(Debug)]
struct ThriftHalf {
    buffer: BytesMut,
    cutter: MessageCutter,
    /// Whether the start of the next message is unknown.
    is_lost: bool,
}

impl ThriftHalf {
    fn new(transport: Transport) -> ThriftHalf {
        let mut cutter = MessageCutter::new(transport, MESSAGE_BYTES_MAX);
        cutter.refuse_above(RECORDED_MESSAGE_BYTES_MAX);
        ThriftHalf { buffer: BytesMut::new(), cutter, is_lost: false }
    }

    /// Forgets what has arrived in part.
    fn lose(&mut self) {
        *self = ThriftHalf { is_lost: true, ..ThriftHalf::new(self.cutter.transport()) };
    }
}

impl ThriftStreams {
    pub(super) fn new(transport: Transport) -> ThriftStreams {
        let (client, server) = (ThriftHalf::new(transport), ThriftHalf::new(transport));
        ThriftStreams { transport, client, server, open: VecDeque::new() }
    }

    pub(super) fn partial_bytes(&self) -> usize {
        self.client.buffer.len() + self.server.buffer.len()
    }

    pub(super) fn gap(&mut self, from: Side) {
        // Replies to calls before the gap can no longer be told from others.
        self.open.clear();
        self.server.lose();
        if from == Side::Client {
            self.client.lose();
        }
    }

    pub(super) fn take(
        &mut self,
        from: Side,
        bytes: &[u8],
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Unreadable> {
        if !self.is_found(from, bytes) {
            outputs.losses.add(LossReason::Behind, 0, bytes.len() as u64);
            return Ok(());
        }
        let half = if from == Side::Client { &mut self.client } else { &mut self.server };
        half.is_lost = false;
        half.buffer.extend_from_slice(bytes);
        loop {
            let half = if from == Side::Client { &mut self.client } else { &mut self.server };
            match half.cutter.next_message(&mut half.buffer) {
                Ok(NextMessage::Message(message)) => match from {
                    Side::Client => self.request(message, outputs),
                    Side::Server => self.reply(message, outputs),
                },
                Ok(NextMessage::Needed(_)) => return Ok(()),
                Ok(NextMessage::TooLong { front, length }) => {
                    outputs.losses.add(LossReason::TooLong, 1, length as u64);
                    match from {
                        Side::Client => {
                            self.add_open(Err(LossReason::TooLong), &front, CallSecrets::default())
                        }
                        Side::Server => drop(self.open.pop_front()),
                    }
                }
                Err(FrameError::TooLong { .. } | FrameError::Wire(WireError::MessageTooLong { .. })) => {
                    return Err(Unreadable(LossReason::TooLong));
                }
                Err(_) => return Err(Unreadable(LossReason::Unreadable)),
            }
        }
    }

    /// Returns whether it is known where messages start. After a gap, bytes that begin like a message are one; from the
    /// server, it must be a reply to the first open call.
    fn is_found(&self, from: Side, bytes: &[u8]) -> bool {
        let half = if from == Side::Client { &self.client } else { &self.server };
        if !half.is_lost {
            return true;
        }
        if detect(bytes, MESSAGE_BYTES_MAX) != Detection::Found(self.transport) {
            return false;
        }
        let message = if self.transport == Transport::Framed { bytes.get(4..) } else { Some(bytes) };
        let Some(header) = message.and_then(|rest| MessageHeader::read(&mut Reader::over(rest)).ok()) else {
            return false;
        };
        match from {
            Side::Client => matches!(header.kind, MessageKind::Call | MessageKind::Oneway),
            Side::Server => {
                matches!(header.kind, MessageKind::Reply | MessageKind::Exception)
                    && self
                        .open
                        .front()
                        .is_some_and(|open| open.name == header.name && open.seqid == header.seqid)
            }
        }
    }

    fn request(&mut self, message: Bytes, outputs: &mut Outputs<'_>) {
        let Ok(header) = MessageHeader::read(&mut Reader::new(&message)) else {
            // Servers close such a connection.
            return outputs.losses.add(LossReason::Unreadable, 1, message.len() as u64);
        };
        let hidden = hide_in_thrift(header.name, &message, &outputs.shared.prepared);
        let (call, secrets) = outputs.request(message.clone(), hidden);
        if header.kind != MessageKind::Oneway {
            self.add_open(call, &message, secrets);
        }
    }

    /// Adds a call that will be answered. `front` has the header of its message.
    fn add_open(&mut self, call: Result<u64, LossReason>, front: &Bytes, secrets: CallSecrets) {
        if self.open.len() >= RECORDER_OPEN_CALLS_MAX {
            return self.gap(Side::Client);
        }
        let header = MessageHeader::read(&mut Reader::new(front)).ok();
        let name = header.map_or_else(Bytes::new, |header| front.slice_ref(header.name));
        // A copy, so that the message does not stay in memory.
        let name = Bytes::copy_from_slice(&name);
        let seqid = header.map_or(0, |header| header.seqid);
        self.open.push_back(ThriftOpenCall { call, name, seqid, secrets });
    }

    fn reply(&mut self, message: Bytes, outputs: &mut Outputs<'_>) {
        let Outputs { shared, losses, found } = outputs;
        match self.open.pop_front() {
            Some(ThriftOpenCall { call: Ok(call), name, secrets, .. }) => {
                let start = message.len().min(8);
                // A statement without secrets is remembered, too: an unknown one may have some, and is not recorded.
                if name.starts_with(b"prepare_")
                    && let Some(id) = thrift_id_of_reply(&message)
                {
                    shared.prepared.add(id, secrets.kind);
                }
                found.reply(call, replies::hide_in_thrift(message, &secrets, start));
            }
            Some(ThriftOpenCall { call: Err(why), .. }) => losses.add(why, 1, message.len() as u64),
            None => losses.add(LossReason::Behind, 1, message.len() as u64),
        }
    }
}
