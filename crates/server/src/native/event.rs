//! Events, which the server sends to clients that have registered for them.

use std::net::IpAddr;

use cql::{ChangeKind, ChangedTarget, SchemaChange};
use wire::native::{BodyWriter, ProtocolVersion};

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NativeEventKind {
    /// A node joins or leaves. This server never sends it, because it has one node.
    Topology,
    /// A node starts or stops. This server sends only its own stop.
    Status,
    /// A keyspace, table or type is created, changed or dropped.
    Schema,
}

impl NativeEventKind {
    /// Returns the kind with a name, in upper or lower case.
    pub(crate) fn named(name: &str) -> Option<NativeEventKind> {
        match &*name.to_ascii_uppercase() {
            "TOPOLOGY_CHANGE" => Some(NativeEventKind::Topology),
            "STATUS_CHANGE" => Some(NativeEventKind::Status),
            "SCHEMA_CHANGE" => Some(NativeEventKind::Schema),
            _ => None,
        }
    }
}

/// An event.
#[derive(Debug, Clone)]
pub(crate) enum NativeEvent {
    /// The schema has changed.
    Schema(SchemaChange),
    /// The node at this address shuts down.
    Down(IpAddr, u16),
}

impl NativeEvent {
    /// Returns the kind for which a client must have registered to get the event.
    pub(crate) fn kind(&self) -> NativeEventKind {
        match self {
            NativeEvent::Schema(_) => NativeEventKind::Schema,
            NativeEvent::Down(..) => NativeEventKind::Status,
        }
    }

    /// Writes the body of an EVENT frame: the name of the kind, and the event as the version has it.
    pub(crate) fn write(&self, writer: &mut BodyWriter<'_>) {
        match self {
            NativeEvent::Schema(change) => {
                writer.string("SCHEMA_CHANGE");
                write_change(writer, change);
            }
            NativeEvent::Down(address, port) => {
                writer.string("STATUS_CHANGE");
                writer.string("DOWN");
                writer.inet(*address, *port);
            }
        }
    }
}

/// Writes a change of the schema, in a result or an event. Before version 3 a change of a type is written as an update
/// of its keyspace.
pub(super) fn write_change(writer: &mut BodyWriter<'_>, change: &SchemaChange) {
    let kind = match change.change {
        ChangeKind::Created => "CREATED",
        ChangeKind::Updated => "UPDATED",
        ChangeKind::Dropped => "DROPPED",
    };
    if writer.version < ProtocolVersion::V3 {
        let (kind, table) = match &change.target {
            None => (kind, ""),
            Some(ChangedTarget::Table(table)) => (kind, &**table),
            Some(ChangedTarget::Type(_)) => ("UPDATED", ""),
        };
        writer.string(kind);
        writer.string(&change.keyspace);
        writer.string(table);
        return;
    }
    writer.string(kind);
    let (target, name) = match &change.target {
        None => ("KEYSPACE", None),
        Some(ChangedTarget::Table(table)) => ("TABLE", Some(table)),
        Some(ChangedTarget::Type(name)) => ("TYPE", Some(name)),
    };
    writer.string(target);
    writer.string(&change.keyspace);
    if let Some(name) = name {
        writer.string(name);
    }
}
