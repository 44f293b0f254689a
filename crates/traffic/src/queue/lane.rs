//! A connection to the server that gets the writes of a queue.

use std::collections::HashMap;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::super::call::{Answer, NativeFrame, NativeReply, NativeRequest, ReplyContent, method_of};
use super::login::QueueLogin;
use super::outcome::{QueuedOutcome, outcome_of};
use super::queued_write::QueuedWrite;
use super::sender::SenderOptions;
use super::waited::{shortened, waited_s};
use crate::replay::{CandidateServer, Wire};
use crate::value::Fields;
use crate::{Protocol, ThriftMessage, Value};
use base::compat::features::ConsistencyLevel;
use net::{ServerStream, Upstream};
use wire::native::{ProtocolVersion, consistency_code, request_opcode};
use wire::thrift::frame::Transport;
use wire::thrift::interface::Type;
use wire::thrift::{MessageKind, NOT_COMPRESSED};

/// Thrift connections for each keyspace that send at the same time. With far fewer than the clients have, the queue would never
/// become empty.
const THRIFT_LANES: usize = 16;

/// Prepared statements whose ids a connection remembers. One that is forgotten is prepared again.
const PREPARED_MAX: usize = 1_000;

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// Writes that can share a connection: those of one protocol and one keyspace of the session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LaneKey {
    protocol: Protocol,
    /// The version of the native protocol.
    version: Option<u8>,
    keyspace: Option<String>,
    /// Tells connections that send at the same time apart: see [`LaneKey::spread`].
    number: usize,
}

impl LaneKey {
    /// Returns the key of a write. `None` if the message is damaged.
    pub(super) fn of(write: &QueuedWrite) -> Option<LaneKey> {
        let version = match write.protocol {
            Protocol::Native => Some(NativeFrame::read(&write.message).ok()?.version.number()),
            Protocol::Thrift { .. } => None,
        };
        Some(LaneKey { protocol: write.protocol, version, keyspace: write.keyspace.clone(), number: 0 })
    }

    /// Returns the key of the connection that sends a write. A Thrift server answers the calls of a connection one after another,
    /// so Thrift writes are spread over several connections.
    pub(super) fn spread(self, write: usize) -> LaneKey {
        let number = if self.version.is_none() { write % THRIFT_LANES } else { 0 };
        LaneKey { number, ..self }
    }

    /// Returns whether the server can be reached by the protocol.
    pub(super) fn is_of(&self, server: &CandidateServer) -> bool {
        self.version.is_none() || server.native.is_some()
    }
}

/// Why a connection cannot be used any more.
#[derive(Debug)]
pub(super) struct LostLane {
    pub why: String,
    /// Whether the server has closed it, and not only been silent.
    pub is_closed: bool,
}

impl LostLane {
    fn silent(why: &str) -> LostLane {
        LostLane { why: why.to_owned(), is_closed: false }
    }

    fn closed(error: &std::io::Error) -> LostLane {
        LostLane { why: format!("connection lost: {error}"), is_closed: true }
    }
}

impl From<LostLane> for String {
    fn from(lost: LostLane) -> String {
        lost.why
    }
}

/// Why a write is not sent.
enum NotSent {
    /// The connection is lost, or cannot be used any more.
    Lost(LostLane),
    /// The outcome of this write only.
    Outcome(QueuedOutcome),
}

impl From<LostLane> for NotSent {
    fn from(lost: LostLane) -> NotSent {
        NotSent::Lost(lost)
    }
}

/// An open connection.
pub(super) struct Lane {
    key: LaneKey,
    stream: ServerStream,
    wire: Wire,
    input: BytesMut,
    time: Duration,
    next: u64,
    /// Ids of statements that were prepared over Thrift, by method and text.
    prepared: HashMap<(bool, String), i32>,
}

