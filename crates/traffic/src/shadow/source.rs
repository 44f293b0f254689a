//! The thread that decodes the bytes that pass the relay, and selects the calls for the candidate.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;

use super::super::call::{Call, Conversation, PreparedTexts};
use super::super::record::{Decoder, PendingChunks, TapQueue};
use super::super::report::{CallOutcome, ComparedCall};
use super::super::{Event, EventKind};
use super::selection::{BY_QUEUE, CallSelection, NOT_READ};
use super::status::ShadowState;
use crate::event::host_of;

/// The interval at which the thread takes the bytes that have passed.
const PERIOD: Duration = Duration::from_millis(5);

/// Starts the thread. It ends after the last tap of a queue that was ended.
pub(super) fn start(
    queue: TapQueue,
    state: Arc<ShadowState>,
    selection: CallSelection,
) -> io::Result<JoinHandle<()>> {
    let source = CallSource {
        state,
        selection,
        decoder: Decoder::default(),
        connections: HashMap::new(),
        prepared: PreparedTexts::default(),
    };
    std::thread::Builder::new().name("shadow".to_owned()).spawn(move || source.run(&queue))
}

struct CallSource {
    state: Arc<ShadowState>,
    selection: CallSelection,
    decoder: Decoder,
    connections: HashMap<u64, ShadowedConnection>,
    prepared: PreparedTexts,
}

struct ShadowedConnection {
    conversation: Conversation,
    client: String,
    /// Calls without a reply.
    open: HashMap<u64, UnansweredCall>,
}

struct UnansweredCall {
    call: Call,
    at_us: i64,
    /// Why the call is not sent to the candidate; `None` if it is.
    refusal: Option<&'static str>,
}

impl CallSource {
    fn run(mut self, queue: &TapQueue) {
        let (mut pending, mut events) = (PendingChunks::default(), Vec::new());
        loop {
            pending.clear();
            queue.take(&mut pending, PERIOD);
            for chunk in &pending.chunks {
                self.decoder.decode(chunk, &pending.bytes, &mut events);
                for event in events.drain(..) {
                    if self.is_sent(&event) {
                        self.state.backlog.push(event);
                    }
                }
            }
            if pending.is_last {
                return self.state.backlog.end();
            }
        }
    }

    /// Returns whether the candidate gets an event. Calls that it does not get are added to the report here.
    fn is_sent(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::Opened { protocol, client, .. } => {
                let (conversation, client) = (Conversation::new(*protocol), host_of(client).to_owned());
                let opened = ShadowedConnection { conversation, client, open: HashMap::new() };
                self.connections.insert(event.connection, opened);
                true
            }
            EventKind::Request { call, message } => self.is_sent_request(event, *call, message),
            EventKind::Reply { call, message } => self.is_sent_reply(event, *call, message),
            EventKind::Closed { .. } => {
                if let Some(closed) = self.connections.remove(&event.connection) {
                    for (number, open) in closed.open {
                        self.add_refused(number, &open, &closed.client, None);
                    }
                }
                true
            }
            EventKind::Pushed { .. } | EventKind::Lost(_) => true,
        }
    }

    fn is_sent_request(&mut self, event: &Event, number: u64, message: &Bytes) -> bool {
        let Some(known) = self.connections.get_mut(&event.connection) else { return true };
        // The replay counts messages that cannot be decoded.
        let Ok(call) = known.conversation.request(message, &self.prepared) else { return true };
        let refusal = self.selection.refusal(call.effect, self.state.backlog.has_room());
        let is_oneway = call.is_oneway();
        let open = UnansweredCall { call, at_us: event.at_us, refusal };
        if !is_oneway {
            known.open.insert(number, open);
        } else if refusal.is_some() {
            let client = known.client.clone();
            self.add_refused(number, &open, &client, None);
        }
        refusal.is_none()
    }

    fn is_sent_reply(&mut self, event: &Event, number: u64, message: &Bytes) -> bool {
        let Some(known) = self.connections.get_mut(&event.connection) else { return true };
        let Some(open) = known.open.remove(&number) else { return true };
        // The connection learns nothing from a reply that cannot be decoded.
        let _ = known.conversation.reply(&open.call, message, &mut self.prepared);
        if open.refusal.is_none() {
            return true;
        }
        let (client, latency) = (known.client.clone(), event.at_us.saturating_sub(open.at_us));
        self.add_refused(number, &open, &client, u64::try_from(latency).ok());
        false
    }

    /// Counts a call that the candidate does not get.
    fn add_refused(&self, number: u64, open: &UnansweredCall, client: &str, recorded_us: Option<u64>) {
        let Some(reason) = open.refusal else { return };
        let outcome = match reason {
            // The queue counts it.
            BY_QUEUE => return,
            // The candidate gets its writes elsewhere, or needs none.
            NOT_READ => CallOutcome::NotCompared(reason),
            _ => CallOutcome::NotSent(reason),
        };
        let call = open.call.compared(number, open.at_us, client);
        self.state.report.add(&ComparedCall { recorded_us, outcome, ..call });
    }
}
