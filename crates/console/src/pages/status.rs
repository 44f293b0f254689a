//! `/status` and `/health`: plain text for people and health probes, as the status port has them.

use axum::extract::State;
use axum::http::StatusCode;

use crate::state::Admin;
use crate::visitor::Visitor;

/// Answers `GET /status`.
pub(crate) async fn answer(State(state): Admin, _: Visitor) -> String {
    state.status.text()
}

/// Answers `GET /health`. Everybody may ask, so the reply does not say why the server is unhealthy; `/status` does.
pub(crate) async fn health(State(state): Admin) -> (StatusCode, &'static str) {
    match state.status.failure() {
        None => (StatusCode::OK, "ok\n"),
        Some(_) => (StatusCode::SERVICE_UNAVAILABLE, "not healthy: GET /status has the reason\n"),
    }
}
