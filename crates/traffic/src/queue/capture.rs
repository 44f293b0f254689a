//! Appends the writes that pass a relay to a queue, each before its reply reaches the client.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::super::call::{
    Call, CallEffect, Conversation, EXECUTE_PREPARED_OF_THRIFT, NativeRequest, PreparedTexts, Request,
    SessionKeyspace,
};
use super::again::AgainReason;
use super::failure::QueueError;
use super::outcome::{QueuedOutcome, outcome_of};
use super::queued_write::QueuedWrite;
use super::rule::ResendRule;
use super::write_queue::WriteQueue;
use crate::record::{Chunk, ChunkKind, Decoder, now_us};
use crate::{Event, EventKind, LossReason, Side};

/// The connections of a relay whose writes go to a queue.
#[derive(Clone)]
pub struct Capture {
    queue: Arc<WriteQueue>,
    state: Arc<Mutex<CaptureState>>,
}

/// All connections share it: an id of the native protocol may be prepared on one connection and executed on another.
#[derive(Default)]
struct CaptureState {
    decoder: Decoder,
    prepared: PreparedTexts,
    connections: HashMap<u64, CapturedConnection>,
}

struct CapturedConnection {
    conversation: Conversation,
    /// Writes, and calls from which the connection learns, without a reply.
    open: HashMap<u64, (Call, i64)>,
}

/// A connection of a relay. Dropping it queues the writes that had no reply: the server may have applied them.
pub struct CapturedTap {
    capture: Capture,
    connection: u64,
}

impl Capture {
    /// Returns the capture into a queue.
    pub fn new(queue: Arc<WriteQueue>) -> Capture {
        Capture { queue, state: Arc::default() }
    }

    /// Begins a connection. Its number must be new.
    pub fn tap(&self, connection: u64, client: SocketAddr, upstream: Arc<str>) -> CapturedTap {
        let tap = CapturedTap { capture: self.clone(), connection };
        // A new connection has no write.
        let _ = tap.take(ChunkKind::Opened { client, upstream }, &[]);
        tap
    }

    fn append(&self, write: &QueuedWrite) -> Result<(), QueueError> {
        self.queue.append(write)
    }
}

impl CapturedTap {
    /// Takes bytes that a side has sent, before they are passed on. Returns once the writes whose replies are in them are in
    /// the queue.
    ///
    /// # Errors
    ///
    /// If the disk fails. Then the bytes must not be passed on.
    pub fn pass(&self, from: Side, bytes: &[u8]) -> Result<(), QueueError> {
        self.take(ChunkKind::Bytes { from, at: 0..bytes.len() }, bytes)
    }

    /// Returns the id of a prepared statement that the proxy does not know, because it was prepared before the proxy was
    /// started, or has been forgotten. Nobody knows whether its execution is a write. `None` if the replies of the server cannot
    /// be decoded: then no other reply can be put between them.
    pub(crate) fn unknown_id(&self, request: &NativeRequest) -> Option<Bytes> {
        let state = self.capture.state.lock();
        let is_decoded = !state.decoder.has_lost_track(self.connection);
        let mut ids = request.prepared_ids().map(|id| &id.bytes).filter(|_| is_decoded);
        ids.find(|id| state.prepared.get(id).is_none()).cloned()
    }

    /// Returns whether the bytes of the server that were passed so far end with a whole message.
    pub(crate) fn is_between_replies(&self) -> bool {
        self.capture.state.lock().decoder.is_between_replies(self.connection)
    }

    /// Returns whether writes without a reply are known.
    pub fn has_open_calls(&self) -> bool {
        let state = self.capture.state.lock();
        state.connections.get(&self.connection).is_some_and(|connection| !connection.open.is_empty())
    }

    fn take(&self, kind: ChunkKind, bytes: &[u8]) -> Result<(), QueueError> {
        let chunk = Chunk { at_us: now_us(), connection: self.connection, kind };
        let mut events = Vec::new();
        let mut state = self.capture.state.lock();
        if matches!(chunk.kind, ChunkKind::Closed { .. }) && state.decoder.has_lost_track(self.connection) {
            // Bytes after those that could not be decoded were passed on, and may be writes.
            self.capture.queue.add_again("", AgainReason::NotSendable, "", chunk.at_us)?;
        }
        state.decoder.decode(&chunk, bytes, &mut events);
        // A reply to a message that could not be decoded may follow in these bytes, and its write must be listed before.
        state.decoder.report_losses(&chunk, &mut events);
        events.into_iter().try_for_each(|event| state.take(&self.capture, event))
    }
}

