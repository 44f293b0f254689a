//! Calls that show a difference again.

use std::cmp::Ordering;

use bytes::Bytes;

/// Calls that show a difference again, in their order. The answer to the last of them differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reproduction {
    /// The calls, in their order.
    pub calls: Vec<ReproducedCall>,
    /// The command line that sends these calls, if they are in a file.
    pub command: Option<String>,
    /// Whether no shorter list of calls was found to show the difference. `false` if no search was made.
    pub is_shortest: bool,
}

/// A call of a reproduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReproducedCall {
    /// The number of the call in the recording.
    pub call: u64,
    /// The number of its connection in the recording.
    pub connection: u64,
    /// The request.
    pub request: ReproducedRequest,
}

/// The request of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReproducedRequest {
    /// A whole Thrift message, without the length of its frame.
    Thrift(Bytes),
    /// A CQL statement of the native protocol. A prepared statement has its text here.
    Cql {
        /// The statement, with `?` for each value.
        statement: String,
        /// The values, in the order of their places.
        values: Vec<CqlValue>,
    },
    /// Another request of the native protocol, by its opcode: `REGISTER`.
    Other(String),
}

/// A value that is bound to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CqlValue {
    /// Null.
    Null,
    /// No value: the column stays as it is (from version 4 on).
    Unset,
    /// A value whose type is not known.
    Bytes(Bytes),
    /// A value as a literal of CQL.
    Literal(String),
}

impl Reproduction {
    /// Returns the bytes of all requests.
    pub(super) fn bytes(&self) -> usize {
        self.calls.iter().map(|call| call.request.bytes()).sum()
    }

    /// Returns whether this reproduction is to replace `other`: calls that were searched for, or fewer calls.
    pub(super) fn is_better_than(&self, other: &Reproduction) -> bool {
        // One that was tried has a command.
        let proof = |one: &Reproduction| (one.is_shortest, one.command.is_some());
        match proof(self).cmp(&proof(other)) {
            Ordering::Equal => self.calls.len() < other.calls.len(),
            order => order.is_gt(),
        }
    }
}

impl ReproducedRequest {
    fn bytes(&self) -> usize {
        match self {
            ReproducedRequest::Thrift(message) => message.len(),
            ReproducedRequest::Cql { statement, values } => {
                let values = values.iter().map(|value| match value {
                    CqlValue::Bytes(bytes) => bytes.len(),
                    CqlValue::Literal(text) => text.len(),
                    CqlValue::Null | CqlValue::Unset => 0,
                });
                statement.len() + values.sum::<usize>()
            }
            ReproducedRequest::Other(name) => name.len(),
        }
    }
}
