//! Calls that were sent and not yet compared.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::super::Protocol;
use super::super::call::{Answer, Call, CallError, NativeReply};
use super::super::compare::{Compare, Comparison, Rule};
use super::super::message::ThriftMessage;
use super::super::report::ComparedCall;

/// A call between its request and its comparison.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub connection: u64,
    /// The request's time in the recording.
    pub at_us: i64,
    pub call: Call,
    /// The recorded answer with its time.
    pub recorded: Option<(Answer, i64)>,
    pub candidate: CandidateAnswer,
    /// Hashes of the rows that a Thrift call names.
    pub rows: Vec<u64>,
    /// Whether it reads a row that another call was writing at the same time in the recording: either may come first.
    pub races: bool,
    /// The host of the client.
    pub client: Arc<str>,
    pub sent: Instant,
}

impl PendingCall {
    /// Notes whether this call and another one, which overlapped in the recording, race.
    pub(super) fn meet(&mut self, other: &mut PendingCall) {
        if self.call.is_write() == other.call.is_write()
            || !self.rows.iter().any(|row| other.rows.contains(row))
        {
            return;
        }
        let read = if self.call.is_write() { other } else { self };
        read.races = true;
    }

    /// Counts the difference of a read that races as one by a rule.
    pub(super) fn excuse(&self, comparison: Comparison) -> Comparison {
        if !self.races || !comparison.differs() {
            return comparison;
        }
        let mut rules = comparison.rules;
        rules.push(Rule::ConcurrentWrite);
        Comparison { rules, outcome: Compare::Equal }
    }

    /// Returns the call for the report, without its outcome.
    pub(super) fn compared(&self, number: u64) -> ComparedCall<'_> {
        let took = |at_us: i64| at_us.saturating_sub(self.at_us).max(0).unsigned_abs();
        let recorded_us = self.recorded.as_ref().map(|(_, at_us)| took(*at_us));
        ComparedCall { recorded_us, ..self.call.compared(number, self.at_us, &self.client) }
    }
}

/// The answer of the candidate.
#[derive(Debug)]
pub(super) enum CandidateAnswer {
    Waiting,
    Arrived {
        message: Bytes,
        at: Instant,
    },
    /// The connection ended, or the answer took too long.
    Lost,
}

impl CandidateAnswer {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, CandidateAnswer::Waiting)
    }

    /// Returns the decoded answer, and how long it took in microseconds; `None` if there is none, or an unreadable one.
    pub(super) fn decoded(&self, protocol: Protocol, sent: Instant) -> Option<(Answer, u64)> {
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
pub(super) fn answer_of(protocol: Protocol, message: &Bytes) -> Result<Answer, CallError> {
    Ok(match protocol {
        Protocol::Thrift { .. } => Answer::Thrift(ThriftMessage::read(message)?),
        Protocol::Native => Answer::Native(NativeReply::read(message)?),
    })
}

#[cfg(test)]
mod tests {
    use super::super::own_data::rows_of;
    use super::*;
    use crate::call::{Conversation, PreparedTexts};
    use crate::report::DifferenceKind;
    use crate::value::fields_from_json;
    use wire::thrift::MessageKind;

    fn pending(name: &'static str, key: &str) -> PendingCall {
        let fields = format!(r#"{{"1": {{"t": "{key}"}}, "2": {{"s": {{"3": {{"t": "Posts"}}}}}}}}"#);
        let fields = fields_from_json(&serde_json::from_str(&fields).unwrap()).unwrap();
        let message = ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 1, fields }.write();
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        let call = connection.request(&message, &PreparedTexts::default()).unwrap();
        PendingCall {
            connection: 1,
            at_us: 0,
            rows: rows_of(&call),
            races: false,
            call,
            recorded: None,
            candidate: CandidateAnswer::Waiting,
            client: "client".into(),
            sent: Instant::now(),
        }
    }

    fn differs() -> Comparison {
        let found = crate::compare::FoundDifference {
            kind: DifferenceKind::Data,
            path: String::new(),
            recorded: None,
            candidate: None,
        };
        Comparison { rules: Vec::new(), outcome: Compare::Differs(found) }
    }

    #[test]
    fn a_read_races_with_a_write_of_its_row_only() {
        for (one, other, races) in [
            (("insert", "a"), ("get_slice", "a"), true),
            (("get_slice", "a"), ("insert", "a"), true),
            (("insert", "a"), ("get_slice", "b"), false),
            (("get_slice", "a"), ("get_slice", "a"), false),
            (("insert", "a"), ("insert", "a"), false),
        ] {
            let (mut first, mut second) = (pending(one.0, one.1), pending(other.0, other.1));
            first.meet(&mut second);
            assert_eq!(first.races || second.races, races, "{one:?} {other:?}");
            for call in [first, second] {
                assert!(!(call.races && call.call.is_write()));
                let rules = call.excuse(differs()).rules;
                assert_eq!(rules, if call.races { vec![Rule::ConcurrentWrite] } else { vec![] });
            }
        }
    }
}
