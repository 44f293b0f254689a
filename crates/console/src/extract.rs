//! The parameters of requests. axum reads them; mistakes get the same kind of errors as all others of the admin server.

use std::error::Error;

use axum::extract::rejection::FormRejection;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::failure::{AdminError, Result};
use crate::limits::ADMIN_FORM_BYTES_MAX;

/// The fields of a query.
pub(crate) struct Query<T>(pub T);

/// The fields of a form: of the body, or of the query of a GET.
pub(crate) struct Form<T>(pub T);

/// The variable parts of a path.
pub(crate) struct Path<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = AdminError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Query<T>> {
        let read = axum::extract::Query::from_request_parts(parts, state).await;
        let read = read.map(|axum::extract::Query(fields)| Query(fields));
        read.map_err(|error| AdminError::invalid(format!("the query cannot be read: {}", cause(&error))))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = AdminError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        let read = read.map(|axum::extract::Path(parts)| Path(parts));
        read.map_err(|error| AdminError::invalid(format!("the path cannot be read: {}", cause(&error))))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Form<T> {
    type Rejection = AdminError;

    async fn from_request(request: Request, state: &S) -> Result<Form<T>> {
        let read = axum::Form::from_request(request, state).await;
        read.map(|axum::Form(fields)| Form(fields)).map_err(|error| form_error(&error))
    }
}

fn form_error(error: &FormRejection) -> AdminError {
    let why = match error {
        FormRejection::InvalidFormContentType(_) => {
            "the form must be sent with the Content-Type application/x-www-form-urlencoded".to_owned()
        }
        error if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            format!("the form has more than {ADMIN_FORM_BYTES_MAX} bytes")
        }
        error => format!("the form cannot be read: {}", cause(error)),
    };
    AdminError::new(error.status(), why)
}

/// Returns the cause of an error of axum, which is clearer for a user.
fn cause(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
