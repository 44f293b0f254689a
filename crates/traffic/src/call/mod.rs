//! Calls: decoded requests with their effect, and decoded replies.
//!
//! A [`Conversation`] follows one connection: which keyspace it uses, which API generation its client uses, and which
//! statements it has prepared. So it describes a request that names none of these.

mod column_type;
mod column_values;
mod conversation;
mod native_frame;
mod native_reply;
mod native_request;
mod prepared_texts;
mod statement;
mod thrift_place;

use bytes::Bytes;

pub(crate) use column_values::{ColumnValues, KeyValue, column_values};
pub use conversation::Conversation;
pub use native_frame::NativeFrame;
pub(crate) use native_reply::UNPREPARED;
pub use native_reply::{NativeReply, ReplyContent, ResultColumn, ResultRows};
pub use native_request::{HandlePart, NativeRequest, NativeStatement, StatementText};
pub use prepared_texts::{PreparedText, PreparedTexts};
pub use statement::StatementWords;
pub use thrift_place::{method_of, result_of};

use super::ThriftMessage;
use super::report::{CallInterface, CallOutcome, ComparedCall, CqlValue, ReproducedRequest};
use super::value::ValueError;
use base::model::BoundValue;
use wire::native::{BodyError, RequestCode};

/// Why a message of a recording cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// A Thrift message is damaged, or has too many values.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The frame is cut, or has another version.
    #[error("the bytes are not one native frame of version 1 to 5")]
    Frame,
    /// The frame has an opcode that its side does not send.
    #[error("unknown opcode {0:#04x}")]
    Opcode(u8),
    /// The body of a frame is damaged.
    #[error("{0}")]
    Body(String),
}

impl From<BodyError> for CallError {
    fn from(error: BodyError) -> CallError {
        CallError::Body(error.to_string())
    }
}

/// The beginning of the names of the methods by which Thrift executes prepared statements.
pub(crate) const EXECUTE_PREPARED_OF_THRIFT: &str = "execute_prepared_";

/// The effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// Changes nothing.
    Read,
    /// Changes data, the schema, users or rights; or may do so, because it executes a statement that is not known.
    Write,
    /// Only concerns the connection, or describes the server.
    Session,
}

/// A decoded request.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The Thrift method; for the native protocol the first word of the statement, or the opcode.
    pub method: String,
    /// The interface of the client, as far as the call shows it.
    pub interface: CallInterface,
    /// The keyspace that the call names, or else the one of its connection.
    pub keyspace: Option<String>,
    /// The column family; `None` if the call has none or several.
    pub family: Option<String>,
    /// The effect of the call on the data of the server.
    pub effect: CallEffect,
    /// The CQL statement, if the call has exactly one whose text is known.
    pub statement: Option<String>,
    /// The keyspace of tables for which statements name none: of the connection, or of those that have prepared the
    /// statements. `None` if these have several.
    pub session: Option<SessionKeyspace>,
    /// The message.
    pub request: Request,
}

/// The keyspace of a session; `None` if it has none.
pub type SessionKeyspace = Option<String>;

/// The request of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A Thrift message, without the length of its frame.
    Thrift {
        /// The decoded message.
        message: ThriftMessage,
        /// The same as it was sent.
        bytes: Bytes,
    },
    /// A frame of the native protocol.
    Native(NativeRequest),
}

/// A decoded reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A Thrift message.
    Thrift(ThriftMessage),
    /// A frame of the native protocol.
    Native(NativeReply),
}

impl Answer {
    /// Returns whether the call failed: by an exception that the method declares, or one of the protocol.
    pub fn is_exception(&self) -> bool {
        use wire::thrift::MessageKind;
        match self {
            Answer::Thrift(reply) => {
                reply.kind == MessageKind::Exception || reply.fields.keys().any(|field| *field != 0)
            }
            Answer::Native(reply) => matches!(reply.content, ReplyContent::Error { .. }),
        }
    }
}

