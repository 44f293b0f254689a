//! The input of a handler: the control, the name in the path, and the body that its type reads.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Extension, FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::error::{ControlError, ErrorKind};
use super::operations::Control;
use crate::control::Result;
use crate::limits::CONTROL_BODY_BYTES_MAX;
use web::HttpConnection;

/// A request to the control API.
pub struct ControlCall<Q> {
    /// The control of the server, or of the sandbox in the path.
    pub control: Arc<Control>,
    /// The part of the path in the place of `{name}`; empty if the path has none.
    pub name: String,
    /// The body of the request.
    pub body: Q,
    /// The client's connection.
    pub connection: HttpConnection,
}

/// The body of a request.
pub trait Input: Sized + Send + 'static {
    /// Whether the request may also have no body.
    const IS_OPTIONAL: bool = false;

    /// Reads the body. `content_type` is without parameters.
    ///
    /// # Errors
    /// `Invalid` if it has another form.
    fn read(body: Bytes, content_type: Option<&str>) -> Result<Self>;

    /// Returns the kinds of bodies; empty if the request has none.
    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind>;
}

/// A kind of body that a request may have.
#[derive(Debug)]
pub struct BodyKind {
    /// The content type of the body.
    pub content_type: &'static str,
    /// The form of the body.
    pub schema: Schema,
    /// `None`: the route's example.
    pub example: Option<Value>,
}

/// A request without a body.
#[derive(Debug)]
pub struct NoBody;

impl Input for NoBody {
    fn read(body: Bytes, _: Option<&str>) -> Result<NoBody> {
        if !body.is_empty() {
            return Err(ControlError::invalid("this request has no body: remove it"));
        }
        Ok(NoBody)
    }

    fn described(_: &mut SchemaGenerator) -> Vec<BodyKind> {
        Vec::new()
    }
}

impl<Q: Input> FromRequest<Arc<Control>> for ControlCall<Q> {
    type Rejection = ControlError;

    async fn from_request(request: Request, server: &Arc<Control>) -> Result<ControlCall<Q>> {
        let (mut parts, body) = request.into_parts();
        let in_path = RawPathParams::from_request_parts(&mut parts, &()).await;
        let in_path = in_path.map_err(|_| {
            ControlError::invalid(
                "a name in the path is not UTF-8: use letters, digits, hyphens, underscores and full stops",
            )
        })?;
        let (mut control, mut name) = (server.clone(), String::new());
        for (of, value) in &in_path {
            match of {
                "sandbox" => control = server.of_sandbox(value)?,
                _ => value.clone_into(&mut name),
            }
        }
        let connection = Extension::<HttpConnection>::from_request_parts(&mut parts, &()).await;
        let Extension(connection) =
            connection.map_err(|error| ControlError::new(ErrorKind::Internal, error.to_string()))?;
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.and_then(|value| value.split(';').next());
        let content_type = content_type.map(|kind| kind.trim().to_ascii_lowercase());
        let body = Q::read(bytes_of(body).await?, content_type.as_deref())?;
        Ok(ControlCall { control, name, body, connection })
    }
}

/// Reads the body of a request. A body that is announced as too long is not read.
async fn bytes_of(body: Body) -> Result<Bytes> {
    if body.size_hint().lower() > CONTROL_BODY_BYTES_MAX as u64 {
        return Err(too_large());
    }
    match Limited::new(body, CONTROL_BODY_BYTES_MAX).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => Err(ControlError::invalid(format!("the body could not be read: {error}"))),
    }
}

fn too_large() -> ControlError {
    let why = format!("the body has more than {CONTROL_BODY_BYTES_MAX} bytes: divide it");
    ControlError::new(ErrorKind::TooLarge, why)
}
