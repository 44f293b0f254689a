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
pub struct Document(pub Map<String, Value>);

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
    let mut document = Map::new();
    document.insert("openapi".to_owned(), json!("3.1.0"));
    document.insert(
        "info".to_owned(),
        json!({"title": "thriftstore control API", "version": env!("CARGO_PKG_VERSION")}),
    );
    document.insert(
        "servers".to_owned(),
        json!([
            {"url": "/", "description": "The server."},
            {
                "url": "/sandboxes/{sandbox}",
                "description": "A sandbox. It has all paths but /sandboxes.",
                "variables": {"sandbox": {"default": "NAME", "description": "The name of the sandbox."}},
            },
        ]),
    );
    document.insert("paths".to_owned(), paths.into());
    document.insert("components".to_owned(), json!({"schemas": generator.take_definitions(true)}));
    Document(document)
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
    let bodies = (route.input)(generator);
    if !bodies.is_empty() {
        let of_route = || route.example.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let kinds = bodies.into_iter().map(|kind| {
            let mut body = json!({"schema": kind.schema});
            if let Some(example) = kind.example.or_else(of_route) {
                body["example"] = example;
            }
            (kind.content_type.to_owned(), body)
        });
        let kinds: Map<String, Value> = kinds.collect();
        operation["requestBody"] = json!({"required": route.needs_body, "content": kinds});
    }
    operation
}
