//! The OpenAPI document, made from the table of routes.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::content::JSON;
use super::error::ErrorReply;
use super::route::{NAME, Route};

/// The document, as JSON.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Document(#[schemars(with = "Map<String, Value>")] pub Value);

/// Returns the document of these routes.
pub fn document(routes: &[Route]) -> Document {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = SchemaGenerator::new(settings);
    let error = generator.subschema_for::<ErrorReply>();
    let mut paths = Map::new();
    for route in routes {
        let described = operation(route, &error, &mut generator);
        let operations = paths.entry(route.path).or_insert_with(|| json!({}));
        operations[route.verb.name.to_ascii_lowercase()] = described;
    }
    Document(json!({
        "openapi": "3.1.0",
        "info": {"title": "thriftstore control API", "version": env!("CARGO_PKG_VERSION")},
        "servers": [
            {"url": "/", "description": "The server."},
            {
                "url": "/sandboxes/{sandbox}",
                "description": "A sandbox. It has all paths but /sandboxes.",
                "variables": {"sandbox": {"default": "NAME", "description": "The name of the sandbox."}},
            },
        ],
        "paths": paths,
        "components": {"schemas": generator.take_definitions(true)},
    }))
}

fn operation(route: &Route, error: &Schema, generator: &mut SchemaGenerator) -> Value {
    let content = |kind: &str, schema: Schema| json!({kind: {"schema": schema}});
    let reply = (route.output)(generator);
    let mut operation = json!({
        "summary": route.summary,
        "responses": {
            "200": {"description": "Done.", "content": content(route.reply_type, reply)},
            "default": {
                "description": "The request failed.",
                "content": content(JSON, error.clone()),
            },
        },
    });
    if route.path.contains(NAME) {
        operation["parameters"] =
            json!([{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}]);
    }
    let mut kinds = Map::new();
    for kind in (route.input)(generator) {
        let mut body = json!({"schema": kind.schema});
        let of_route = route.example.and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(example) = kind.example.or(of_route) {
            body["example"] = example;
        }
        kinds.insert(kind.content_type.to_owned(), body);
    }
    if !kinds.is_empty() {
        operation["requestBody"] = json!({"required": route.needs_body, "content": kinds});
    }
    operation
}
