//! How a failed call is told: as one of the method's own exceptions, or as Thrift's.

use std::fmt;

use super::wire::{ApplicationError, WireError, Writer};
use crate::cql::CqlError;
use crate::db;
use crate::util::meter::MeterError;

/// The exceptions that methods declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredException {
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
    /// The arguments hold something unreadable, or a struct in them lacks something that is required.
    Protocol(String),
    /// An argument is missing. That is known when all of them have been read.
    MissingArgument(String),
    Failed(db::Error),
}

impl Failure {
    /// A required field that is absent or of another type, in Java's words of 0.6.
    pub fn missing(field: &str, holder: &str) -> Failure {
        Failure::Protocol(not_present(field, holder))
    }

    /// The same of a required number: generated code cannot see one that is null, and asks whether it came.
    pub fn missing_number(field: &str, holder: &str) -> Failure {
        Failure::Protocol(not_found(field, holder))
    }

    /// A method's own argument that is absent.
    pub fn missing_argument(argument: &str, method: &str) -> Failure {
        Failure::MissingArgument(not_present(argument, &format!("{method}_args")))
    }

    /// A method's own number that is absent.
    pub fn missing_number_argument(argument: &str, method: &str) -> Failure {
        Failure::MissingArgument(not_found(argument, &format!("{method}_args")))
    }
}

fn not_found(field: &str, holder: &str) -> String {
    format!("Required field '{field}' was not found in serialized data! Struct: {holder}")
}

fn not_present(field: &str, holder: &str) -> String {
    format!("Required field '{field}' was not present! Struct: {holder}")
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Protocol(why) | Failure::MissingArgument(why) => out.write_str(why),
            Failure::Failed(error) => error.fmt(out),
        }
    }
}

impl From<db::Error> for Failure {
    fn from(error: db::Error) -> Failure {
        Failure::Failed(error)
    }
}

