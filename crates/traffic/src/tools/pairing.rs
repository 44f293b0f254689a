//! The calls of a recording, each with its reply.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::super::call::{Answer, Call, Conversation, PreparedTexts};
use super::super::{Event, EventKind, Loss, Protocol};
use crate::limits::RECORDING_OPEN_CALLS_MAX;

/// A decoded call of a recording.
#[derive(Debug)]
pub struct PairedCall {
    /// Its number in the recording.
    pub number: u64,
    /// The number of its connection in the recording.
    pub connection: u64,
    /// The protocol of the connection.
    pub protocol: Protocol,
    /// The address of the client.
    pub client: Arc<str>,
    /// When the request passed, in microseconds since 1970.
    pub at_us: i64,
    /// The request, decoded.
    pub call: Call,
    /// The reply, and when it passed. `None` if the recording has none.
    pub reply: Option<(Answer, i64)>,
}

impl PairedCall {
    /// Returns how long the answer took, in microseconds.
    pub fn latency_us(&self) -> Option<u64> {
        let (_, at_us) = self.reply.as_ref()?;
        Some(u64::try_from(at_us - self.at_us).unwrap_or(0))
    }

    /// Returns whether the answer is an exception.
    pub fn has_failed(&self) -> bool {
        self.reply.as_ref().is_some_and(|(answer, _)| answer.is_exception())
    }
}

/// Pairs requests with replies. Events must be passed in their order.
#[derive(Debug, Default)]
pub struct Pairing {
    connections: HashMap<u64, PairedConnection>,
    prepared: PreparedTexts,
    /// Calls without a reply so far.
    open: BTreeMap<u64, PairedCall>,
    /// Messages that could not be decoded, or whose connection is unknown.
    unreadable: u64,
    losses: Vec<Loss>,
}

#[derive(Debug)]
struct PairedConnection {
    conversation: Conversation,
    client: Arc<str>,
}

impl Pairing {
    /// Takes the next event, and returns the calls that have ended with it. A call without a reply ends with its
    /// connection.
    pub fn take(&mut self, event: Event) -> Vec<PairedCall> {
        let Event { at_us, connection, kind } = event;
        match kind {
            EventKind::Opened { protocol, client, .. } => {
                self.connections.entry(connection).or_insert_with(|| PairedConnection {
                    conversation: Conversation::new(protocol),
                    client: client.into(),
                });
                Vec::new()
            }
            EventKind::Request { call: number, message } => {
                let Some(of) = self.connections.get_mut(&connection) else {
                    self.unreadable += 1;
                    return Vec::new();
                };
                let Ok(call) = of.conversation.request(&message, &self.prepared) else {
                    self.unreadable += 1;
                    return Vec::new();
                };
                let (protocol, client) = (of.conversation.protocol(), of.client.clone());
                let paired = PairedCall { number, connection, protocol, client, at_us, call, reply: None };
                if paired.call.is_oneway() {
                    return vec![paired];
                }
                self.open.insert(number, paired);
                // The oldest one will hardly be answered any more.
                let has_room = self.open.len() <= RECORDING_OPEN_CALLS_MAX;
                if has_room {
                    Vec::new()
                } else {
                    self.open.pop_first().map(|(_, call)| call).into_iter().collect()
                }
            }
            EventKind::Reply { call, message } => self.reply(call, at_us, &message),
            EventKind::Closed { .. } => {
                self.connections.remove(&connection);
                let of_it =
                    |(number, call): (&u64, &PairedCall)| (call.connection == connection).then_some(*number);
                let numbers: Vec<u64> = self.open.iter().filter_map(of_it).collect();
                numbers.into_iter().filter_map(|number| self.open.remove(&number)).collect()
            }
            EventKind::Lost(loss) => {
                loss.add_to(&mut self.losses);
                Vec::new()
            }
            EventKind::Pushed { .. } => Vec::new(),
        }
    }

    fn reply(&mut self, number: u64, at_us: i64, message: &bytes::Bytes) -> Vec<PairedCall> {
        let Some(mut paired) = self.open.remove(&number) else { return Vec::new() };
        let Some(of) = self.connections.get_mut(&paired.connection) else { return vec![paired] };
        match of.conversation.reply(&paired.call, message, &mut self.prepared) {
            Ok(answer) => paired.reply = Some((answer, at_us)),
            Err(_) => self.unreadable += 1,
        }
        vec![paired]
    }

    /// Returns the calls that have no reply at the end of the recording.
    pub fn finish(&mut self) -> Vec<PairedCall> {
        std::mem::take(&mut self.open).into_values().collect()
    }

    /// Returns the number of messages that could not be decoded, or whose connection is unknown.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Returns the losses of the recorder, by reason.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}
