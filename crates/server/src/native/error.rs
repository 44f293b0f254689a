//! The errors of requests: a code, a text, and the fields of the code.

use base::util::hex;
use bytes::{Bytes, BytesMut};

use crate::observed_request::RequestError;
use base::compat::features::ConsistencyLevel;
use base::util::meter::MeterError;
use base::util::metrics::RequestOutcome;
use cql::CqlError;
use wire::native::{BodyError, BodyWriter, ProtocolVersion, consistency_code};

mod code {
    pub(super) const SERVER: i32 = 0x0000;
    pub(super) const PROTOCOL: i32 = 0x000a;
    pub(super) const BAD_CREDENTIALS: i32 = 0x0100;
    pub(super) const UNAVAILABLE: i32 = 0x1000;
    pub(super) const OVERLOADED: i32 = 0x1001;
    pub(super) const TRUNCATE: i32 = 0x1003;
    pub(super) const WRITE_TIMEOUT: i32 = 0x1100;
    pub(super) const READ_TIMEOUT: i32 = 0x1200;
    pub(super) const SYNTAX: i32 = 0x2000;
    pub(super) const UNAUTHORIZED: i32 = 0x2100;
    pub(super) const INVALID: i32 = 0x2200;
    pub(super) const CONFIGURATION: i32 = 0x2300;
    pub(super) const ALREADY_EXISTS: i32 = 0x2400;
    pub(super) const UNPREPARED: i32 = 0x2500;
}

/// Why a request failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NativeError {
    /// The frame is invalid, or not allowed in this state of the connection.
    #[error("{0}")]
    Protocol(String),
    /// The statement failed.
    #[error(transparent)]
    Failed(#[from] CqlError),
    /// No prepared statement has this id (any more): the client prepares it again.
    #[error("{}", cql::unknown_statement(&hex(.0)))]
    Unprepared(Bytes),
}

impl From<BodyError> for NativeError {
    fn from(error: BodyError) -> NativeError {
        match error {
            BodyError::Protocol(why) => NativeError::Protocol(why),
            BodyError::TooLong { length, bytes_max } => NativeError::longer(length, bytes_max),
            BodyError::Memory(error) => error.into(),
        }
    }
}

impl From<MeterError> for NativeError {
    fn from(error: MeterError) -> NativeError {
        db::Error::from(error).into()
    }
}

impl From<db::Error> for NativeError {
    fn from(error: db::Error) -> NativeError {
        NativeError::Failed(CqlError::Failed(error))
    }
}

/// The operation that failed, for errors that include it.
#[derive(Debug, Clone, Copy)]
pub struct FailedOperation {
    /// The consistency level of the request, which errors of replicas repeat.
    pub consistency: ConsistencyLevel,
    /// The kind of write, as the protocol names it; `None` for a read.
    pub write_type: Option<&'static str>,
    /// Whether it was TRUNCATE, whose timeout has an error code of its own.
    pub is_truncate: bool,
}

impl Default for FailedOperation {
    fn default() -> FailedOperation {
        FailedOperation { consistency: ConsistencyLevel::One, write_type: None, is_truncate: false }
    }
}

/// Why a statement failed: the error, and the operation that failed, if it is known.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct FailedStatement {
    pub error: NativeError,
    pub operation: FailedOperation,
}

impl<E: Into<NativeError>> From<E> for FailedStatement {
    fn from(error: E) -> FailedStatement {
        FailedStatement { error: error.into(), operation: FailedOperation::default() }
    }
}

impl RequestError for FailedStatement {
    fn of_database(&self) -> Option<&db::Error> {
        match &self.error {
            NativeError::Failed(CqlError::Failed(error)) => Some(error),
            _ => None,
        }
    }

    fn outcome(&self) -> RequestOutcome {
        match &self.error {
            NativeError::Protocol(_) => RequestOutcome::Protocol,
            NativeError::Failed(CqlError::Failed(error)) => error.into(),
            NativeError::Failed(CqlError::Unauthorized(_)) => RequestOutcome::Unauthorized,
            NativeError::Failed(_) | NativeError::Unprepared(_) => RequestOutcome::Invalid,
        }
    }
}