impl Call {
    /// Returns whether the call changes data, the schema, users or rights.
    pub fn is_write(&self) -> bool {
        self.effect == CallEffect::Write
    }

    /// Returns the statements of the call whose texts it has or are known.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let (of_thrift, of_native) = match &self.request {
            Request::Native(request) => (None, &request.statements[..]),
            Request::Thrift { .. } => (self.statement.as_deref(), &[][..]),
        };
        of_thrift.into_iter().chain(of_native.iter().filter_map(NativeStatement::text))
    }

    /// Returns whether the call executes a statement whose text is not known, so that it may be any.
    pub(crate) fn is_of_unknown_text(&self) -> bool {
        match &self.request {
            Request::Native(request) => request.statements.iter().any(|statement| statement.text().is_none()),
            Request::Thrift { .. } => {
                self.method.starts_with(EXECUTE_PREPARED_OF_THRIFT) && self.statement.is_none()
            }
        }
    }

    /// Returns whether the call only writes if a condition holds.
    pub(crate) fn is_conditional(&self) -> bool {
        self.method == "cas"
            || self.is_write() && self.texts().any(|text| StatementWords::of(text).is_conditional)
    }

    /// Returns whether the server sets timestamps of columns: those of conditional writes, and of statements for which
    /// the client has sent none.
    pub(crate) fn lets_server_set_timestamps(&self) -> bool {
        let is_without = match &self.request {
            Request::Thrift { .. } => self.statement.is_some(),
            Request::Native(request) => request.timestamp.is_none(),
        };
        self.is_write() && (is_without || self.is_conditional())
    }

    /// Returns whether the server does not answer the call.
    pub fn is_oneway(&self) -> bool {
        use wire::thrift::MessageKind;
        matches!(&self.request, Request::Thrift { message, .. } if message.kind == MessageKind::Oneway)
    }

    /// Returns the call for a report, without its answers.
    pub fn compared<'a>(&'a self, number: u64, at_us: i64, client: &'a str) -> ComparedCall<'a> {
        ComparedCall {
            call: number,
            at_us,
            method: &self.method,
            keyspace: self.keyspace.as_deref().unwrap_or_default(),
            family: self.family.as_deref().unwrap_or_default(),
            interface: self.interface,
            client,
            is_write: self.is_write(),
            recorded_us: None,
            candidate_us: None,
            rules: &[],
            outcome: CallOutcome::Equal,
        }
    }

    /// Returns the request for a reproduction of a difference.
    pub fn reproduced(&self) -> ReproducedRequest {
        let native = match &self.request {
            Request::Thrift { bytes, .. } => return ReproducedRequest::Thrift(bytes.clone()),
            Request::Native(native) => native,
        };
        let text = |statement: &NativeStatement| statement.text().map(str::to_owned);
        let value = |value: &BoundValue| match value {
            BoundValue::Value(bytes) => CqlValue::Bytes(bytes.clone()),
            BoundValue::Null => CqlValue::Null,
            BoundValue::Unset => CqlValue::Unset,
        };
        match (native.code, &native.statements[..]) {
            (RequestCode::Query | RequestCode::Execute, [one]) => match text(one) {
                Some(statement) => {
                    ReproducedRequest::Cql { statement, values: one.values.iter().map(value).collect() }
                }
                None => ReproducedRequest::Other(native.code.name().to_owned()),
            },
            (RequestCode::Batch, many) => match many.iter().map(text).collect::<Option<Vec<_>>>() {
                Some(texts) => ReproducedRequest::Cql {
                    statement: format!("BEGIN BATCH {}; APPLY BATCH", texts.join("; ")),
                    values: many.iter().flat_map(|one| one.values.iter().map(value)).collect(),
                },
                None => ReproducedRequest::Other(native.code.name().to_owned()),
            },
            _ => ReproducedRequest::Other(native.code.name().to_owned()),
        }
    }
}
