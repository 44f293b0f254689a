//! Turns the bytes of connections into events.
//!
//! The first bytes of a client show the protocol of its connection. From then on, the bytes of each side are cut into
//! messages, and replies are paired with requests: in Thrift by their order, in the native protocol by the number of
//! their stream.
//!
//! After a gap, the place of the next message is unknown. Then bytes are dropped until those that arrive together begin
//! like a message, which is soon: clients send a request at once, and wait for its reply. Calls from before the gap stay
//! without a reply.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod connection;
mod native;
mod prepared_kinds;
mod replies;
mod secrets;
#[cfg(test)]
mod tests;
mod thrift;

use std::collections::HashMap;

pub(super) use connection::{Unreadable, protocol_of};
pub(super) use native::{compression_of, decompressed, read_head};

use connection::{FoundEvents, RecordedConnection, SharedCalls};

use super::queue::{Chunk, ChunkKind};
use crate::limits::RECORDER_PARTIAL_BYTES_MAX;
use crate::{Event, EventKind, Loss, LossReason};

/// Decodes the connections of a recorder.
#[derive(Debug, Default)]
pub struct Decoder {
    connections: HashMap<u64, RecordedConnection>,
    shared: SharedCalls,
    /// Bytes of messages that have arrived in part, of all connections.
    partial_bytes: usize,
}

impl Decoder {
    /// Returns whether the protocol of a connection is known, but its bytes could not be decoded from some place on.
    pub(crate) fn has_lost_track(&self, connection: u64) -> bool {
        self.connections.get(&connection).is_some_and(RecordedConnection::has_lost_track)
    }

    /// Returns whether the server's bytes of a connection so far end with a whole message.
    pub(crate) fn is_between_replies(&self, connection: u64) -> bool {
        self.connections.get(&connection).is_some_and(RecordedConnection::is_between_replies)
    }

    /// Appends the losses of a chunk's connection that are not among its events yet, which come with the next ones.
    pub(crate) fn report_losses(&mut self, chunk: &Chunk, events: &mut Vec<Event>) {
        let Some(connection) = self.connections.get_mut(&chunk.connection) else { return };
        let mut found = FoundEvents::default();
        connection.report_losses(&mut found);
        let event = |kind| Event { at_us: chunk.at_us, connection: chunk.connection, kind };
        events.extend(found.kinds.into_iter().map(event));
    }

    /// Decodes the next chunk and appends its events. `buffer` has the bytes of the chunk.
    pub fn decode(&mut self, chunk: &Chunk, buffer: &[u8], events: &mut Vec<Event>) {
        let event = |kind| Event { at_us: chunk.at_us, connection: chunk.connection, kind };
        if let ChunkKind::Opened { client, upstream } = &chunk.kind {
            self.connections.insert(chunk.connection, RecordedConnection::new(*client, upstream.clone()));
            return;
        }
        let Some(connection) = self.connections.get_mut(&chunk.connection) else { return };
        let before = connection.partial_bytes();
        let mut found = FoundEvents::default();
        match &chunk.kind {
            ChunkKind::Opened { .. } => {}
            ChunkKind::Bytes { from, at } => {
                let bytes = buffer.get(at.clone()).unwrap_or_default();
                connection.take(*from, bytes, &mut self.shared, &mut found);
            }
            ChunkKind::Gap { from, bytes } => connection.gap(*from, *bytes),
            ChunkKind::Closed { by } => connection.close(*by, &mut found),
        }
        self.partial_bytes = (self.partial_bytes + connection.partial_bytes()).saturating_sub(before);
        if self.partial_bytes > RECORDER_PARTIAL_BYTES_MAX {
            self.partial_bytes -= connection.partial_bytes();
            connection.forget(LossReason::TooLong);
        }
        events.extend(found.kinds.into_iter().map(event));
        if let ChunkKind::Closed { .. } = chunk.kind
            && let Some(closed) = self.connections.remove(&chunk.connection)
        {
            self.partial_bytes = self.partial_bytes.saturating_sub(closed.partial_bytes());
        }
    }
}

impl FoundEvents {
    /// Adds a loss of messages or bytes.
    fn add_loss(&mut self, loss: Loss) {
        if loss.messages > 0 || loss.bytes > 0 {
            self.kinds.push(EventKind::Lost(loss));
        }
    }
}
