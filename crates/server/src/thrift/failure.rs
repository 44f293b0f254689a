//! The reply of a failed call: one of the method's own exceptions, or a TApplicationException.

use std::fmt;

use crate::observed_request::RequestError;
use base::util::meter::MeterError;
use base::util::metrics::RequestOutcome;
use cql::CqlError;
use wire::thrift::interface::Type;
use wire::thrift::{ApplicationError, WireError, Writer};

/// The exceptions that methods declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredException {
    /// InvalidRequestException, with the reason in `why`.
    InvalidRequest,
    /// NotFoundException: `get` found nothing.
    NotFound,
    /// UnavailableException: too few replicas are alive for the consistency level.
    Unavailable,
    /// TimedOutException: too few replicas have answered in time.
    TimedOut,
    /// AuthenticationException: the login failed.
    Authentication,
    /// AuthorizationException: the user lacks a right.
    Authorization,
    /// SchemaDisagreementException: nodes have different schemas.
    SchemaDisagreement,
}

impl DeclaredException {
    /// Returns the exception of a type in the interface files.
    pub(super) fn of(declared: &Type) -> DeclaredException {
        match declared.to_string().as_str() {
            "InvalidRequestException" => DeclaredException::InvalidRequest,
            "NotFoundException" => DeclaredException::NotFound,
            "UnavailableException" => DeclaredException::Unavailable,
            "TimedOutException" => DeclaredException::TimedOut,
            "AuthenticationException" => DeclaredException::Authentication,
            "AuthorizationException" => DeclaredException::Authorization,
            "SchemaDisagreementException" => DeclaredException::SchemaDisagreement,
            other => unreachable!("no method of the interface files throws {other}"),
        }
    }
}

/// The result of an operation of this crate; another kind of error can be named.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The arguments are unreadable, or a struct in them lacks a required field.
    Protocol(String),
    /// An argument is missing. This is known after all arguments have been read.
    MissingArgument(String),
    /// The call was readable and failed.
    Failed(db::Error),
}

impl Failure {
    /// Returns the error for a required field that is absent or of another type, in the words of 0.6.
    pub fn missing(field: &str, holder: &str) -> Failure {
        Failure::Protocol(not_present(field, holder))
    }

    /// Returns the error for an absent required number. Its text differs, because generated code has no null numbers
    /// and checks a flag instead.
    pub fn missing_number(field: &str, holder: &str) -> Failure {
        Failure::Protocol(not_found(field, holder))
    }

    /// Returns the error for an absent argument of a method.
    pub fn missing_argument(argument: &str, method: &str) -> Failure {
        Failure::MissingArgument(not_present(argument, &format!("{method}_args")))
    }

    /// Returns the error for an absent numeric argument of a method.
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

impl RequestError for Failure {
    fn of_database(&self) -> Option<&db::Error> {
        match self {
            Failure::Protocol(_) | Failure::MissingArgument(_) => None,
            Failure::Failed(error) => Some(error),
        }
    }

    fn outcome(&self) -> RequestOutcome {
        self.of_database().map_or(RequestOutcome::Protocol, RequestOutcome::from)
    }
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
    /// Maps all errors of a statement to InvalidRequestException: Thrift has no other exception for them.
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

/// Writes the reply of a failed call. `throws` has the method's exceptions by field id.
pub(super) fn write_failure(
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
            writer.message_begin(method.as_bytes(), wire::thrift::MessageKind::Reply, seqid);
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

/// Returns the field of the declared exception for an error, and the text if the exception has one. `None` if the
/// method declares none that fits: then a TApplicationException has the text. An undeclared exception would look like
/// success to a client.
///
/// Errors after which a retry may succeed never become InvalidRequest, which tells a client to give up. They become the
/// nearest exception that the method declares: overload becomes Unavailable, and so does a timeout if the method has no
/// TimedOut.
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
                // 0.7 has a text for it, and no exception.
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
    use base::util::Release;
    use wire::thrift::{MessageHeader, MessageKind, Reader};

    /// Returns the reply that a client gets, as the name of the exception and its text.
    fn reply_of(error: &db::Error, throws: &[(i16, DeclaredException)]) -> String {
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
        // Only the text is written: the fields that 1.2 and later add are optional.
        match reader.field_begin().unwrap() {
            None => format!("{thrown:?}"),
            Some((_, 1)) => format!("{thrown:?}: {}", String::from_utf8_lossy(&reader.bytes().unwrap())),
            Some((_, id)) => format!("{thrown:?} with field {id}"),
        }
    }

    #[test]
    fn cluster_errors_become_exceptions_that_the_method_declares() {
        let why = || "why".to_owned();
        let errors = [
            db::Error::unavailable("why"),
            db::Error::TimedOut(why()),
            db::Error::Overloaded(why()),
            db::Error::SchemaDisagreement(why()),
            db::Error::unknown("why"),
        ];
        let application = "TApplicationException";
        // A method, a release that has it, and its replies to the first four errors.
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
            let is_it = |method: &&crate::thrift::methods::Method| {
                method.name == name && method.releases.has(release)
            };
            let method = METHODS.iter().find(is_it).unwrap_or_else(|| panic!("{name} of {release}"));
            let answers: Vec<String> = errors.iter().map(|error| reply_of(error, &method.throws)).collect();
            assert_eq!(answers[..4], expected, "{name} of {release}");
            assert_eq!(answers[4], "InvalidRequest: why", "{name} of {release}");
        }
    }

    #[test]
    fn errors_that_allow_a_retry_never_become_invalid_request() {
        for method in METHODS.iter() {
            for error in [db::Error::TimedOut(String::new()), db::Error::Overloaded(String::new())] {
                let reply = reply_of(&error, &method.throws);
                let allows_retry = ["Unavailable", "TimedOut", "TApplicationException"].contains(&&*reply);
                assert!(allows_retry, "{}: {reply}", method.name);
            }
        }
    }
}
