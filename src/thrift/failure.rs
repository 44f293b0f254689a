//! How a failed call is told: as one of the method's own exceptions, or as Thrift's.

use super::wire::{ApplicationError, WireError, Writer};
use crate::cql::CqlError;
use crate::db;

/// The exceptions that methods declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thrown {
    InvalidRequest,
    NotFound,
    Unavailable,
    TimedOut,
    Authentication,
    Authorization,
    /// Nodes have different schemas.
    SchemaDisagreement,
}

/// Why a call has no answer.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The arguments lack something that is required, or hold something unreadable.
    Protocol(String),
    Failed(db::Error),
}

impl Failure {
    /// A required field that is absent or of another type, in Java's words of 0.6.
    pub fn missing(field: &str, holder: &str) -> Failure {
        Failure::Protocol(format!("Required field '{field}' was not present! Struct: {holder}"))
    }
}

impl From<db::Error> for Failure {
    fn from(error: db::Error) -> Failure {
        Failure::Failed(error)
    }
}

impl From<CqlError> for Failure {
    /// Thrift has one exception for all that is wrong with a statement.
    fn from(error: CqlError) -> Failure {
        match error {
            CqlError::Failed(error) => Failure::Failed(error),
            other => Failure::Failed(db::Error::invalid(other.to_string())),
        }
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Failure {
        Failure::Protocol(error.to_string())
    }
}

/// Writes the reply of a failed call. `throws` are the method's exceptions by their field.
pub fn write_failure(
    writer: &mut Writer<'_>,
    method: &str,
    seqid: i32,
    failure: &Failure,
    throws: &[(i16, Thrown)],
) {
    let error = match failure {
        Failure::Protocol(text) => {
            let name = method.as_bytes();
            return writer.application_exception(name, seqid, ApplicationError::ProtocolError, text);
        }
        Failure::Failed(error) => error,
    };
    match thrown_as(error, throws) {
        Some((field, why)) => {
            writer.message_begin(method.as_bytes(), super::wire::MessageKind::Reply, seqid);
            writer.field_struct(field);
            if let Some(why) = why {
                writer.field_string(1, why.as_bytes());
            }
            writer.stop();
            writer.stop();
        }
        None => {
            let text = format!("{error}");
            writer.application_exception(method.as_bytes(), seqid, ApplicationError::InternalError, &text);
        }
    }
}

/// The declared exception that tells an error, and its text where it has one. A time-out that the method's
/// generation cannot tell becomes unavailability: a client would take an undeclared exception for success.
fn thrown_as<'a>(error: &'a db::Error, throws: &[(i16, Thrown)]) -> Option<(i16, Option<&'a str>)> {
    let field = |wanted: Thrown| throws.iter().find(|(_, thrown)| *thrown == wanted).map(|(field, _)| *field);
    match error {
        db::Error::InvalidRequest(why) | db::Error::Unknown(why) => {
            Some((field(Thrown::InvalidRequest)?, Some(why)))
        }
        db::Error::NotFound => Some((field(Thrown::NotFound)?, None)),
        db::Error::Unavailable { .. } => Some((field(Thrown::Unavailable)?, None)),
        db::Error::TimedOut(_) => {
            Some((field(Thrown::TimedOut).or_else(|| field(Thrown::Unavailable))?, None))
        }
        db::Error::Overloaded(_) => Some((field(Thrown::Unavailable)?, None)),
        db::Error::SchemaDisagreement(why) => match field(Thrown::SchemaDisagreement) {
            Some(field) => Some((field, None)),
            None => Some((field(Thrown::InvalidRequest)?, Some(why))),
        },
        db::Error::Authentication(why) => Some((field(Thrown::Authentication)?, Some(why))),
        db::Error::Authorization(why) => Some((field(Thrown::Authorization)?, Some(why))),
        db::Error::Internal(_) => None,
    }
}
