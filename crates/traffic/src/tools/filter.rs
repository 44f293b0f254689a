//! Selects calls of a recording.

use std::collections::HashSet;

use super::super::call::{Call, CallEffect, Conversation, PreparedTexts};
use super::super::file::BlockSelection;
use super::super::{Event, EventKind};
use super::PairedCall;

/// The filter of calls. An empty list stands for all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Microseconds since 1970; both ends are included.
    pub from_us: Option<i64>,
    /// The end of the time, as `from_us`.
    pub until_us: Option<i64>,
    /// Numbers of connections in the recording.
    pub connections: Vec<u64>,
    /// Thrift methods, or first words of CQL statements, in any case.
    pub methods: Vec<String>,
    /// `FAMILY` or `KEYSPACE.FAMILY`.
    pub families: Vec<String>,
    /// Addresses of clients, or the beginnings of addresses.
    pub clients: Vec<String>,
    /// Whether only calls that ended with an exception are wanted.
    pub only_failed: bool,
}

impl Filter {
    /// Returns whether a call is wanted.
    pub fn wants(&self, paired: &PairedCall) -> bool {
        self.has(paired.at_us, paired.connection, &paired.client)
            && self.has_call(&paired.call)
            && (!self.only_failed || paired.has_failed())
    }

    fn has(&self, at_us: i64, connection: u64, client: &str) -> bool {
        self.from_us.is_none_or(|from| at_us >= from)
            && self.until_us.is_none_or(|until| at_us <= until)
            && self.has_connection(connection, client)
    }

    fn has_connection(&self, connection: u64, client: &str) -> bool {
        (self.connections.is_empty() || self.connections.contains(&connection))
            && (self.clients.is_empty()
                || self.clients.iter().any(|wanted| client.starts_with(wanted.as_str())))
    }

    fn has_call(&self, call: &Call) -> bool {
        let family = call.family.as_deref().unwrap_or_default();
        let is_family = |wanted: &String| match wanted.split_once('.') {
            Some((keyspace, name)) => call.keyspace.as_deref() == Some(keyspace) && name == family,
            None => wanted == family,
        };
        (self.methods.is_empty()
            || self.methods.iter().any(|wanted| wanted.eq_ignore_ascii_case(&call.method)))
            && (self.families.is_empty() || self.families.iter().any(is_family))
    }

    /// Returns the blocks of a recording that may have wanted calls.
    pub fn blocks(&self) -> BlockSelection {
        BlockSelection {
            from_us: self.from_us,
            // A reply may come later than its request.
            until_us: None,
            connections: self.connections.clone(),
            ..BlockSelection::default()
        }
    }
}

/// Selects the events of a recording that make a recording of the wanted calls. Calls that prepare the connection, such as
/// `set_keyspace`, USE and PREPARE, are kept for each connection, so that the result can be replayed.
#[derive(Debug)]
pub struct Kept<'a> {
    filter: &'a Filter,
    connections: std::collections::HashMap<u64, (Conversation, String)>,
    prepared: PreparedTexts,
    /// Calls that are kept and have no reply so far.
    open: HashSet<u64>,
    calls: u64,
}

impl<'a> Kept<'a> {
    /// Begins with the first event of a recording.
    pub fn new(filter: &'a Filter) -> Kept<'a> {
        Kept {
            filter,
            connections: std::collections::HashMap::new(),
            prepared: PreparedTexts::default(),
            open: HashSet::new(),
            calls: 0,
        }
    }

    /// Returns the number of calls that are kept so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns whether an event is kept. Events must be passed in their order.
    pub fn keeps(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::Opened { protocol, client, .. } => {
                let keeps = self.filter.has_connection(event.connection, client);
                if keeps {
                    let opened = || (Conversation::new(*protocol), client.clone());
                    self.connections.entry(event.connection).or_insert_with(opened);
                }
                keeps
            }
            EventKind::Request { call, message } => {
                let Some((conversation, client)) = self.connections.get_mut(&event.connection) else {
                    return false;
                };
                let Ok(decoded) = conversation.request(message, &self.prepared) else { return false };
                let is_wanted =
                    self.filter.has(event.at_us, event.connection, client) && self.filter.has_call(&decoded);
                let keeps = decoded.effect == CallEffect::Session || is_wanted;
                if keeps {
                    self.open.insert(*call);
                    self.calls += 1;
                }
                keeps
            }
            EventKind::Reply { call, .. } => self.open.remove(call),
            EventKind::Closed { .. } => self.connections.remove(&event.connection).is_some(),
            EventKind::Pushed { .. } => self.connections.contains_key(&event.connection),
            EventKind::Lost(_) => true,
        }
    }
}
