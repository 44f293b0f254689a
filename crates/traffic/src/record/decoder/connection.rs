//! One connection of the recorder.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::native::NativeStreams;
use super::prepared_kinds::PreparedKinds;
use super::secrets::{CallSecrets, Hidden};
use super::thrift::ThriftStreams;
use crate::{EventKind, Loss, LossReason, Protocol, Side};
use wire::limits::MESSAGE_BYTES_MAX;
use wire::native::{ProtocolVersion, request_opcode};
use wire::thrift::frame::{Detection, Transport, detect};

/// The state that all connections share.
#[derive(Debug, Default)]
pub(super) struct SharedCalls {
    /// The number of the last call.
    last: u64,
    pub prepared: PreparedKinds,
}

impl SharedCalls {
    pub(super) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

/// The events that were found in the bytes of a chunk.
#[derive(Debug, Default)]
pub(super) struct FoundEvents {
    pub kinds: Vec<EventKind>,
}

impl FoundEvents {
    pub(super) fn reply(&mut self, call: u64, message: Bytes) {
        self.kinds.push(EventKind::Reply { call, message });
    }
}

/// The losses since the last event, by reason.
#[derive(Debug, Default)]
pub(super) struct NewLosses {
    losses: Vec<Loss>,
}

impl NewLosses {
    pub(super) fn add(&mut self, why: LossReason, messages: u64, bytes: u64) {
        Loss { messages, bytes, why }.add_to(&mut self.losses);
    }

    pub(super) fn report(&mut self, found: &mut FoundEvents) {
        self.losses.drain(..).for_each(|loss| found.add_loss(loss));
    }
}

/// The places to which decoded messages go: the state of all connections, and the losses and events of their own.
pub(super) struct Outputs<'a> {
    pub shared: &'a mut SharedCalls,
    pub losses: &'a mut NewLosses,
    pub found: &'a mut FoundEvents,
}

impl Outputs<'_> {
    /// Adds a request without its secrets. Returns its call, or why it is not recorded, and the secrets that its reply may
    /// have.
    pub(super) fn request(
        &mut self,
        message: Bytes,
        hidden: Hidden,
    ) -> (Result<u64, LossReason>, CallSecrets) {
        let (shown, secrets) = match hidden {
            Hidden::Nothing => (message, CallSecrets::default()),
            Hidden::Replaced(shown, secrets) => (shown, secrets),
            Hidden::Refused => {
                self.losses.add(LossReason::Secret, 1, message.len() as u64);
                return (Err(LossReason::Secret), CallSecrets::default());
            }
        };
        let call = self.shared.next();
        self.found.kinds.push(EventKind::Request { call, message: shown });
        (Ok(call), secrets)
    }
}

/// Why the rest of a connection cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) struct Unreadable(pub LossReason);

/// A connection: its protocol, and the bytes that are not a whole message yet.
#[derive(Debug)]
pub(super) struct RecordedConnection {
    client: SocketAddr,
    upstream: Arc<str>,
    streams: Streams,
    losses: NewLosses,
    /// Whether `Opened` was recorded.
    is_opened: bool,
}

#[derive(Debug)]
enum Streams {
    /// The client's first bytes.
    Undetected(BytesMut),
    Thrift(Box<ThriftStreams>),
    Native(Box<NativeStreams>),
    /// The bytes cannot be decoded: they are only counted.
    Ignored(LossReason),
}

/// Returns the protocol of a connection by the client's first bytes. `None` if there are too few.
pub(in crate::record) fn protocol_of(first: &[u8]) -> Option<Result<Protocol, Unreadable>> {
    // The first byte of a long Thrift frame can be 1 to 5, too. Then the fifth or sixth byte belongs to a message's
    // header; as an opcode it is neither STARTUP nor OPTIONS, with which native clients begin.
    if let Some(version) = first.first().copied().and_then(ProtocolVersion::of_number) {
        let opcode = *first.get(version.header_bytes() - 5)?;
        if matches!(opcode, request_opcode::STARTUP | request_opcode::OPTIONS) {
            return Some(Ok(Protocol::Native));
        }
    }
    match detect(first, MESSAGE_BYTES_MAX) {
        Detection::Found(transport) => {
            Some(Ok(Protocol::Thrift { is_framed: transport == Transport::Framed }))
        }
        Detection::Needed(_) => None,
        Detection::Refused(_) => Some(Err(Unreadable(LossReason::Unreadable))),
    }
}

