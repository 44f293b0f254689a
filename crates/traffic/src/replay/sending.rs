//! Sends calls to the candidate, after their requirements there: a connection, its session, and prepared statements.

use std::time::Instant;

use bytes::Bytes;

use super::super::Protocol;
use super::super::call::{Call, CallEffect, NativeFrame, NativeReply, ReplyContent, Request};
use super::engine::Replay;
use super::handles::{Translated, UNKNOWN_STATEMENT};
use super::link::ReplayLink;
use super::pending::{CandidateAnswer, PendingCall};
use super::reason;
use wire::native::{ProtocolVersion, RequestCode, request_opcode};

/// The stream of native requests that the replay makes itself. Drivers use streams from 0 on.
const OWN_STREAM: i16 = 126;

impl Replay<'_> {
    /// Sends a call, after its requirements.
    pub(super) async fn send(&mut self, number: u64, mut pending: PendingCall) {
        let connection = pending.connection;
        if self.open_link(connection).await.is_err() {
            pending.candidate = CandidateAnswer::Lost;
            self.pending.insert(number, pending);
            return;
        }
        let mut translated = self.handles.translate(connection, &pending.call, &self.prepared);
        // A batch has many statements; each is prepared at most once.
        let mut prepared_before = None;
        while let Translated::Prepare { id, text } = &translated {
            if prepared_before.as_ref() == Some(id)
                || !self.prepare(connection, id, text, &pending.call).await
            {
                break;
            }
            prepared_before = Some(id.clone());
            translated = self.handles.translate(connection, &pending.call, &self.prepared);
        }
        let message = match translated {
            Translated::Ready(message) => message,
            Translated::Prepare { .. } => {
                return self.skip(&pending, number, UNKNOWN_STATEMENT);
            }
            Translated::Impossible(why) => return self.skip(&pending, number, why),
        };
        pending.sent = Instant::now();
        let is_oneway = pending.call.is_oneway();
        let Some(of) = self.connections.get_mut(&connection) else { return };
        if is_of_session(&pending.call) {
            of.session.insert(pending.call.method.clone(), (number, pending.call.clone()));
        }
        if let Some(link) = &of.link {
            link.send(number, message);
        }
        self.pending.insert(number, pending);
        if is_oneway {
            self.complete(number);
        } else {
            self.order.sent(number);
        }
    }

    /// Connects to the candidate, if the connection of the recording has no connection to it. A later connection begins
    /// with the calls that put the session into its state.
    async fn open_link(&mut self, connection: u64) -> Result<(), String> {
        let Some(of) = self.connections.get_mut(&connection) else { return Ok(()) };
        if of.link.is_some() {
            return Ok(());
        }
        let protocol = of.conversation.protocol();
        let address = match protocol {
            Protocol::Thrift { .. } => &self.candidate.thrift,
            Protocol::Native => self.candidate.native.as_ref().ok_or(reason::NO_NATIVE_PORT)?,
        };
        self.next_link += 1;
        let link = ReplayLink::open(self.next_link, address, protocol, self.arrivals.0.clone()).await?;
        self.links.insert(link.number, connection);
        of.link = Some(link);
        let mut session: Vec<(u64, Call)> = of.session.values().cloned().collect();
        session.sort_by_key(|(number, _)| *number);
        for (_, call) in session {
            if let Translated::Ready(message) = self.handles.translate(connection, &call, &self.prepared) {
                self.exchange(connection, message).await;
            }
        }
        Ok(())
    }

    /// Sends a call of the replay itself, and returns the answer; `None` if there is none.
    async fn exchange(&mut self, connection: u64, message: Bytes) -> Option<Bytes> {
        let number = self.next_own_call;
        self.next_own_call += 1;
        let link = self.connections.get(&connection)?.link.as_ref()?;
        let opened = link.number;
        link.send(number, message);
        while self.links.contains_key(&opened) {
            if let Some(answer) = self.own_answers.remove(&number) {
                return answer;
            }
            if !self.wait_for_arrival().await {
                return None;
            }
        }
        None
    }

    /// Prepares a statement of the recorded server on the candidate. Returns whether that succeeded.
    async fn prepare(&mut self, connection: u64, id: &Bytes, text: &str, call: &Call) -> bool {
        let Request::Native(request) = &call.request else { return false };
        let frame = &request.frame;
        let mut body = Vec::from(u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
        body.extend_from_slice(text.as_bytes());
        if frame.version >= ProtocolVersion::V5 {
            body.extend_from_slice(&[0; 4]);
        }
        let prepare = NativeFrame {
            opcode: request_opcode::PREPARE,
            stream: OWN_STREAM,
            flags: 0,
            body: body.into(),
            ..frame.clone()
        };
        let Some(answer) = self.exchange(connection, prepare.write()).await else { return false };
        let Ok(reply) = NativeReply::read(&answer) else { return false };
        match reply.content {
            ReplyContent::Prepared { id: other, result_id, .. } => {
                self.handles.put(id, &other);
                if let (Some(known), Some(other)) = (&request.result_id, result_id) {
                    self.handles.put(&known.bytes, &other);
                }
                true
            }
            _ => false,
        }
    }
}

/// Returns whether a call puts its connection into a state that later calls need.
fn is_of_session(call: &Call) -> bool {
    match &call.request {
        Request::Thrift { .. } => {
            matches!(&call.method[..], "login" | "set_keyspace" | "set_cql_version") || call.method == "USE"
        }
        Request::Native(request) => {
            matches!(request.code, RequestCode::Startup)
                || call.effect == CallEffect::Session && call.method == "USE"
        }
    }
}
