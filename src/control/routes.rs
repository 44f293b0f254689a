//! The table of routes.

use std::sync::Arc;

use hyper::Method;

use super::error::ControlError;
use super::openapi::{self, Document};
use super::operations::Control;
use super::route::{Call, NoBody, Route};
use super::{clock, dump, load, reset, snapshots};

/// Returns all routes.
pub fn routes() -> Vec<Route> {
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    vec![
        Route::new((GET, "/openapi.json"), "Describes this API.", describe),
        Route::new((POST, "/reset"), "Removes all rows, or returns to the state at the start.", reset::reset)
            .with_example(r#"{"what": "data"}"#),
        Route::new((GET, "/snapshots"), "Lists the snapshots.", snapshots::list),
        Route::new(
            (Method::PUT, "/snapshots/{name}"),
            "Takes a snapshot of rows, schema and users. It replaces one of this name.",
            snapshots::take,
        ),
        Route::new(
            (POST, "/snapshots/{name}/restore"),
            "Returns to a snapshot: rows, schema and users.",
            snapshots::restore,
        ),
        Route::new((Method::DELETE, "/snapshots/{name}"), "Deletes a snapshot.", snapshots::delete),
        Route::new((GET, "/clock"), "Returns the state of the server's clock.", clock::get),
        Route::new(
            (POST, "/clock"),
            "Stops, sets or moves the clock, or lets it follow the system's.",
            clock::change,
        )
        .with_example(r#"{"advance_ms": 3600000}"#),
        Route::new((POST, "/load"), "Loads a script of CQL, or rows as JSON.", load::answer),
        Route::new((GET, "/dump"), "Returns all rows as JSON, in the form that /load reads.", dump::dump),
    ]
}

async fn describe(_: Arc<Control>, _: Call<NoBody>) -> Result<Document, ControlError> {
    Ok(openapi::document(&routes()))
}
