//! Calls: decoded requests with their effect, and decoded replies.
//!
//! A [`Conversation`] follows one connection: which keyspace it uses, which API generation its client uses, and which
//! statements it has prepared. So it describes a request that names none of these.

mod column_type;
mod conversation;
mod native_frame;
mod native_reply;
mod native_request;
mod prepared_texts;
mod statement;
mod thrift_place;

use bytes::Bytes;

pub use conversation::Conversation;
pub use native_frame::NativeFrame;
pub use native_reply::{Column, NativeReply, ReplyContent, Rows};
pub use native_request::{NativeRequest, NativeStatement, Part, StatementText};
pub use prepared_texts::PreparedTexts;
pub use statement::StatementWords;
pub use thrift_place::{method_of, result_of};

use super::ThriftMessage;
use super::report::{CqlValue, Interface, ReproducedRequest};
use super::value::ValueError;
use base::model::BoundValue;
use wire::native::{BodyError, RequestCode};

/// Why a message of a recording cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("the bytes are not one native frame of version 1 to 5")]
    Frame,
    #[error("unknown opcode {0:#04x}")]
    Opcode(u8),
    #[error("{0}")]
    Body(String),
}

impl From<BodyError> for CallError {
    fn from(error: BodyError) -> CallError {
        CallError::Body(error.to_string())
    }
}

/// The effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Read,
    /// Changes data, the schema, users or rights.
    Write,
    /// Only concerns the connection, or describes the server.
    Session,
}

/// A decoded request.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The Thrift method; for the native protocol the first word of the statement, or the opcode.
    pub method: String,
    pub interface: Interface,
    pub keyspace: Option<String>,
    /// The column family; `None` if the call has none or several.
    pub family: Option<String>,
    pub effect: Effect,
    /// The CQL statement, if the call has exactly one whose text is known.
    pub statement: Option<String>,
    pub request: Request,
}

/// The request of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Thrift { message: ThriftMessage, bytes: Bytes },
    Native(NativeRequest),
}

/// A decoded reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Thrift(ThriftMessage),
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
    pub fn is_write(&self) -> bool {
        self.effect == Effect::Write
    }

    /// Returns whether the server does not answer the call.
    pub fn is_oneway(&self) -> bool {
        use wire::thrift::MessageKind;
        matches!(&self.request, Request::Thrift { message, .. } if message.kind == MessageKind::Oneway)
    }

    /// Returns the request for a reproduction of a difference.
    pub fn reproduced(&self, prepared: &PreparedTexts) -> ReproducedRequest {
        let native = match &self.request {
            Request::Thrift { bytes, .. } => return ReproducedRequest::Thrift(bytes.clone()),
            Request::Native(native) => native,
        };
        let text = |statement: &NativeStatement| match &statement.text {
            StatementText::Text(text) => Some(text.clone()),
            StatementText::Prepared(id) => prepared.get(&id.bytes).map(str::to_owned),
        };
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
