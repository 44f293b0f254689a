//! `/requests`: the last requests, and whether they are as a test expects.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{ControlCall, NoBody};
use super::conditions::check_condition;
use super::error::{ControlError, ErrorKind};
use super::json::{Json, Replied};
use super::operations::Control;
use crate::control::Result;
use crate::limits::EXPECTATIONS_MAX;
use db::faults::{Condition, Journal, JournalEntry, SoughtRequests};

/// Requests that are returned if the request does not say how many.
const LAST: usize = 100;

/// The request of `POST /requests/find`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FindRequest {
    /// The condition of the requests; all requests if nothing is given. A key is compared with the text in the journal.
    pub when: Condition,
    /// The arguments that the requests contain: objects have at least these fields, lists these elements in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The number of last requests that are returned: 100 if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
}

/// Requests.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RequestList {
    /// The oldest first.
    pub requests: Vec<JournalEntry>,
}

/// An expectation of a test.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The condition of the requests.
    #[serde(default)]
    pub when: Condition,
    /// The arguments that the requests contain: objects have at least these fields, lists these elements in this order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The number of these requests: at least one if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
}

/// The request of `POST /requests/verify`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyRequest {
    /// The expectations.
    pub requests: Vec<Expectation>,
    /// Whether there is a request for each expectation after the one that was found for the expectation before it.
    #[serde(default)]
    pub in_order: bool,
}

/// The reply to `POST /requests/verify`.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifyReply {
    /// Whether all expectations are met.
    pub verified: bool,
    /// The expectations that are not met, and why.
    pub differences: Vec<String>,
}

pub(super) async fn list(call: ControlCall<NoBody>) -> Replied<RequestList> {
    let requests = call.control.faults()?.journal.find(&SoughtRequests::default(), LAST);
    Ok(Json(RequestList { requests }))
}

pub(super) async fn find(call: ControlCall<Json<FindRequest>>) -> Replied<RequestList> {
    let FindRequest { when, arguments, last } = call.body.0;
    check_condition(&when)?;
    let sought = SoughtRequests { when, arguments };
    searched(call.control, move |journal| {
        Json(RequestList { requests: journal.find(&sought, last.unwrap_or(LAST)) })
    })
    .await
}

pub(super) async fn verify(call: ControlCall<Json<VerifyRequest>>) -> Replied<VerifyReply> {
    let Json(request) = call.body;
    if request.requests.len() > EXPECTATIONS_MAX {
        return Err(ControlError::invalid(format!(
            "there are {} expectations, the limit is {EXPECTATIONS_MAX}: send several requests",
            request.requests.len()
        )));
    }
    request.requests.iter().try_for_each(|expectation| check_condition(&expectation.when))?;
    searched(call.control, move |journal| {
        let all = journal.find(&SoughtRequests::default(), usize::MAX);
        Json(verified(&request, &all))
    })
    .await
}

/// Searches the journal on another thread: it can take long, and others of this thread must not wait.
async fn searched<T: Send + 'static>(
    control: Arc<Control>,
    search: impl FnOnce(&Journal) -> T + Send + 'static,
) -> Result<T> {
    let searching = tokio::task::spawn_blocking(move || Ok(search(&control.faults()?.journal)));
    searching.await.unwrap_or_else(|error| {
        Err(ControlError::new(ErrorKind::Internal, format!("the requests were not searched: {error}")))
    })
}

fn verified(request: &VerifyRequest, journal: &[JournalEntry]) -> VerifyReply {
    let mut differences = Vec::new();
    let mut rest = journal;
    for (number, expectation) in (1..).zip(&request.requests) {
        let sought =
            SoughtRequests { when: expectation.when.clone(), arguments: expectation.arguments.clone() };
        let found = journal.iter().filter(|entry| sought.includes(entry)).count();
        match expectation.times {
            Some(times) if found != times => {
                differences.push(format!("expectation {number}: {found} requests instead of {times}"));
            }
            None if found == 0 => differences.push(format!("expectation {number}: no request")),
            _ if found > 0 && request.in_order => {
                match rest.iter().position(|entry| sought.includes(entry)) {
                    Some(at) => rest = &rest[at + 1..],
                    None => {
                        differences.push(format!("expectation {number}: no request after those before it"))
                    }
                }
            }
            _ => {}
        }
    }
    VerifyReply { verified: differences.is_empty(), differences }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(methods: &[&str]) -> Vec<JournalEntry> {
        let entry = |method: &&str| {
            let json = format!(r#"{{"number": 1, "protocol": "thrift", "method": "{method}", "micros": 1}}"#);
            serde_json::from_str(&json).unwrap()
        };
        methods.iter().map(entry).collect()
    }

    fn differences(json: &str, methods: &[&str]) -> Vec<String> {
        verified(&serde_json::from_str(json).unwrap(), &journal(methods)).differences
    }

    #[test]
    fn expectations_count_requests() {
        let twice = r#"{"requests": [{"when": {"method": "get"}, "times": 2}]}"#;
        assert_eq!(differences(twice, &["get", "insert", "get"]), [""; 0]);
        assert_eq!(differences(twice, &["get"]), ["expectation 1: 1 requests instead of 2"]);
        let never = r#"{"requests": [{"when": {"method": "get"}, "times": 0}], "in_order": true}"#;
        assert_eq!(differences(never, &["insert"]), [""; 0]);
        let some = r#"{"requests": [{"when": {"method": "insert"}}, {"when": {"method": "get"}}]}"#;
        assert_eq!(differences(some, &["get"]), ["expectation 1: no request"]);
        assert_eq!(differences(some, &["get", "insert"]), [""; 0]);
    }

    #[test]
    fn expectations_can_have_an_order() {
        let json = r#"{"requests": [{"when": {"method": "insert"}}, {"when": {"method": "get"}}], "in_order": true}"#;
        assert_eq!(differences(json, &["insert", "remove", "get"]), [""; 0]);
        assert_eq!(
            differences(json, &["get", "insert"]),
            ["expectation 2: no request after those before it"]
        );
    }
}