impl From<MeterError> for Failure {
    fn from(error: MeterError) -> Failure {
        Failure::Failed(error.into())
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
    throws: &[(i16, DeclaredException)],
) {
    let error = match failure {
        Failure::Protocol(text) | Failure::MissingArgument(text) => {
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

/// The declared exception that tells an error, and its text where it has one.
///
/// What may succeed when it is tried again is told by an exception that says so, the nearest that the method has: that
/// there is too much to do by unavailability, and so is a time-out where there is nothing else. InvalidRequest would tell
/// a client to give up. `None`: Thrift's own exception has to do, and has the text; a client would take an undeclared one
/// for success.
fn thrown_as<'a>(
    error: &'a db::Error,
    throws: &[(i16, DeclaredException)],
) -> Option<(i16, Option<&'a str>)> {
    let field = |wanted: DeclaredException| {
        throws.iter().find(|(_, thrown)| *thrown == wanted).map(|(field, _)| *field)
    };
    match error {
        db::Error::InvalidRequest(why) | db::Error::Unknown(why) => {
            Some((field(DeclaredException::InvalidRequest)?, Some(why)))
        }
        db::Error::NotFound => Some((field(DeclaredException::NotFound)?, None)),
        db::Error::Unavailable { .. } | db::Error::Overloaded(_) => {
            Some((field(DeclaredException::Unavailable)?, None))
        }
        db::Error::TimedOut(_) => Some((
            field(DeclaredException::TimedOut).or_else(|| field(DeclaredException::Unavailable))?,
            None,
        )),
        db::Error::SchemaDisagreement(why) => {
            match field(DeclaredException::SchemaDisagreement)
                .or_else(|| field(DeclaredException::Unavailable))
            {
                Some(field) => Some((field, None)),
                // 0.7 has words for it, and no exception.
                None => Some((field(DeclaredException::InvalidRequest)?, Some(why))),
            }
        }
        db::Error::Authentication(why) => Some((field(DeclaredException::Authentication)?, Some(why))),
        db::Error::Authorization(why) => Some((field(DeclaredException::Authorization)?, Some(why))),
        db::Error::Internal(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::thrift::methods::METHODS;
    use crate::thrift::wire::{MessageHeader, MessageKind, Reader};
    use crate::util::Release;

    /// What a client of a method is told, as the name of the exception and its text.
    fn told(error: &db::Error, throws: &[(i16, DeclaredException)]) -> String {
        let mut out = BytesMut::new();
        write_failure(&mut Writer::new(&mut out), "method", 1, &Failure::Failed(error.clone()), throws);
        let message = out.freeze();
        let mut reader = Reader::new(&message);
        let header = MessageHeader::read(&mut reader).unwrap();
        if header.kind == MessageKind::Exception {
            return "TApplicationException".to_owned();
        }
        let (_, field) = reader.field_begin().unwrap().unwrap();
        let thrown = throws.iter().find(|(id, _)| *id == field).map(|(_, thrown)| thrown).unwrap();
        // Nothing but the text is written: the fields that 1.2 and later add are optional.
        match reader.field_begin().unwrap() {
            None => format!("{thrown:?}"),
            Some((_, 1)) => format!("{thrown:?}: {}", String::from_utf8_lossy(&reader.bytes().unwrap())),
            Some((_, id)) => format!("{thrown:?} with field {id}"),
        }
    }

    #[test]
    fn failures_of_a_cluster_are_exceptions_of_every_generation() {
        let why = || "why".to_owned();
        let errors = [
            db::Error::unavailable("why"),
            db::Error::TimedOut(why()),
            db::Error::Overloaded(why()),
            db::Error::SchemaDisagreement(why()),
            db::Error::unknown("why"),
        ];
        let application = "TApplicationException";
        // The method and a release that has it, and what it tells of each.
        let cases = [
            ("insert", Release::V0_3, ["Unavailable", "Unavailable", "Unavailable", "Unavailable"]),
            ("get_column", Release::V0_3, [application, application, application, "InvalidRequest: why"]),
            ("get_slice", Release::V0_4, ["Unavailable", "Unavailable", "Unavailable", "Unavailable"]),
            ("insert", Release::V0_4, ["Unavailable", "Unavailable", "Unavailable", "Unavailable"]),
            ("get_slice", Release::V0_5, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            ("get_slice", Release::V0_6, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            ("batch_mutate", Release::V0_7, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            ("truncate", Release::V0_7, ["Unavailable", "Unavailable", "Unavailable", "Unavailable"]),
            (
                "system_add_keyspace",
                Release::V0_7,
                [application, application, application, "InvalidRequest: why"],
            ),
            (
                "system_add_keyspace",
                Release::V0_8,
                [application, application, application, "SchemaDisagreement"],
            ),
            ("add", Release::V0_8, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            (
                "execute_cql_query",
                Release::V1_0,
                ["Unavailable", "TimedOut", "Unavailable", "SchemaDisagreement"],
            ),
            ("get_slice", Release::V1_1, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            ("atomic_batch_mutate", Release::V1_2, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            ("truncate", Release::V1_2, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            ("cas", Release::V2_0, ["Unavailable", "TimedOut", "Unavailable", "Unavailable"]),
            (
                "system_drop_column_family",
                Release::V2_1,
                [application, application, application, "SchemaDisagreement"],
            ),
        ];
        for (name, release, expected) in cases {
            let is_it = |method: &&&crate::thrift::methods::Method| {
                method.name == name && method.releases.has(release)
            };
            let method = METHODS.iter().find(is_it).unwrap_or_else(|| panic!("{name} of {release}"));
            let answers: Vec<String> = errors.iter().map(|error| told(error, method.throws)).collect();
            assert_eq!(answers[..4], expected, "{name} of {release}");
            assert_eq!(answers[4], "InvalidRequest: why", "{name} of {release}");
        }
    }

    #[test]
    fn no_method_tells_a_client_to_give_up_what_may_be_tried_again() {
        for method in METHODS.iter() {
            for error in [db::Error::TimedOut(String::new()), db::Error::Overloaded(String::new())] {
                let told = told(&error, method.throws);
                let says_so = ["Unavailable", "TimedOut", "TApplicationException"].contains(&&*told);
                assert!(says_so, "{}: {told}", method.name);
            }
        }
    }
}
