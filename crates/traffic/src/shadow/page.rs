//! The HTTP port of a shadow: the report so far, and a few numbers.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse};
use axum::routing::get;

use super::status::ShadowState;
use base::util::Password;
use web::{HostNames, HttpService, ReadOnlyPort};

/// Time limit for a request and its reply. A page may have some megabytes.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const JSON: &str = "application/json";

/// Returns a port with `GET /` for the page, `/report.txt` and `/report.json` for the report in other forms, and
/// `/status.json`. If there is a token, requests must have it. Browsers reach the port under these names.
pub fn shadow_page(state: Arc<ShadowState>, token: Option<Password>, hosts: HostNames) -> HttpService {
    let port = ReadOnlyPort {
        token,
        hosts,
        time: REQUEST_TIMEOUT,
        wrong_method: "this port is read-only: use GET\n",
        unknown_path: "unknown path: use GET /, /report.txt, /report.json or /status.json\n",
    };
    let routes = Router::new()
        .route("/", get(html))
        .route("/report.txt", get(text))
        .route("/report.json", get(json))
        .route("/status.json", get(status));
    port.serve(routes.with_state(state))
}

async fn html(State(state): State<Arc<ShadowState>>) -> Html<String> {
    Html(state.summary().html())
}

async fn text(State(state): State<Arc<ShadowState>>) -> String {
    state.summary().text()
}

async fn json(State(state): State<Arc<ShadowState>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, JSON)], state.summary().json())
}

async fn status(State(state): State<Arc<ShadowState>>) -> impl IntoResponse {
    // Numbers always have a JSON form.
    let json = serde_json::to_string(&state.status()).unwrap_or_default();
    ([(CONTENT_TYPE, JSON)], json + "\n")
}
