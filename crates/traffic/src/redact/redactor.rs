//! The events of a recording, redacted.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use super::hashes::Hashes;
use super::{native, thrift};
use crate::native_message::NativeMessage;
use crate::{Event, EventKind, Header, Loss, LossReason, Protocol};

/// The most ids of prepared statements that are known to read the system's tables.
const SYSTEM_IDS_MAX: usize = 10_000;

/// Redacts events one by one. A message that is not understood becomes a loss: no secret stays because of an error.
#[derive(Debug)]
pub struct Redactor {
    hashes: Hashes,
    connections: HashMap<u64, RedactedConnection>,
    /// Prepared statements of the system's tables.
    system_ids: HashSet<Bytes>,
}

#[derive(Debug)]
struct RedactedConnection {
    protocol: Protocol,
    /// Calls whose replies need more than to be redacted.
    open: HashMap<u64, SpecialReply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialReply {
    /// The reply stays as it is.
    OfSystem,
    /// The request was lost, and so is the reply.
    Lost,
}

impl Redactor {
    /// Creates a redactor that replaces data by these hashes.
    pub fn new(hashes: Hashes) -> Redactor {
        Redactor { hashes, connections: HashMap::new(), system_ids: HashSet::new() }
    }

    /// Returns the hashes, once all events have passed.
    pub fn into_hashes(self) -> Hashes {
        self.hashes
    }

    /// Writes the redacted roles into a header. Roles that were redacted before stay there.
    pub fn describe(&self, header: &mut Header) {
        for word in self.hashes.roles().words() {
            if !header.redacted.contains(&word) {
                header.redacted.push(word);
            }
        }
        header.redaction_key = Some(self.hashes.key().fingerprint());
    }

    /// Returns an event without the data of its roles. Events must be passed in their order.
    pub fn redact(&mut self, event: Event) -> Event {
        let Event { at_us, connection, kind } = event;
        let kind = match kind {
            EventKind::Opened { protocol, .. } => {
                self.connections.insert(connection, RedactedConnection { protocol, open: HashMap::new() });
                kind
            }
            EventKind::Request { call, message } => self.request(connection, call, message),
            EventKind::Reply { call, message } => self.reply(connection, call, message),
            EventKind::Closed { .. } => {
                self.connections.remove(&connection);
                kind
            }
            // An EVENT of the native protocol has names of the schema and addresses.
            EventKind::Pushed { .. } | EventKind::Lost(_) => kind,
        };
        Event { at_us, connection, kind }
    }

    fn request(&mut self, connection: u64, call: u64, message: Bytes) -> EventKind {
        let bytes = message.len() as u64;
        let Some(state) = self.connections.get_mut(&connection) else { return lost(bytes) };
        let redacted = match state.protocol {
            Protocol::Thrift { is_framed } => {
                thrift::redacted(&message, Protocol::transport(is_framed), &mut self.hashes)
            }
            Protocol::Native => {
                let ids = &self.system_ids;
                native::request(&message, |id| ids.contains(id), &self.hashes).map(|request| {
                    if request.is_of_system {
                        state.open.insert(call, SpecialReply::OfSystem);
                    }
                    request.frame
                })
            }
        };
        match redacted {
            Some(message) => EventKind::Request { call, message },
            None => {
                state.open.insert(call, SpecialReply::Lost);
                lost(bytes)
            }
        }
    }

    fn reply(&mut self, connection: u64, call: u64, message: Bytes) -> EventKind {
        let bytes = message.len() as u64;
        let Some(state) = self.connections.get_mut(&connection) else { return lost(bytes) };
        let redacted = match (state.open.remove(&call), state.protocol) {
            (Some(SpecialReply::Lost), _) => None,
            (Some(SpecialReply::OfSystem), _) => {
                if let Some(id) = NativeMessage::read(&message).and_then(|message| message.prepared_id())
                    && self.system_ids.len() < SYSTEM_IDS_MAX
                {
                    self.system_ids.insert(Bytes::copy_from_slice(id));
                }
                Some(message)
            }
            (None, Protocol::Thrift { is_framed }) => {
                thrift::redacted(&message, Protocol::transport(is_framed), &mut self.hashes)
            }
            (None, Protocol::Native) => native::reply(&message, &self.hashes),
        };
        redacted.map_or_else(|| lost(bytes), |message| EventKind::Reply { call, message })
    }
}

fn lost(bytes: u64) -> EventKind {
    EventKind::Lost(Loss { messages: 1, bytes, why: LossReason::Secret })
}
