//! The input of a handler: the name in the path, and the body that its type reads.

use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::ControlError;

/// The content types of replies.
pub const JSON: &str = "application/json";
pub const JSON_LINES: &str = "application/x-ndjson";

/// A request that was found in the table of routes.
#[derive(Debug)]
pub struct Call<Q> {
    /// The part of the path in the place of `{name}`; empty if the path has none.
    pub name: String,
    pub body: Q,
}

/// The body of a request.
pub trait Input: Sized + Send + 'static {
    /// Reads the body. `content_type` is without parameters.
    fn read(body: Bytes, content_type: Option<&str>) -> Result<Self, ControlError>;

    /// Returns the kinds of bodies; empty if the request has none.
    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind>;

    /// Whether the request may also have no body.
    const IS_OPTIONAL: bool = false;
}

/// A kind of body that a request may have.
#[derive(Debug)]
pub struct BodyKind {
    pub content_type: &'static str,
    pub schema: Schema,
    /// `None`: the route's example.
    pub example: Option<Value>,
}

/// A request without a body.
#[derive(Debug)]
pub struct NoBody;

/// A body in JSON. Its content type is not checked, because curl sends another by default.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl Input for NoBody {
    fn read(body: Bytes, _: Option<&str>) -> Result<NoBody, ControlError> {
        if !body.is_empty() {
            return Err(ControlError::invalid("this request has no body: remove it"));
        }
        Ok(NoBody)
    }

    fn described(_: &mut SchemaGenerator) -> Vec<BodyKind> {
        Vec::new()
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for Json<T> {
    fn read(body: Bytes, _: Option<&str>) -> Result<Json<T>, ControlError> {
        serde_json::from_slice(&body).map(Json).map_err(|error| {
            ControlError::invalid(format!("the body is not the JSON that this request needs: {error}"))
        })
    }

    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind> {
        let schema = generator.subschema_for::<T>();
        vec![BodyKind { content_type: JSON, schema, example: None }]
    }
}

/// A body in JSON, or none, which means the defaults.
#[derive(Debug)]
pub struct OptionalJson<T>(pub T);

impl<T: Default + DeserializeOwned + JsonSchema + Send + 'static> Input for OptionalJson<T> {
    const IS_OPTIONAL: bool = true;

    fn read(body: Bytes, content_type: Option<&str>) -> Result<OptionalJson<T>, ControlError> {
        if body.is_empty() {
            return Ok(OptionalJson(T::default()));
        }
        Json::read(body, content_type).map(|Json(value)| OptionalJson(value))
    }

    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind> {
        Json::<T>::described(generator)
    }
}