impl Drop for CapturedTap {
    fn drop(&mut self) {
        if let Err(error) = self.take(ChunkKind::Closed { by: Side::Client }, &[]) {
            tracing::error!("writes of a connection that was lost are not in the queue: {error}");
        }
    }
}

impl CaptureState {
    fn take(&mut self, capture: &Capture, event: Event) -> Result<(), QueueError> {
        let Event { at_us, connection, kind } = event;
        match kind {
            EventKind::Opened { protocol, .. } => {
                let conversation = Conversation::new(protocol);
                self.connections
                    .insert(connection, CapturedConnection { conversation, open: HashMap::new() });
                Ok(())
            }
            EventKind::Request { call, message } => self.request(capture, connection, call, at_us, &message),
            EventKind::Reply { call, message } => self.reply(capture, connection, call, &message),
            EventKind::Closed { .. } => {
                let Some(closed) = self.connections.remove(&connection) else { return Ok(()) };
                let lost = QueuedOutcome::Failed("the connection was lost".to_owned());
                let mut open: Vec<_> = closed.open.iter().collect();
                open.sort_by_key(|(number, _)| **number);
                open.into_iter().try_for_each(|(_, (call, at_us))| {
                    self.finish(capture, &closed.conversation, call, *at_us, &lost)
                })
            }
            // The bytes were of another protocol or a message that was cut off, which no server takes for a write.
            EventKind::Lost(loss) if loss.why == LossReason::Unreadable && loss.messages == 0 => Ok(()),
            EventKind::Lost(_) => capture.queue.add_again("", AgainReason::NotSendable, "", at_us),
            EventKind::Pushed { .. } => Ok(()),
        }
    }

    fn request(
        &mut self,
        capture: &Capture,
        connection: u64,
        number: u64,
        at_us: i64,
        message: &Bytes,
    ) -> Result<(), QueueError> {
        let Some(known) = self.connections.get_mut(&connection) else { return Ok(()) };
        let Ok(call) = known.conversation.request(message, &self.prepared) else {
            return capture.queue.add_again("", AgainReason::NotSendable, "", at_us);
        };
        match call.effect {
            CallEffect::Read => Ok(()),
            CallEffect::Write if call.is_oneway() => {
                let Some(known) = self.connections.get(&connection) else { return Ok(()) };
                self.finish(capture, &known.conversation, &call, at_us, &QueuedOutcome::Applied)
            }
            CallEffect::Write | CallEffect::Session => {
                known.open.insert(number, (call, at_us));
                Ok(())
            }
        }
    }

    fn reply(
        &mut self,
        capture: &Capture,
        connection: u64,
        number: u64,
        message: &Bytes,
    ) -> Result<(), QueueError> {
        let Some(known) = self.connections.get_mut(&connection) else { return Ok(()) };
        let Some((call, at_us)) = known.open.remove(&number) else { return Ok(()) };
        let outcome = match known.conversation.reply(&call, message, &mut self.prepared) {
            Ok(answer) => outcome_of(&call.method, &answer),
            Err(error) => QueuedOutcome::Failed(error.to_string()),
        };
        let Some(known) = self.connections.get(&connection) else { return Ok(()) };
        self.finish(capture, &known.conversation, &call, at_us, &outcome)
    }

    /// Queues a write that the server has applied, or may have applied.
    fn finish(
        &self,
        capture: &Capture,
        conversation: &Conversation,
        call: &Call,
        at_us: i64,
        outcome: &QueuedOutcome,
    ) -> Result<(), QueueError> {
        if !call.is_write() || matches!(outcome, QueuedOutcome::Refused(_)) {
            return Ok(());
        }
        // The text may name any table.
        let table = if call.is_of_unknown_text() { String::new() } else { table_of(call) };
        let again = |reason| capture.queue.add_again(&table, reason, "", at_us);
        let rule = ResendRule::of(call);
        match (rule, outcome) {
            (ResendRule::Never, _) => return again(ResendRule::why_never(call)),
            (ResendRule::Once, outcome) if *outcome != QueuedOutcome::Applied => {
                return again(AgainReason::UnknownOutcome);
            }
            _ => {}
        }
        let Some((message, keyspace)) = sendable(call) else { return again(AgainReason::NotSendable) };
        let is_prepared = call.method.starts_with(EXECUTE_PREPARED_OF_THRIFT);
        capture.append(&QueuedWrite {
            at_us,
            protocol: conversation.protocol(),
            rule,
            keyspace,
            statement: call.statement.clone().filter(|_| is_prepared),
            table,
            message,
        })
    }
}

