//! The control API below `/control`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;

use super::failure::AdminError;
use super::state::AdminState;
use super::visitor::Visitor;
use double::limits::CONTROL_REQUEST_S;

/// The path before the paths of the control API.
pub const PATH: &str = "/control";

/// Answers a request of the control API. It does everything, so its user must be allowed everything.
pub async fn answer(
    State(state): State<Arc<AdminState>>,
    visitor: Visitor,
    request: Request,
) -> Result<Response, AdminError> {
    let Some(control) = &state.control else {
        return Err(AdminError::not_found(
            "this server has no control API: start it with --ephemeral --control HOST:PORT",
        ));
    };
    if !visitor.user.may_everything() {
        return Err(AdminError::forbidden(
            "the control API needs a superuser, or the token of --admin-token-file",
        ));
    }
    let path = request.uri().path();
    let path = path.strip_prefix(PATH).unwrap_or(path).to_owned();
    let time = Duration::from_secs(CONTROL_REQUEST_S);
    let reply = control.reply(request, &path, visitor.connection.ending.clone(), time).await;
    Ok(reply.map(Body::new))
}
