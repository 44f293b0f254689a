//! The table of routes.

use super::call::{ControlCall, NoBody};
use super::json::{Json, Replied};
use super::openapi::{self, Document};
use super::route::{DELETE, GET, POST, PUT, Route};
use super::{clock, dump, faults, load, request_stream, requests, reset, sandbox_calls, snapshots};

/// Returns all routes.
pub fn routes() -> Vec<Route> {
    [of_data(), of_requests()].into_iter().flatten().collect()
}

/// Returns the routes that replace, read or write data, and the clock.
fn of_data() -> Vec<Route> {
    vec![
        Route::new(GET, "/openapi.json", "Describes this API.", describe),
        Route::new(POST, "/reset", "Removes all rows, or returns to the state at the start.", reset::reset)
            .with_example(r#"{"what": "data"}"#),
        Route::new(GET, "/snapshots", "Lists the snapshots.", snapshots::list),
        Route::new(
            PUT, "/snapshots/{name}",
            "Takes a snapshot of rows, schema and users. It replaces one of this name.",
            snapshots::take,
        ),
        Route::new(
            POST, "/snapshots/{name}/restore",
            "Returns to a snapshot: rows, schema and users.",
            snapshots::restore,
        ),
        Route::new(DELETE, "/snapshots/{name}", "Deletes a snapshot.", snapshots::delete),
        Route::new(GET, "/sandboxes", "Lists the sandboxes.", sandbox_calls::list),
        Route::new(
            PUT, "/sandboxes/{name}",
            "Opens a sandbox: a further database with ports of its own, which begins with the state at the start or with \
             a snapshot.",
            sandbox_calls::open,
        )
        .with_example("{}"),
        Route::new(
            DELETE, "/sandboxes/{name}",
            "Closes the connections of a sandbox, and frees it.",
            sandbox_calls::delete,
        ),
        Route::new(GET, "/clock", "Returns the state of the server's clock.", clock::get),
        Route::new(
            POST, "/clock",
            "Stops, sets or moves the clock, or lets it follow the system's.",
            clock::change,
        )
        .with_example(r#"{"advance_ms": 3600000}"#),
        Route::new(POST, "/load", "Loads a script of CQL or of cassandra-cli, or rows as JSON.", load::answer),
        Route::new(GET, "/dump", "Returns all rows as JSON, in the form that /load reads.", dump::dump),
    ]
}

/// Returns the routes of requests and connections of clients: their faults, and the journal.
fn of_requests() -> Vec<Route> {
    vec![
        Route::new(GET, "/faults", "Lists the rules of faults, and what they have done.", faults::list),
        Route::new(
            PUT, "/faults/{name}",
            "Sets a rule: which requests are delayed, fail, or get no proper reply. It replaces one of this name.",
            faults::set,
        )
        .with_example(r#"{"when": {"method": "insert", "key": "jonas"}, "error": "timed_out", "applied": true}"#),
        Route::new(DELETE, "/faults/{name}", "Removes a rule.", faults::delete),
        Route::new(
            POST, "/connections",
            "Closes new connections of clients at once, or accepts them again.",
            faults::connections,
        )
        .with_example(r#"{"refuse": false}"#),
        Route::new(
            POST, "/restart",
            "Closes all connections of clients, and forgets prepared statements, as a restart does.",
            faults::restart,
        ),
        Route::new(GET, "/requests", "Returns the last 100 requests.", requests::list),
        Route::new(POST, "/requests/find", "Returns the last requests that meet a condition.", requests::find)
            .with_example(r#"{"when": {"column_family": "Posts"}, "last": 10}"#),
        Route::new(
            GET, "/requests/stream",
            "Returns each request when it ends, until the client leaves.",
            request_stream::all,
        ),
        Route::new(
            POST, "/requests/stream",
            "Returns each request that meets a condition when it ends, until the client leaves.",
            request_stream::some,
        )
        .with_example(r#"{"when": {"column_family": "Posts"}}"#),
        Route::new(POST, "/requests/verify", "Compares the requests with what is expected.", requests::verify)
            .with_example(r#"{"requests": [{"when": {"method": "insert"}, "times": 0}], "in_order": true}"#),
    ]
}

async fn describe(_: ControlCall<NoBody>) -> Replied<Document> {
    Ok(Json(openapi::document(&routes())))
}