impl Lane {
    /// Connects, and selects the keyspace. A keyspace that the server refuses is an error, too: nothing of it can be written.
    ///
    /// # Errors
    ///
    /// Why no write can be sent.
    pub(super) async fn open(key: LaneKey, options: &SenderOptions) -> Result<Lane, String> {
        let (candidate, time) = (&options.server, options.timeout);
        let address = match key.protocol {
            Protocol::Thrift { .. } => &candidate.thrift,
            Protocol::Native => {
                candidate.native.as_ref().ok_or("no address of its native protocol was given")?
            }
        };
        let upstream = Upstream::new(address, options.tls.clone()).map_err(|error| error.to_string())?;
        let connecting = timeout(time, upstream.connect()).await;
        let stream = connecting
            .map_err(|_| format!("cannot connect to {address}: no answer in time"))?
            .map_err(|error| error.to_string())?;
        let wire = Wire::new(key.protocol);
        let (input, prepared) = (BytesMut::new(), HashMap::new());
        let mut lane = Lane { key, stream, wire, input, time, next: 0, prepared };
        lane.begin(options.login.as_ref()).await?;
        Ok(lane)
    }

    async fn begin(&mut self, login: Option<&QueueLogin>) -> Result<(), String> {
        let keyspace = self.key.keyspace.clone();
        if let Some(version) = self.key.version.and_then(ProtocolVersion::of_number) {
            let startup = b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0";
            let ready =
                self.native_call(version, request_opcode::STARTUP, Bytes::from_static(startup)).await?;
            match ready.content {
                ReplyContent::Ready => {}
                ReplyContent::Error { text, .. } => return Err(text),
                _ => self.log_in_native(version, login).await?,
            }
            if let Some(keyspace) = keyspace {
                let text = format!("USE \"{}\"", keyspace.replace('"', "\"\""));
                let used =
                    self.native_call(version, request_opcode::QUERY, query_body(version, &text)).await?;
                return refusal(outcome_of("USE", &Answer::Native(used)));
            }
            return Ok(());
        }
        if let Some(login) = login {
            self.log_in_thrift(login).await?;
        }
        let Some(keyspace) = keyspace else { return Ok(()) };
        let fields = Fields::from([(1, Value::Binary(keyspace.into()))]);
        let selected = self.thrift_call("set_keyspace", fields).await?;
        refusal(outcome_of("set_keyspace", &Answer::Thrift(selected)))
    }

    pub(super) async fn native_call(
        &mut self,
        version: ProtocolVersion,
        opcode: u8,
        body: Bytes,
    ) -> Result<NativeReply, LostLane> {
        let frame = NativeFrame { version, is_from_server: false, flags: 0, stream: 0, opcode, body };
        let replies = self.exchange(&[frame.write()]).await?;
        let reply = replies.into_iter().flatten().next();
        let reply = reply.ok_or_else(|| LostLane::silent("the server has not answered"))?;
        NativeReply::read(&reply).map_err(|error| LostLane::silent(&error.to_string()))
    }

    pub(super) async fn thrift_call(
        &mut self,
        method: &'static str,
        fields: Fields,
    ) -> Result<ThriftMessage, LostLane> {
        let message = ThriftMessage { name: method.into(), kind: MessageKind::Call, seqid: 0, fields };
        let replies = self.exchange(&[message.write()]).await?;
        let reply = replies.into_iter().flatten().next();
        let reply = reply.ok_or_else(|| LostLane::silent("the server has not answered"))?;
        ThriftMessage::read(&reply).map_err(|error| LostLane::silent(&error.to_string()))
    }

    /// Returns whether a server can be reached by a new connection, and answers.
    pub(super) async fn is_answered(key: LaneKey, options: &SenderOptions) -> bool {
        let Ok(mut lane) = Lane::open(key, options).await else { return false };
        // The native protocol has begun with STARTUP. A server that does not know the method says so.
        lane.key.version.is_some() || lane.thrift_call("describe_version", Fields::default()).await.is_ok()
    }