impl NativeError {
    /// Returns a PROTOCOL_ERROR: the frame or its body cannot be read, or is not allowed in the connection's state.
    pub fn protocol(why: impl Into<String>) -> NativeError {
        NativeError::Protocol(why.into())
    }

    /// Returns an UNPREPARED error, after which drivers prepare the statement again.
    pub(crate) fn unprepared(id: impl Into<Bytes>) -> NativeError {
        NativeError::Unprepared(id.into())
    }

    /// Returns the error for a request that is longer than allowed.
    pub fn longer(length: usize, bytes_max: usize) -> NativeError {
        NativeError::Failed(CqlError::invalid(BodyError::TooLong { length, bytes_max }.to_string()))
    }

    /// Returns the error code.
    fn code(&self, doing: FailedOperation) -> i32 {
        match self {
            NativeError::Protocol(_) => code::PROTOCOL,
            NativeError::Unprepared(_) => code::UNPREPARED,
            NativeError::Failed(error) => match error {
                CqlError::Syntax { .. } => code::SYNTAX,
                CqlError::Configuration(_) => code::CONFIGURATION,
                CqlError::AlreadyExists { .. } => code::ALREADY_EXISTS,
                CqlError::Unauthorized(_) => code::UNAUTHORIZED,
                CqlError::Unprepared(_) => code::INVALID,
                CqlError::PagingState => code::PROTOCOL,
                CqlError::Failed(error) => match error {
                    db::Error::InvalidRequest(_) | db::Error::Unknown(_) => code::INVALID,
                    db::Error::Unavailable { .. } => code::UNAVAILABLE,
                    db::Error::TimedOut(_) if doing.is_truncate => code::TRUNCATE,
                    db::Error::TimedOut(_) if doing.write_type.is_some() => code::WRITE_TIMEOUT,
                    db::Error::TimedOut(_) => code::READ_TIMEOUT,
                    db::Error::Authentication(_) => code::BAD_CREDENTIALS,
                    db::Error::Authorization(_) => code::UNAUTHORIZED,
                    db::Error::Overloaded(_) => code::OVERLOADED,
                    db::Error::NotFound | db::Error::SchemaDisagreement(_) | db::Error::Internal(_) => {
                        code::SERVER
                    }
                },
            },
        }
    }

    /// Appends the body of an ERROR frame.
    pub fn write(&self, doing: FailedOperation, version: ProtocolVersion, out: &mut BytesMut) {
        let mut writer = BodyWriter::new(out, version);
        let code = self.code(doing);
        writer.i32(code);
        writer.string(&self.to_string());
        let level = consistency_code(doing.consistency);
        match (self, code) {
            (NativeError::Failed(CqlError::Failed(db::Error::Unavailable { required, alive, .. })), _) => {
                writer.u16(level);
                writer.i32(*required);
                writer.i32(*alive);
            }
            // One replica was required, and none answered.
            (_, code::WRITE_TIMEOUT) => {
                writer.u16(level);
                writer.i32(0);
                writer.i32(1);
                writer.string(doing.write_type.unwrap_or("SIMPLE"));
                if version >= ProtocolVersion::V5 && doing.write_type == Some("CAS") {
                    writer.u16(0);
                }
            }
            (_, code::READ_TIMEOUT) => {
                writer.u16(level);
                writer.i32(0);
                writer.i32(1);
                writer.u8(0);
            }
            (NativeError::Failed(CqlError::AlreadyExists { keyspace, table, .. }), _) => {
                writer.string(keyspace);
                writer.string(table);
            }
            (NativeError::Unprepared(id), _) => writer.short_bytes(id),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_code_depends_on_the_operation() {
        let code = |error: db::Error, doing: FailedOperation| NativeError::from(error).code(doing);
        let read = FailedOperation::default();
        let write = FailedOperation { write_type: Some("SIMPLE"), ..read };
        let truncate = FailedOperation { is_truncate: true, ..write };
        let codes = [read, write, truncate].map(|doing| code(db::Error::TimedOut(String::new()), doing));
        assert_eq!(codes, [0x1200, 0x1100, 0x1003]);
        for doing in [read, write, truncate] {
            assert_eq!(code(db::Error::Overloaded(String::new()), doing), 0x1001);
            assert_eq!(code(db::Error::invalid("why"), doing), 0x2200);
        }
    }
}
