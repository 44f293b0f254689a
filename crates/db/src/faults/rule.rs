//! Rules of faults: a condition, and effects on the requests that meet it.

use serde::{Deserialize, Serialize};

use super::ReplyFault;
use crate::Error;
use base::compat::features::ApiGeneration;

/// Longest delay of a request, in milliseconds.
const DELAY_MS_MAX: u64 = 3_600_000;

/// An operation of a request on rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Reads one row.
    Read,
    /// Reads a range of rows.
    Scan,
    /// Writes or deletes columns or rows.
    Write,
    /// Removes all rows of a column family.
    Truncate,
}

/// The condition of a rule: it applies to requests that have all given properties.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// `thrift` or `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The Thrift method, such as `get_slice`; in the native protocol `QUERY`, `PREPARE`, `EXECUTE` or `BATCH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The API generation of a Thrift call. Calls of the native protocol have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<ApiGeneration>,
    /// The number of the connection, as the list of requests shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
    /// The first word of the CQL statement, such as `SELECT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The operation of the request on rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// The name of the keyspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyspace: Option<String>,
    /// The name of the column family or table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_family: Option<String>,
    /// The row key, as UTF-8 or in the text of its type, such as `42` or `cafe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The consistency level, such as `QUORUM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency: Option<String>,
}

/// The properties of a request as a whole that conditions check.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestFacts<'a> {
    pub protocol: &'a str,
    pub method: &'a str,
    pub generation: Option<ApiGeneration>,
    pub connection: Option<u64>,
    pub statement: Option<&'a str>,
    pub consistency: Option<&'a str>,
}

impl Condition {
    /// Returns whether a request as a whole is as the condition wants it.
    pub(super) fn is_met_by(&self, facts: &RequestFacts<'_>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| match (wanted, found) {
            (None, _) => true,
            (Some(wanted), found) => found.is_some_and(|found| wanted.eq_ignore_ascii_case(found)),
        };
        is(&self.protocol, Some(facts.protocol))
            && is(&self.method, Some(facts.method))
            && is(&self.statement, facts.statement)
            && is(&self.consistency, facts.consistency)
            && self.generation.is_none_or(|wanted| facts.generation == Some(wanted))
            && self.connection.is_none_or(|wanted| facts.connection == Some(wanted))
    }

    /// Returns whether the condition can only be met by a request that reads or writes rows.
    pub fn needs_rows(&self) -> bool {
        self.operation.is_some() || self.column_family.is_some() || self.key.is_some()
    }

    /// Returns whether the properties that are known before a request runs decide whether it meets the condition.
    pub fn needs_origin_only(&self) -> bool {
        !self.needs_rows()
            && self.statement.is_none()
            && self.keyspace.is_none()
            && self.consistency.is_none()
    }
}

/// A delay before the request: a number of milliseconds, or the least and the most of a random one.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Delay {
    /// Milliseconds.
    Fixed(u64),
    /// The least and the most milliseconds.
    Between([u64; 2]),
}

/// The error of a request. Each protocol and generation of the API has its own form of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultError {
    /// Too few replicas are alive.
    Unavailable,
    /// The replicas did not answer in time.
    TimedOut,
    /// The request is invalid.
    InvalidRequest,
    /// `get` found nothing.
    NotFound,
    /// The nodes have different schemas.
    SchemaDisagreement,
    /// The login failed.
    Authentication,
    /// The user has no permission.
    Authorization,
    /// The server is overloaded.
    Overloaded,
    /// A failure of the server: a TApplicationException, or a server error of the native protocol.
    Internal,
}

impl FaultError {
    /// Returns the error with a text.
    pub fn with_text(self, text: String) -> Error {
        match self {
            FaultError::Unavailable => Error::unavailable(text),
            FaultError::TimedOut => Error::TimedOut(text),
            FaultError::InvalidRequest => Error::InvalidRequest(text),
            FaultError::NotFound => Error::NotFound,
            FaultError::SchemaDisagreement => Error::SchemaDisagreement(text),
            FaultError::Authentication => Error::Authentication(text),
            FaultError::Authorization => Error::Authorization(text),
            FaultError::Overloaded => Error::Overloaded(text),
            FaultError::Internal => Error::Internal(text),
        }
    }
}

/// A rule: a condition of requests, and the effects on these.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The condition of the requests; all requests if nothing is given.
    #[serde(default)]
    pub when: Condition,
    /// A delay in milliseconds, or `[least, most]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<Delay>,
    /// The error that the client gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<FaultError>,
    /// The text of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the request is carried out before it gets the error.
    #[serde(default)]
    pub applied: bool,
    /// The effect on the reply. The request is carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyFault>,
    /// The number of requests that meet the condition and are left alone at first.
    #[serde(default)]
    pub skip: u64,
    /// The number of times that the rule has an effect; no limit if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The probability of an effect, from 0 to 1.
    #[serde(default = "always")]
    pub probability: f64,
    /// The start of the random numbers for probabilities and delays: the same seed has the same effects again.
    #[serde(default)]
    pub seed: u64,
}

fn always() -> f64 {
    1.0
}

/// Why a rule is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(pub String);

impl FaultRule {
    /// Checks the constraints that the types do not express.
    ///
    /// # Errors
    /// Describes the mistake, and the allowed values.
    pub fn check(&self) -> Result<(), RuleError> {
        let refused = |why: &str| Err(RuleError(why.to_owned()));
        if self.delay_ms.is_none() && self.error.is_none() && self.reply.is_none() {
            return refused("the rule has no effect: give \"delay_ms\", \"error\" or \"reply\"");
        }
        if self.error.is_none() && (self.applied || self.text.is_some()) {
            return refused("\"applied\" and \"text\" belong to an \"error\": give one, or remove them");
        }
        if self.text.is_some() && self.error == Some(FaultError::NotFound) {
            return refused("\"not_found\" has no text: remove \"text\"");
        }
        if !(0.0..=1.0).contains(&self.probability) {
            return refused("\"probability\" is a number from 0 to 1");
        }
        if self.times == Some(0) {
            return refused("\"times\" is at least 1");
        }
        if let Some(protocol) = &self.when.protocol
            && !["thrift", "native"].contains(&protocol.as_str())
        {
            return refused("\"protocol\" is \"thrift\" or \"native\"");
        }
        if self.when.generation.is_some() && self.when.protocol.as_deref() == Some("native") {
            return refused("only Thrift calls have a \"generation\": remove it, or \"protocol\"");
        }
        match self.delay_ms {
            Some(Delay::Fixed(ms) | Delay::Between([_, ms])) if ms > DELAY_MS_MAX => {
                Err(RuleError(format!("a delay has at most {DELAY_MS_MAX} milliseconds")))
            }
            Some(Delay::Between([least, most])) if least > most => {
                refused("the least delay comes first: \"delay_ms\": [10, 200]")
            }
            _ => Ok(()),
        }
    }

    /// Returns the error of the rule, if it has one.
    pub fn error(&self) -> Option<Error> {
        let text = self.text.as_deref().unwrap_or("a fault that a test has set");
        self.error.map(|error| error.with_text(text.to_owned()))
    }
}