    /// Sends writes together. Returns the outcome of each in their order.
    ///
    /// # Errors
    ///
    /// If the connection is lost. Any of the writes may be applied.
    pub(super) async fn send(
        &mut self,
        writes: &[&QueuedWrite],
        consistency: Option<ConsistencyLevel>,
    ) -> Result<Vec<QueuedOutcome>, LostLane> {
        let mut messages = Vec::with_capacity(writes.len());
        // The method of each write that is sent, or the outcome of one that is not.
        let mut methods = Vec::with_capacity(writes.len());
        for (at, write) in writes.iter().enumerate() {
            let stream = i16::try_from(at).unwrap_or_default();
            let shortened = shortened(write, waited_s(write));
            let write = shortened.as_ref().unwrap_or(write);
            let made = match self.key.version {
                Some(_) => native_message(&write.message, stream, consistency)
                    .map(|message| (String::new(), message))
                    .map_err(|why| NotSent::Outcome(QueuedOutcome::Refused(why))),
                None => self.thrift_message(write, consistency).await,
            };
            match made {
                Ok((method, message)) => {
                    methods.push(Ok(method));
                    messages.push(message);
                }
                Err(NotSent::Outcome(outcome)) => methods.push(Err(outcome)),
                Err(NotSent::Lost(lost)) => return Err(lost),
            }
        }
        let mut replies = self.exchange(&messages).await?.into_iter();
        let outcomes = methods.into_iter().map(|method| match method {
            Ok(method) => self.outcome(&method, replies.next().flatten()),
            Err(outcome) => outcome,
        });
        Ok(outcomes.collect())
    }

    /// Returns the outcome of a write by its reply, which a oneway call does not have.
    fn outcome(&self, method: &str, reply: Option<Bytes>) -> QueuedOutcome {
        let Some(reply) = reply else { return QueuedOutcome::Applied };
        let answer = match self.key.version {
            Some(_) => NativeReply::read(&reply).map(Answer::Native),
            None => ThriftMessage::read(&reply).map(Answer::Thrift).map_err(Into::into),
        };
        answer.map_or_else(
            |error| QueuedOutcome::Failed(error.to_string()),
            |answer| outcome_of(method, &answer),
        )
    }

    /// Returns the method and the message of a write, with the consistency level and the server's own ids.
    async fn thrift_message(
        &mut self,
        write: &QueuedWrite,
        consistency: Option<ConsistencyLevel>,
    ) -> Result<(String, Bytes), NotSent> {
        let unreadable = |error: &dyn std::fmt::Display| QueuedOutcome::Refused(error.to_string());
        let read = ThriftMessage::read(&write.message);
        let mut message = read.map_err(|error| NotSent::Outcome(unreadable(&error)))?;
        let method = message.method();
        if consistency.is_none() && write.statement.is_none() {
            return Ok((method, write.message.clone()));
        }
        if let Some(text) = &write.statement {
            let id = self.prepare(method.contains("cql3"), text).await?;
            message.fields.insert(1, Value::I32(id));
        }
        if let Some(level) = consistency {
            set_consistency(&mut message, self.key.protocol, level);
        }
        Ok((method, message.write()))
    }

    /// Returns the server's id of a statement. One that the server refuses is refused as a write, too.
    async fn prepare(&mut self, is_cql3: bool, text: &str) -> Result<i32, NotSent> {
        let key = (is_cql3, text.to_owned());
        if let Some(id) = self.prepared.get(&key) {
            return Ok(*id);
        }
        let method = if is_cql3 { "prepare_cql3_query" } else { "prepare_cql_query" };
        let query = Value::Binary(Bytes::copy_from_slice(text.as_bytes()));
        let fields = Fields::from([(1, query), (2, Value::I32(NOT_COMPRESSED))]);
        let reply = self.thrift_call(method, fields).await?;
        let id = reply.fields.get(&0).and_then(|result| result.get(1)).and_then(Value::as_int);
        let Some(id) = id.and_then(|id| i32::try_from(id).ok()) else {
            return Err(NotSent::Outcome(match outcome_of(method, &Answer::Thrift(reply)) {
                QueuedOutcome::Applied => QueuedOutcome::Refused("a statement cannot be prepared".to_owned()),
                refused => refused,
            }));
        };
        if self.prepared.len() >= PREPARED_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(key, id);
        Ok(id)
    }

