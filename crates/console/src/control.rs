//! The control API below `/control`.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::any;

use super::state::AdminState;
use super::visitor::Visitor;
use crate::failure::{AdminError, Result, forbidden};
use double::limits::CONTROL_REQUEST_S;

/// The path before the paths of the control API.
pub(crate) const PATH: &str = "/control";

/// Returns the routes below `PATH`.
pub(crate) fn routes(state: &AdminState) -> Router<Arc<AdminState>> {
    let Some(control) = &state.control else {
        return Router::new().route("/control/{*path}", any(async || missing()));
    };
    let api = double::control::router(control, Duration::from_secs(CONTROL_REQUEST_S));
    Router::new().nest(PATH, api.with_state(()).layer(from_fn(check_rights)))
}

fn missing() -> AdminError {
    AdminError::not_found("this server has no control API: start it with --ephemeral --control HOST:PORT")
}

/// Lets a request in if its user is allowed everything: the control API does everything.
async fn check_rights(visitor: Visitor, request: Request, next: Next) -> Result<Response> {
    if visitor.user.may_everything() {
        return Ok(next.run(request).await);
    }
    forbidden("the control API needs a superuser, or the token of --admin-token-file")
}
