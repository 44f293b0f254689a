//! A route of the control API: how a request is found, read and answered.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::call::{BodyKind, Call, Input, JSON, JSON_LINES};
use super::error::ControlError;
use super::operations::Control;
use super::request_stream::{RequestStream, StreamLine};

/// The part of a path that stands for any name.
pub const NAME: &str = "{name}";

/// A request as it arrived.
pub struct RawCall {
    pub name: String,
    pub content_type: Option<String>,
    pub body: Bytes,
}

/// The body of a successful reply.
pub enum Answer {
    Json(Vec<u8>),
    /// Lines, each with an object in JSON.
    Stream(Box<RequestStream>),
}

/// The future of a reply.
type Answering = BoxFuture<'static, Result<Answer, ControlError>>;

/// A row of the table of routes.
pub struct Route {
    pub method: Method,
    /// The path, in which `{name}` stands for one part.
    pub path: &'static str,
    /// A sentence that says what the request does.
    pub summary: &'static str,
    /// A body as an example, for requests that have one.
    pub example: Option<&'static str>,
    pub input: fn(&mut SchemaGenerator) -> Vec<BodyKind>,
    pub needs_body: bool,
    /// The content type of the reply.
    pub reply_type: &'static str,
    pub output: fn(&mut SchemaGenerator) -> Schema,
    run: Box<dyn Fn(Arc<Control>, RawCall) -> Answering + Send + Sync>,
}

impl Route {
    /// Creates a route. The types of its handler describe the request and the reply.
    pub fn new<Q, A, F>(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(Arc<Control>, Call<Q>) -> F,
    ) -> Route
    where
        Q: Input,
        A: Serialize + JsonSchema + 'static,
        F: Future<Output = Result<A, ControlError>> + Send + 'static,
    {
        let to_json = |reply: A| {
            serde_json::to_vec(&reply).map(Answer::Json).map_err(|error| {
                ControlError::new(super::ErrorKind::Internal, format!("the reply has no JSON form: {error}"))
            })
        };
        Route::with(method, path, summary, handler, to_json, JSON, described::<A>)
    }

    /// Creates a route whose reply is a stream of requests.
    pub fn stream<Q, F>(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(Arc<Control>, Call<Q>) -> F,
    ) -> Route
    where
        Q: Input,
        F: Future<Output = Result<RequestStream, ControlError>> + Send + 'static,
    {
        let to_stream = |stream| Ok(Answer::Stream(Box::new(stream)));
        Route::with(method, path, summary, handler, to_stream, JSON_LINES, described::<StreamLine<'_>>)
    }

    /// Creates a route. `answer` makes the answer from what the handler returns; `reply_type` and `output` describe it.
    fn with<Q, A, F>(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(Arc<Control>, Call<Q>) -> F,
        answer: fn(A) -> Result<Answer, ControlError>,
        reply_type: &'static str,
        output: fn(&mut SchemaGenerator) -> Schema,
    ) -> Route
    where
        Q: Input,
        A: 'static,
        F: Future<Output = Result<A, ControlError>> + Send + 'static,
    {
        let run = move |control, raw: RawCall| -> Answering {
            Box::pin(async move {
                let body = Q::read(raw.body, raw.content_type.as_deref())?;
                answer(handler(control, Call { name: raw.name, body }).await?)
            })
        };
        let (input, needs_body) =
            (Q::described as fn(&mut SchemaGenerator) -> Vec<BodyKind>, !Q::IS_OPTIONAL);
        Route {
            method,
            path,
            summary,
            example: None,
            input,
            needs_body,
            reply_type,
            output,
            run: Box::new(run),
        }
    }

    /// Returns the same route with a body as an example.
    #[must_use]
    pub fn with_example(self, example: &'static str) -> Route {
        Route { example: Some(example), ..self }
    }

    /// Returns the name in a path, or an empty text for a route without a name; `None` if the path is another one.
    pub fn name_in(&self, path: &str) -> Option<String> {
        let (mut own, mut given) = (self.path.split('/'), path.split('/'));
        let mut name = String::new();
        loop {
            match (own.next(), given.next()) {
                (None, None) => return Some(name),
                (Some(NAME), Some(part)) if !part.is_empty() => part.clone_into(&mut name),
                (Some(part), Some(other)) if part == other => {}
                _ => return None,
            }
        }
    }

    /// Answers a request.
    pub fn answer(&self, control: Arc<Control>, call: RawCall) -> Answering {
        (self.run)(control, call)
    }
}

fn described<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