impl RecordedConnection {
    pub(super) fn new(client: SocketAddr, upstream: Arc<str>) -> RecordedConnection {
        let streams = Streams::Undetected(BytesMut::new());
        RecordedConnection { client, upstream, streams, losses: NewLosses::default(), is_opened: false }
    }

    /// Decodes bytes of a side.
    pub(super) fn take(
        &mut self,
        from: Side,
        bytes: &[u8],
        shared: &mut SharedCalls,
        found: &mut FoundEvents,
    ) {
        let mut outputs = Outputs { shared, losses: &mut self.losses, found };
        let outcome = match &mut self.streams {
            Streams::Undetected(first) => {
                if from == Side::Server {
                    // No server sends first. These bytes belong to requests that were lost.
                    self.losses.add(LossReason::Behind, 0, bytes.len() as u64);
                    return;
                }
                first.extend_from_slice(bytes);
                let first = first.clone();
                match self.detect(&first, found) {
                    Some(Ok(())) => return self.take(from, &first, shared, found),
                    Some(Err(unreadable)) => {
                        self.losses.add(unreadable.0, 0, first.len() as u64);
                        Err(unreadable)
                    }
                    None => Ok(()),
                }
            }
            Streams::Thrift(streams) => streams.take(from, bytes, &mut outputs),
            Streams::Native(streams) => streams.take(from, bytes, &mut outputs),
            Streams::Ignored(why) => {
                self.losses.add(*why, 0, bytes.len() as u64);
                return;
            }
        };
        if let Err(Unreadable(why)) = outcome {
            self.losses.add(why, 0, self.partial_bytes() as u64);
            self.streams = Streams::Ignored(why);
        }
        if !found.kinds.is_empty() {
            self.losses.report(found);
        }
    }

    /// Detects the protocol from the client's first bytes. `None` if there are too few.
    fn detect(&mut self, first: &[u8], found: &mut FoundEvents) -> Option<Result<(), Unreadable>> {
        let protocol = match protocol_of(first)? {
            Ok(protocol) => protocol,
            Err(unreadable) => return Some(Err(unreadable)),
        };
        self.streams = match protocol {
            Protocol::Native => Streams::Native(Box::default()),
            Protocol::Thrift { is_framed } => {
                Streams::Thrift(Box::new(ThriftStreams::new(Protocol::transport(is_framed))))
            }
        };
        self.open(protocol, found);
        Some(Ok(()))
    }

    fn open(&mut self, protocol: Protocol, found: &mut FoundEvents) {
        if !std::mem::replace(&mut self.is_opened, true) {
            let (client, upstream) = (self.client.to_string(), self.upstream.to_string());
            found.kinds.push(EventKind::Opened { protocol, client, upstream });
        }
    }

    /// Records that bytes of a side are missing.
    pub(super) fn gap(&mut self, from: Side, bytes: u64) {
        let why = match self.streams {
            Streams::Ignored(why) => why,
            _ => LossReason::Behind,
        };
        self.losses.add(why, 0, bytes);
        match &mut self.streams {
            Streams::Undetected(first) => first.clear(),
            Streams::Thrift(streams) => streams.gap(from),
            Streams::Native(streams) => streams.gap(from),
            Streams::Ignored(_) => {}
        }
    }

    /// Drops the bytes of messages that have arrived in part.
    pub(super) fn forget(&mut self, why: LossReason) {
        self.losses.add(why, 0, self.partial_bytes() as u64);
        self.gap(Side::Client, 0);
        self.gap(Side::Server, 0);
    }

    pub(super) fn close(&mut self, by: Side, found: &mut FoundEvents) {
        let rest = self.partial_bytes() as u64;
        if rest > 0 {
            self.losses.add(LossReason::Unreadable, 0, rest);
        }
        self.losses.report(found);
        if self.is_opened {
            found.kinds.push(EventKind::Closed { by });
        }
    }

    /// Returns whether messages were decoded, and later bytes could not be.
    pub(super) fn has_lost_track(&self) -> bool {
        self.is_opened && matches!(self.streams, Streams::Ignored(_))
    }

    pub(super) fn is_between_replies(&self) -> bool {
        matches!(&self.streams, Streams::Native(streams) if streams.is_between_replies())
    }

    pub(super) fn report_losses(&mut self, found: &mut FoundEvents) {
        self.losses.report(found);
    }

    /// Returns the bytes that are not a whole message yet.
    pub(super) fn partial_bytes(&self) -> usize {
        match &self.streams {
            Streams::Undetected(first) => first.len(),
            Streams::Thrift(streams) => streams.partial_bytes(),
            Streams::Native(streams) => streams.partial_bytes(),
            Streams::Ignored(_) => 0,
        }
    }
}
