//! Bodies in JSON, of requests and of replies.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{BodyKind, Input};
use super::content::JSON;
use super::error::{ControlError, ErrorKind};
use super::route::Output;
use crate::control::Result;

/// A body in JSON. Its content type is not checked, because curl sends another by default.
#[derive(Debug)]
pub struct Json<T>(pub T);

/// A body in JSON, or none, which means the defaults.
#[derive(Debug)]
pub(super) struct OptionalJson<T>(pub T);

/// The result of a handler whose reply is JSON.
pub type Replied<T> = Result<Json<T>>;

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for Json<T> {
    fn read(body: Bytes, _: Option<&str>) -> Result<Json<T>> {
        serde_json::from_slice(&body).map(Json).map_err(|error| {
            ControlError::invalid(format!("the body is not the JSON that this request needs: {error}"))
        })
    }

    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind> {
        let schema = generator.subschema_for::<T>();
        vec![BodyKind { content_type: JSON, schema, example: None }]
    }
}

impl<T: Default + DeserializeOwned + JsonSchema + Send + 'static> Input for OptionalJson<T> {
    const IS_OPTIONAL: bool = true;

    fn read(body: Bytes, content_type: Option<&str>) -> Result<OptionalJson<T>> {
        if body.is_empty() {
            return Ok(OptionalJson(T::default()));
        }
        Json::read(body, content_type).map(|Json(value)| OptionalJson(value))
    }

    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind> {
        Json::<T>::described(generator)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    /// Returns the value as one line.
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(mut json) => {
                json.push(b'\n');
                ([(CONTENT_TYPE, JSON), (CACHE_CONTROL, "no-store")], json).into_response()
            }
            Err(error) => {
                let why = format!("the reply has no JSON form: {error}");
                ControlError::new(ErrorKind::Internal, why).into_response()
            }
        }
    }
}

impl<T: Serialize + JsonSchema> Output for Json<T> {
    const CONTENT_TYPE: &'static str = JSON;

    fn described(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}
