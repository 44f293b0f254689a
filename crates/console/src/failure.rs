//! Errors of requests to the admin server.

use askama::Template;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::page::{PageFrame, page_with};

/// The result of an operation of this crate; another kind of error can be named.
pub(crate) type Result<T, E = AdminError> = std::result::Result<T, E>;

/// Refuses an invalid request.
pub(crate) fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(AdminError::invalid(why))
}

/// Refuses a request without the right to it.
pub(crate) fn forbidden<T>(why: impl Into<String>) -> Result<T> {
    Err(AdminError::forbidden(why))
}

/// An error with its HTTP status and a sentence that says what happened and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct AdminError {
    pub status: StatusCode,
    pub why: String,
}

impl AdminError {
    pub fn new(status: StatusCode, why: impl Into<String>) -> AdminError {
        AdminError { status, why: why.into() }
    }

    pub fn invalid(why: impl Into<String>) -> AdminError {
        AdminError::new(StatusCode::BAD_REQUEST, why)
    }

    pub fn forbidden(why: impl Into<String>) -> AdminError {
        AdminError::new(StatusCode::FORBIDDEN, why)
    }

    pub fn not_found(why: impl Into<String>) -> AdminError {
        AdminError::new(StatusCode::NOT_FOUND, why)
    }

    pub fn internal(why: impl Into<String>) -> AdminError {
        AdminError::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }
}

impl From<db::Error> for AdminError {
    fn from(error: db::Error) -> AdminError {
        use db::Error;
        let status = match &error {
            Error::InvalidRequest(_) | Error::Unknown(_) => StatusCode::BAD_REQUEST,
            Error::NotFound => StatusCode::NOT_FOUND,
            Error::Authentication(_) => StatusCode::UNAUTHORIZED,
            Error::Authorization(_) => StatusCode::FORBIDDEN,
            Error::Overloaded(_) | Error::TimedOut(_) | Error::Unavailable { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        AdminError::new(status, error.to_string())
    }
}

impl IntoResponse for AdminError {
    /// Returns the error as text, which cannot contain HTML. The error is among the extensions of the reply, for
    /// [`in_page`].
    fn into_response(self) -> Response {
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        let mut reply = (self.status, kind, format!("{}\n", self.why)).into_response();
        reply.extensions_mut().insert(self);
        reply
    }
}

#[derive(Template)]
#[template(path = "pages/failure.html")]
struct FailurePage {
    frame: PageFrame,
    why: String,
}

/// Shows the error of a reply to a person in a page. Other replies stay as they are.
pub(crate) fn in_page(reply: Response, frame: impl FnOnce() -> PageFrame) -> Response {
    let Some(AdminError { status, why }) = reply.extensions().get().cloned() else { return reply };
    let mut frame = frame();
    status.canonical_reason().unwrap_or("Failed").clone_into(&mut frame.title);
    page_with(&FailurePage { frame, why }, Some(status))
}

/// Returns whether a browser asks for a page.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}
