//! Calls that were sent and not yet compared.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::super::Protocol;
use super::super::call::{Answer, Call, CallError, NativeReply};
use super::super::message::ThriftMessage;
use super::super::report::{Compared, Outcome};

/// A call between its request and its comparison.
#[derive(Debug)]
pub struct Pending {
    pub connection: u64,
    /// The request's time in the recording.
    pub at_us: i64,
    pub call: Call,
    /// The recorded answer with its time.
    pub recorded: Option<(Answer, i64)>,
    pub candidate: CandidateAnswer,
    /// The host of the client.
    pub client: Arc<str>,
    pub sent: Instant,
}

impl Pending {
    /// Returns what the report needs of the call, without its outcome.
    pub fn compared(&self, number: u64) -> Compared<'_> {
        let recorded = self.recorded.as_ref();
        Compared {
            call: number,
            at_us: self.at_us,
            method: &self.call.method,
            keyspace: self.call.keyspace.as_deref().unwrap_or_default(),
            family: self.call.family.as_deref().unwrap_or_default(),
            interface: self.call.interface,
            client: &self.client,
            is_write: self.call.is_write(),
            recorded_us: recorded.map(|(_, at)| at.saturating_sub(self.at_us).max(0).unsigned_abs()),
            candidate_us: None,
            rules: &[],
            outcome: Outcome::Equal,
        }
    }
}

/// The answer of the candidate.
#[derive(Debug)]
pub enum CandidateAnswer {
    Waiting,
    Arrived {
        message: Bytes,
        at: Instant,
    },
    /// The connection ended, or the answer took too long.
    Lost,
}

impl CandidateAnswer {
    pub fn is_waiting(&self) -> bool {
        matches!(self, CandidateAnswer::Waiting)
    }

    /// Returns the decoded answer, and how long it took in microseconds; `None` if there is none, or an unreadable one.
    pub fn decoded(&self, protocol: Protocol, sent: Instant) -> Option<(Answer, u64)> {
        let CandidateAnswer::Arrived { message, at } = self else { return None };
        let took = u64::try_from(at.saturating_duration_since(sent).as_micros()).unwrap_or(u64::MAX);
        Some((answer_of(protocol, message).ok()?, took))
    }
}

/// Decodes a reply.
///
/// # Errors
///
/// If the message is damaged.
pub fn answer_of(protocol: Protocol, message: &Bytes) -> Result<Answer, CallError> {
    Ok(match protocol {
        Protocol::Thrift { .. } => Answer::Thrift(ThriftMessage::read(message)?),
        Protocol::Native => Answer::Native(NativeReply::read(message)?),
    })
}
