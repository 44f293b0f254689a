//! The method and the column families of each call, for the index of blocks and for filters.
//!
//! Labels are found by a scan of the message that decodes no values, because the recorder labels each call. Replies have
//! the labels of their call.

use std::collections::HashMap;
use std::sync::Arc;

use crate::family_names::{FamilyNames, families_of_statement, family_of_arguments};
use crate::limits::{RECORDING_CONNECTIONS_MAX, RECORDING_OPEN_CALLS_MAX, RECORDING_STATEMENTS_MAX};
use crate::native_message::{FrameStatement, NativeMessage};
use crate::{Event, EventKind, Protocol};
use wire::native::RequestCode;
use wire::thrift::{MessageHeader, Reader, TType};

/// The labels that identify the calls of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallLabels {
    /// The Thrift method, or the name of the native protocol's opcode.
    pub method: Vec<u8>,
    /// The column families, as far as the call names them. Names in CQL 3 are in lower case unless they are quoted.
    pub families: FamilyNames,
}

impl CallLabels {
    /// Returns whether the call prepares a statement, which later calls name by its id only.
    pub fn prepares(&self) -> bool {
        matches!(&self.method[..], b"PREPARE" | b"prepare_cql_query" | b"prepare_cql3_query")
    }
}

/// The labels of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventLabels {
    /// A request or reply of this call.
    Call(Arc<CallLabels>),
    /// A request or reply whose call is unknown.
    Unknown,
    /// The event belongs to no call.
    NoCall,
}

/// Labels the events of a recording, which must be passed in their order.
#[derive(Debug, Default)]
pub struct Labels {
    connections: HashMap<u64, LabelledConnection>,
    open_calls: usize,
    /// The column families of prepared statements by their ids. An id is a hash of the statement, so it is the same on
    /// all connections.
    statements: HashMap<Vec<u8>, FamilyNames>,
}

#[derive(Debug)]
struct LabelledConnection {
    protocol: Protocol,
    /// Calls without a reply so far.
    open: HashMap<u64, Arc<CallLabels>>,
}

impl Labels {
    /// Returns the labels of the next event.
    pub fn of(&mut self, event: &Event) -> EventLabels {
        match &event.kind {
            EventKind::Opened { protocol, .. } => {
                if self.connections.len() < RECORDING_CONNECTIONS_MAX {
                    let connection = self.connections.entry(event.connection);
                    connection.or_insert(LabelledConnection { protocol: *protocol, open: HashMap::new() });
                }
                EventLabels::NoCall
            }
            EventKind::Request { call, message } => self.request(event.connection, *call, message),
            EventKind::Reply { call, message } => self.reply(event.connection, *call, message),
            EventKind::Closed { .. } => {
                if let Some(closed) = self.connections.remove(&event.connection) {
                    self.open_calls -= closed.open.len();
                }
                EventLabels::NoCall
            }
            EventKind::Pushed { .. } | EventKind::Lost(_) => EventLabels::NoCall,
        }
    }

    /// Returns the protocol of an open connection.
    pub fn protocol(&self, connection: u64) -> Option<Protocol> {
        self.connections.get(&connection).map(|connection| connection.protocol)
    }

    fn request(&mut self, connection: u64, call: u64, message: &[u8]) -> EventLabels {
        let Some(protocol) = self.protocol(connection) else { return EventLabels::Unknown };
        let labels = match protocol {
            Protocol::Thrift { .. } => self.labels_of_thrift(message),
            Protocol::Native => self.labels_of_native(message),
        };
        let Some(labels) = labels.map(Arc::new) else { return EventLabels::Unknown };
        if self.open_calls < RECORDING_OPEN_CALLS_MAX
            && let Some(connection) = self.connections.get_mut(&connection)
            && connection.open.insert(call, labels.clone()).is_none()
        {
            self.open_calls += 1;
        }
        EventLabels::Call(labels)
    }

    fn reply(&mut self, connection: u64, call: u64, message: &[u8]) -> EventLabels {
        let Some(connection) = self.connections.get_mut(&connection) else { return EventLabels::Unknown };
        let Some(labels) = connection.open.remove(&call) else { return EventLabels::Unknown };
        self.open_calls -= 1;
        if labels.prepares() && self.statements.len() < RECORDING_STATEMENTS_MAX {
            let id = match connection.protocol {
                Protocol::Native => NativeMessage::read(message).and_then(|reply| reply.prepared_id()),
                Protocol::Thrift { .. } => thrift_id_of_reply(message),
            };
            if let Some(id) = id {
                self.statements.insert(id.to_vec(), labels.families.clone());
            }
        }
        EventLabels::Call(labels)
    }

    fn labels_of_native(&self, message: &[u8]) -> Option<CallLabels> {
        let message = NativeMessage::read(message)?;
        let method = RequestCode::of_number(message.opcode).map(RequestCode::name)?.as_bytes().to_vec();
        let mut families = FamilyNames::default();
        message.statements(|statement| match statement {
            FrameStatement::Text(text) => families_of_statement(text, true, &mut families),
            FrameStatement::Prepared(id) => self.add_families_of_prepared(id, &mut families),
        });
        Some(CallLabels { method, families })
    }

    fn labels_of_thrift(&self, message: &[u8]) -> Option<CallLabels> {
        let mut reader = Reader::over(message);
        let header = MessageHeader::read(&mut reader).ok()?;
        let mut families = FamilyNames::default();
        if matches!(header.name, b"execute_prepared_cql_query" | b"execute_prepared_cql3_query") {
            // The id is argument 1, which clients write first.
            if let Ok(Some((TType::I32, 1))) = reader.field_begin()
                && let Some(id) = message.get(reader.position()..reader.position() + 4)
            {
                self.add_families_of_prepared(id, &mut families);
            }
        } else {
            // Arguments that cannot be read have no names.
            let _ = family_of_arguments(header.name, &mut reader, &mut families);
        }
        Some(CallLabels { method: header.name.to_vec(), families })
    }

    fn add_families_of_prepared(&self, id: &[u8], families: &mut FamilyNames) {
        match self.statements.get(id) {
            Some(known) => known.iter().for_each(|family| families.add(family)),
            None => families.has_others = true,
        }
    }
}

/// Returns the id in the reply to `prepare_cql_query`: field 1 of the struct in field 0.
pub(crate) fn thrift_id_of_reply(message: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::over(message);
    MessageHeader::read(&mut reader).ok()?;
    match reader.field_begin().ok()?? {
        (TType::Struct, 0) => {}
        _ => return None,
    }
    match reader.field_begin().ok()?? {
        (TType::I32, 1) => message.get(reader.position()..reader.position() + 4),
        _ => None,
    }
}
