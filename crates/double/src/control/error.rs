//! Errors of control requests, with their HTTP status.

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::content::JSON;

/// The kind of an error, which decides the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is wrong: it fails however often it is repeated.
    Invalid,
    /// The request lacks the token.
    Unauthorized,
    /// The request comes from a web page.
    Forbidden,
    /// There is no such path, snapshot, sandbox or rule.
    NotFound,
    /// The path exists, but not with this method.
    Method,
    /// A limit of the server is reached, which other requests can change.
    Limit,
    /// The body is longer than `CONTROL_BODY_BYTES_MAX`.
    TooLarge,
    /// The request can be repeated later.
    Busy,
    /// The server has failed.
    Internal,
}

impl ErrorKind {
    /// Returns the HTTP status of the reply.
    pub fn status(self) -> StatusCode {
        match self {
            ErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ErrorKind::Unauthorized => StatusCode::UNAUTHORIZED,
            ErrorKind::Forbidden => StatusCode::FORBIDDEN,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Method => StatusCode::METHOD_NOT_ALLOWED,
            ErrorKind::Limit => StatusCode::CONFLICT,
            ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The result of an operation of this crate; another kind of error can be named.
pub(crate) type Result<T, E = ControlError> = std::result::Result<T, E>;

/// An error of a control request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ControlError {
    /// The kind of the error, which decides the HTTP status.
    pub kind: ErrorKind,
    /// The message: what happened, and what to do.
    pub why: String,
}

impl ControlError {
    /// Creates an error of a kind.
    pub fn new(kind: ErrorKind, why: impl Into<String>) -> ControlError {
        ControlError { kind, why: why.into() }
    }

    /// Creates the error of a wrong request.
    pub fn invalid(why: impl Into<String>) -> ControlError {
        ControlError::new(ErrorKind::Invalid, why)
    }
}

impl From<db::Error> for ControlError {
    fn from(error: db::Error) -> ControlError {
        let kind = match &error {
            db::Error::InvalidRequest(_) | db::Error::Unknown(_) => ErrorKind::Invalid,
            db::Error::NotFound => ErrorKind::NotFound,
            db::Error::Overloaded(_) | db::Error::TimedOut(_) | db::Error::Unavailable { .. } => {
                ErrorKind::Busy
            }
            _ => ErrorKind::Internal,
        };
        let why = match error {
            db::Error::Overloaded(why) | db::Error::TimedOut(why) => why,
            error => error.to_string(),
        };
        ControlError { kind, why }
    }
}

impl IntoResponse for ControlError {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&ErrorReply { error: self.why }).unwrap_or_default() + "\n";
        let headers = [(CONTENT_TYPE, JSON), (CACHE_CONTROL, "no-store")];
        let mut reply = (self.kind.status(), headers, body).into_response();
        if self.kind == ErrorKind::Unauthorized {
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        reply
    }
}

/// The body of a reply with an error.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorReply {
    /// The message: what happened, and what to do.
    pub error: String,
}
