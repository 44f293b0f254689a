//! Calls that were sent and not yet compared.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::super::Protocol;
use super::super::call::{Answer, Call, CallError, NativeReply, NativeRequest, ReplyContent, Request};
use super::super::compare::{Compare, Comparison, FoundDifference, Rule};
use super::super::message::ThriftMessage;
use super::super::report::{ComparedCall, DifferenceKind};
use super::touched::TouchedKeys;
use crate::limits::TRAFFIC_HANDLES_MAX;

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
    pub rows: TouchedKeys,
    /// Whether it reads a row that another call was writing at the same time in the recording, or continues such a read:
    /// either may come first.
    pub races: bool,
    /// The host of the client.
    pub client: Arc<str>,
    pub sent: Instant,
}

impl PendingCall {
    /// Notes whether this call and another one, which overlapped in the recording, race.
    pub(super) fn meet(&mut self, other: &mut PendingCall) {
        if !self.call.is_write() && !other.call.is_write() || !self.rows.meets(&other.rows) {
            return;
        }
        // A conditional write reads, too.
        for call in [self, other] {
            call.races |= !call.call.is_write() || call.call.is_conditional();
        }
    }

    /// Counts the difference of a read that races as one by a rule.
    pub(super) fn excuse(&self, comparison: Comparison) -> Comparison {
        let is_of_data = matches!(&comparison.outcome, Compare::Differs(found) if is_of_data(found));
        if !self.races || !is_of_data {
            return comparison;
        }
        let mut rules = comparison.rules;
        rules.push(Rule::ConcurrentWrite);
        Comparison { rules, outcome: Compare::Equal }
    }

    /// Returns the call for the report, without its outcome.
    pub(super) fn compared(&self, number: u64) -> ComparedCall<'_> {
        let recorded_us = self.recorded.as_ref().map(|(_, at_us)| at_us.saturating_sub(self.at_us));
        let recorded_us = recorded_us.map(|took_us| took_us.max(0).unsigned_abs());
        ComparedCall { recorded_us, ..self.call.compared(number, self.at_us, &self.client) }
    }
}

/// Pages that end elsewhere on the candidate, because a write came before them on one side and after them on the other.
#[derive(Debug, Default)]
pub(super) struct RacedPages(HashSet<Bytes>);

impl RacedPages {
    /// Adds the page that a recorded answer has.
    pub(super) fn add(&mut self, recorded: Option<&Answer>) {
        let Some(Answer::Native(NativeReply { content: ReplyContent::Rows(rows), .. })) = recorded else {
            return;
        };
        if let Some(state) = rows.paging_state.as_ref().filter(|_| self.0.len() < TRAFFIC_HANDLES_MAX) {
            self.0.insert(Bytes::copy_from_slice(state));
        }
    }

    /// Returns whether a call continues behind such a page.
    pub(super) fn continues(&self, call: &Call) -> bool {
        matches!(&call.request, Request::Native(NativeRequest { paging_state: Some(state), .. })
            if self.0.contains(&state.bytes))
    }
}

/// Returns whether a difference may come from another order of writes: other data, or data and none.
fn is_of_data(found: &FoundDifference) -> bool {
    let is_found = |text: &Option<String>| text.as_deref().is_some_and(|text| text.starts_with(['{', '[']));
    let is_missing = |text: &Option<String>| text.as_deref() == Some("NotFoundException");
    match found.kind {
        DifferenceKind::Data => true,
        DifferenceKind::Exception => {
            is_found(&found.recorded) && is_missing(&found.candidate)
                || is_missing(&found.recorded) && is_found(&found.candidate)
        }
        DifferenceKind::Text => false,
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
    use super::*;
    use crate::call::{Conversation, PreparedTexts};
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
            rows: TouchedKeys::of(&call),
            races: false,
            call,
            recorded: None,
            candidate: CandidateAnswer::Waiting,
            client: "client".into(),
            sent: Instant::now(),
        }
    }

    fn differs() -> Comparison {
        let found = FoundDifference {
            kind: DifferenceKind::Data,
            path: String::new(),
            recorded: None,
            candidate: None,
        };
        Comparison { rules: Vec::new(), outcome: Compare::Differs(found) }
    }

    fn statement(text: &str) -> PendingCall {
        let mut call = pending("execute_cql3_query", "k");
        let fields = format!(r#"{{"1": {{"t": "{text}"}}, "2": {{"i": 2}}}}"#);
        let fields = fields_from_json(&serde_json::from_str(&fields).unwrap()).unwrap();
        let name = "execute_cql3_query".into();
        let message = ThriftMessage { name, kind: MessageKind::Call, seqid: 1, fields }.write();
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        call.call = connection.request(&message, &PreparedTexts::default()).unwrap();
        call.rows = TouchedKeys::of(&call.call);
        call
    }

    #[test]
    fn statements_race_if_they_may_touch_the_same_row() {
        let read = "SELECT v FROM t WHERE k = 1";
        for (one, other, races) in [
            ("UPDATE t SET v = 1 WHERE k = 1", read, true),
            ("INSERT INTO t (k, v) VALUES (1, 2)", read, true),
            ("INSERT INTO t (k, v) VALUES (2, 1)", read, false),
            ("UPDATE t SET v = 1 WHERE k = 2", read, false),
            ("UPDATE u SET v = 1 WHERE k = 1", read, false),
            ("TRUNCATE t", read, true),
            ("INSERT INTO t (k, v) VALUES (2, 1)", "SELECT * FROM t", true),
            ("UPDATE t SET v = 1 WHERE k = 1 AND c = 2", "SELECT * FROM t WHERE k = 1 AND c > 1", true),
            ("UPDATE t SET v = 1 WHERE k = 1", "UPDATE t SET v = 2 WHERE k = 1 IF v = 3", true),
            ("UPDATE t SET v = 1 WHERE k = 1", "UPDATE t SET v = 2 WHERE k = 1", false),
        ] {
            let (mut first, mut second) = (statement(one), statement(other));
            first.meet(&mut second);
            assert_eq!((first.races, second.races), (false, races), "{one}; {other}");
        }
    }

    #[test]
    fn a_range_races_with_each_write_of_its_column_family() {
        let (mut range, mut write) = (pending("get_range_slices", ""), pending("insert", "a"));
        range.call.family = Some("Posts".to_owned());
        range.rows = TouchedKeys::of(&range.call);
        write.meet(&mut range);
        assert!(range.races);
        // The order of writes decides no other exception.
        let Compare::Differs(found) = differs().outcome else { unreachable!() };
        let refused = FoundDifference {
            kind: DifferenceKind::Exception,
            recorded: Some("[]".to_owned()),
            candidate: Some("InvalidRequestException: no".to_owned()),
            ..found
        };
        let comparison = Comparison { rules: Vec::new(), outcome: Compare::Differs(refused) };
        assert!(range.excuse(comparison).differs());
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
