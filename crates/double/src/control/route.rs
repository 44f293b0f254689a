//! A row of the table of routes: the handler of a request, and its description for OpenAPI.

use std::sync::Arc;

use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{Schema, SchemaGenerator};

use super::call::{BodyKind, ControlCall, Input};
use super::operations::Control;
use crate::control::Result;

/// The part of a path that stands for any name.
pub(super) const NAME: &str = "{name}";

/// A method of HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Verb {
    /// The name of the method in requests.
    pub name: &'static str,
    filter: MethodFilter,
}

pub(super) const GET: Verb = Verb { name: "GET", filter: MethodFilter::GET };
pub(super) const PUT: Verb = Verb { name: "PUT", filter: MethodFilter::PUT };
pub(super) const POST: Verb = Verb { name: "POST", filter: MethodFilter::POST };
pub(super) const DELETE: Verb = Verb { name: "DELETE", filter: MethodFilter::DELETE };

/// The body of a successful reply.
pub trait Output: IntoResponse {
    /// The content type of the body.
    const CONTENT_TYPE: &'static str;

    /// Returns the form of the body.
    fn described(generator: &mut SchemaGenerator) -> Schema;
}

/// A row of the table of routes.
pub struct Route {
    /// The method of the requests.
    pub verb: Verb,
    /// The path, in which `{name}` stands for one part.
    pub path: &'static str,
    /// A sentence that says what the request does.
    pub summary: &'static str,
    /// A body as an example, for requests that have one.
    pub example: Option<&'static str>,
    /// Describes the bodies that a request may have.
    pub input: fn(&mut SchemaGenerator) -> Vec<BodyKind>,
    /// Whether a request must have a body.
    pub needs_body: bool,
    /// The content type of the reply.
    pub reply_type: &'static str,
    /// Describes the body of the reply.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    /// Answers requests with this method.
    pub(super) handler: MethodRouter<Arc<Control>>,
}

impl Route {
    /// Creates a route. The types of its handler describe the request and the reply.
    pub fn new<Q, A, F>(
        verb: Verb,
        path: &'static str,
        summary: &'static str,
        handler: fn(ControlCall<Q>) -> F,
    ) -> Route
    where
        Q: Input,
        A: Output,
        F: Future<Output = Result<A>> + Send + 'static,
    {
        Route {
            verb,
            path,
            summary,
            example: None,
            input: Q::described,
            needs_body: !Q::IS_OPTIONAL,
            reply_type: A::CONTENT_TYPE,
            output: A::described,
            handler: on(verb.filter, handler),
        }
    }

    /// Returns the same route with a body as an example.
    #[must_use]
    pub fn with_example(self, example: &'static str) -> Route {
        Route { example: Some(example), ..self }
    }
}