    /// Sends messages, and waits for their replies. Returns them in the order of the messages; `None` for one that has none.
    async fn exchange(&mut self, messages: &[Bytes]) -> Result<Vec<Option<Bytes>>, LostLane> {
        let (mut out, first) = (BytesMut::new(), self.next);
        let mut missing = 0;
        for message in messages {
            let is_oneway = self.key.version.is_none()
                && ThriftMessage::read(message).is_ok_and(|message| message.kind == MessageKind::Oneway);
            missing += usize::from(!is_oneway);
            self.wire.put(self.next, message, &mut out);
            self.next += 1;
        }
        let writing = async {
            self.stream.write_all(&out).await?;
            // TLS may hold bytes back.
            self.stream.flush().await
        };
        let written = timeout(self.time, writing).await;
        let written = written.map_err(|_| LostLane::silent("the server takes no requests"))?;
        written.map_err(|error| LostLane::closed(&error))?;
        let mut replies = vec![None; messages.len()];
        while missing > 0 {
            let taken = self.wire.take(&mut self.input).map_err(|why| LostLane::silent(&why))?;
            if let Some((call, reply)) = taken {
                let at = call.checked_sub(first).and_then(|at| usize::try_from(at).ok());
                if let Some(place) = at.and_then(|at| replies.get_mut(at)) {
                    // Only the first reply of a stream counts.
                    missing -= usize::from(place.replace(reply).is_none());
                }
                continue;
            }
            self.input.reserve(READ_BYTES);
            let read = timeout(self.time, self.stream.read_buf(&mut self.input)).await;
            let read = read.map_err(|_| LostLane::silent("the server does not answer"))?;
            if read.map_err(|error| LostLane::closed(&error))? == 0 {
                return Err(LostLane { why: "the server closed the connection".to_owned(), is_closed: true });
            }
        }
        Ok(replies)
    }
}

pub(super) fn refusal(outcome: QueuedOutcome) -> Result<(), String> {
    match outcome {
        QueuedOutcome::Applied => Ok(()),
        QueuedOutcome::Refused(why)
        | QueuedOutcome::Failed(why)
        | QueuedOutcome::TimedOut(why)
        | QueuedOutcome::Unavailable(why) => Err(why),
    }
}

fn query_body(version: ProtocolVersion, text: &str) -> Bytes {
    let mut body = BytesMut::new();
    body.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
    body.put_slice(text.as_bytes());
    body.put_u16(consistency_code(ConsistencyLevel::One));
    match version {
        ProtocolVersion::V1 => {}
        version if version >= ProtocolVersion::V5 => body.put_u32(0),
        _ => body.put_u8(0),
    }
    body.freeze()
}

/// Returns a frame with a stream of this connection, without tracing.
fn native_message(
    message: &Bytes,
    stream: i16,
    consistency: Option<ConsistencyLevel>,
) -> Result<Bytes, String> {
    let request = NativeRequest::read(message).map_err(|error| error.to_string())?;
    let other = consistency.and_then(|level| request.with_consistency(consistency_code(level)));
    let frame = other.unwrap_or(request.frame);
    Ok(NativeFrame { stream, ..frame }.write())
}

/// Replaces the consistency level in the arguments, if the method has one.
fn set_consistency(message: &mut ThriftMessage, protocol: Protocol, level: ConsistencyLevel) {
    let transport = match protocol {
        Protocol::Thrift { is_framed } => Protocol::transport(is_framed),
        Protocol::Native => Transport::Framed,
    };
    let Some((method, _)) = method_of(&message.name, &message.fields, None, transport) else { return };
    let named = level.to_string();
    for argument in &method.arguments {
        let Type::Enum(of) = &argument.declared else { continue };
        let number = of.members.iter().find(|(name, _)| *name == named).map(|(_, number)| *number);
        if let (true, Some(number)) = (of.name == "ConsistencyLevel", number) {
            message.fields.insert(argument.id, Value::I32(number));
        }
    }
}