/// Returns the message in a form that another server understands, and the keyspace of the session in which it must be sent.
/// `None` if there is none.
fn sendable(call: &Call) -> Option<(Bytes, SessionKeyspace)> {
    let message = match &call.request {
        _ if call.is_of_unknown_text() => return None,
        Request::Thrift { bytes, .. } => bytes.clone(),
        Request::Native(request) => request.unprepared()?.write(),
    };
    Some((message, call.session.clone()?))
}

/// Returns `KEYSPACE.FAMILY`, as far as a call names them.
fn table_of(call: &Call) -> String {
    match (&call.keyspace, &call.family) {
        (Some(keyspace), Some(family)) => format!("{keyspace}.{family}"),
        (Some(name), None) | (None, Some(name)) => name.clone(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::write_queue::QueueLimits;
    use super::*;
    use crate::ThriftMessage;
    use crate::value::fields_from_json;
    use wire::thrift::MessageKind;

    struct Captured {
        _directory: tempfile::TempDir,
        queue: Arc<WriteQueue>,
        tap: CapturedTap,
    }

    impl Captured {
        fn new() -> Captured {
            let directory = tempfile::tempdir().unwrap();
            let limits = QueueLimits { bytes: 1_000_000, age: Duration::from_secs(60) };
            let queue = Arc::new(WriteQueue::open(directory.path(), limits).unwrap());
            let tap = Capture::new(queue.clone()).tap(1, "127.0.0.1:1".parse().unwrap(), "old:9160".into());
            Captured { _directory: directory, queue, tap }
        }

        fn send(&self, from: Side, name: &'static str, fields: &str) {
            let kind = if from == Side::Client { MessageKind::Call } else { MessageKind::Reply };
            let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
            let message = ThriftMessage { name: name.into(), kind, seqid: 1, fields }.write();
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            self.tap.pass(from, &[&length[..], &message].concat()).unwrap();
        }

        fn exchange(&self, name: &'static str, request: &str, reply: &str) {
            self.send(Side::Client, name, request);
            self.send(Side::Server, name, reply);
        }

        fn counts(&self) -> (u64, usize) {
            let status = self.queue.status();
            (status.unsent, status.again.len())
        }
    }

    const INSERT: &str = r#"{"1": {"t": "k"}, "2": {"s": {"3": {"t": "cf"}}}, "3": {"s": {"1": {"t": "n"}, "2": {"t": "v"},
        "3": {"l": 5}}}, "4": {"i": 1}}"#;

    #[test]
    fn a_write_is_queued_before_its_reply_is_passed() {
        let captured = Captured::new();
        captured.exchange("set_keyspace", r#"{"1": {"t": "ks"}}"#, "{}");
        captured.send(Side::Client, "insert", INSERT);
        assert!(captured.tap.has_open_calls());
        assert_eq!(captured.counts(), (0, 0));
        captured.send(Side::Server, "insert", "{}");
        assert_eq!(captured.counts(), (1, 0));
        // One that is refused is not queued; one that has failed may be applied.
        captured.exchange("insert", INSERT, r#"{"1": {"s": {"1": {"t": "no"}}}}"#);
        assert_eq!(captured.counts(), (1, 0));
        captured.exchange("insert", INSERT, r#"{"3": {"s": {}}}"#);
        assert_eq!(captured.counts(), (2, 0));
        captured.exchange("get", r#"{"1": {"t": "k"}}"#, "{}");
        captured.exchange("cas", r#"{"1": {"t": "k"}}"#, r#"{"0": {"s": {"1": {"b": true}}}}"#);
        assert_eq!(captured.counts(), (2, 1));
        // Servers ignore arguments that they do not know.
        let newer = INSERT.replace(r#""4": {"i": 1}"#, r#""4": {"i": 1}, "9": {"i": 1}"#);
        captured.exchange("insert", &newer, "{}");
        assert_eq!(captured.counts(), (3, 1));
    }

    #[test]
    fn a_write_without_a_reply_is_queued_when_its_connection_ends() {
        let captured = Captured::new();
        captured.send(Side::Client, "insert", INSERT);
        let Captured { queue, tap, _directory } = captured;
        drop(tap);
        assert_eq!(queue.status().unsent, 1);
    }

    #[test]
    fn bytes_that_cannot_be_decoded_are_listed_unless_they_never_were_of_the_protocol() {
        let captured = Captured::new();
        captured.tap.pass(Side::Client, b"GET / HTTP/1.1\r\n").unwrap();
        let Captured { queue, tap, _directory } = captured;
        drop(tap);
        assert_eq!(queue.status().again, []);
        let captured = Captured::new();
        captured.exchange("insert", INSERT, "{}");
        captured.tap.pass(Side::Client, &[0xff; 64]).unwrap();
        let Captured { queue, tap, _directory } = captured;
        drop(tap);
        assert_eq!((queue.status().unsent, queue.status().again.len()), (1, 1));
    }

    #[test]
    fn a_write_that_cannot_be_decoded_is_listed_before_its_reply_is_passed() {
        let captured = Captured::new();
        captured.exchange("set_keyspace", r#"{"1": {"t": "ks"}}"#, "{}");
        // It was prepared before the proxy was started.
        let execute = r#"{"1": {"i": 9}, "2": {"L": ["t", [{"t": "k"}]]}, "3": {"i": 1}}"#;
        captured.exchange("execute_prepared_cql3_query", execute, r#"{"0": {"s": {"1": {"i": 2}}}}"#);
        assert_eq!(captured.queue.status().again[0].table, "", "it may be any table");
    }

    #[test]
    fn statements_that_another_connection_has_prepared_are_known() {
        let first = Captured::new();
        first.exchange("set_keyspace", r#"{"1": {"t": "ks"}}"#, "{}");
        let text = r#"{"1": {"t": "INSERT INTO t (p, v) VALUES (?, 'v')"}, "2": {"i": 2}}"#;
        let id = r#"{"0": {"s": {"1": {"i": 9}, "2": {"i": 1}}}}"#;
        first.exchange("prepare_cql3_query", text, id);
        first.exchange("prepare_cql_query", text, id);
        let tap = first.tap.capture.tap(2, "127.0.0.1:1".parse().unwrap(), "old:9160".into());
        let second = Captured { tap, ..first };
        let execute = r#"{"1": {"i": 9}, "2": {"L": ["t", [{"t": "k"}]]}, "3": {"i": 1}}"#;
        let void = r#"{"0": {"s": {"1": {"i": 2}}}}"#;
        second.exchange("execute_prepared_cql3_query", execute, void);
        assert_eq!(second.counts(), (1, 0));
        let stored = futures_util::FutureExt::now_or_never(second.queue.next(1)).unwrap().unwrap();
        assert_eq!(stored[0].write.keyspace.as_deref(), Some("ks"), "of the session that has prepared it");
        // Servers do not share statements of CQL 2.
        second.exchange("execute_prepared_cql_query", execute, void);
        let status = second.queue.status();
        assert_eq!((status.unsent, &status.again[0].table[..]), (1, ""));
    }

    #[test]
    fn a_prepared_statement_is_queued_with_its_text() {
        let captured = Captured::new();
        let text = r#"{"1": {"t": "INSERT INTO t (p, v) VALUES (?, 'v')"}, "2": {"i": 2}}"#;
        captured.exchange("prepare_cql3_query", text, r#"{"0": {"s": {"1": {"i": 9}, "2": {"i": 1}}}}"#);
        let execute = r#"{"1": {"i": 9}, "2": {"L": ["t", [{"t": "k"}]]}, "3": {"i": 1}}"#;
        captured.exchange("execute_prepared_cql3_query", execute, r#"{"0": {"s": {"1": {"i": 2}}}}"#);
        assert_eq!(captured.counts(), (1, 0));
    }
}
