//! `/log-requests`: which requests are logged. The page `/live` has a form for it.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::live;
use crate::extract::Form;
use crate::failure::{Result, forbidden, invalid};
use crate::state::Admin;
use crate::visitor::Visitor;
use db::request_log::RequestLogMode;

/// The form of `POST /log-requests`.
#[derive(Debug, Deserialize)]
pub(crate) struct RequestLogForm {
    /// As --log-requests has it.
    mode: String,
    /// The form comes from the page `/live`, which is the reply to it. Programs get the new mode.
    #[serde(default)]
    page: bool,
}

/// Answers `GET /log-requests` with the mode.
pub(crate) async fn mode(State(state): Admin, _: Visitor) -> String {
    format!("{}\n", state.database.request_log().mode())
}

/// Answers `POST /log-requests`, which sets the mode. The log shows the data of all users, so its user must be allowed
/// everything.
pub(crate) async fn set_mode(
    State(state): Admin,
    visitor: Visitor,
    Form(form): Form<RequestLogForm>,
) -> Result<Response> {
    if !visitor.user.may_everything() {
        return forbidden("only a superuser switches the log of requests");
    }
    let mode: RequestLogMode = match form.mode.trim().parse() {
        Ok(mode) => mode,
        Err(why) if form.page => return live::after_failure(&state, &visitor, why).await,
        Err(why) => return invalid(why),
    };
    state.database.request_log().set_mode(mode);
    tracing::info!("{} logs requests from now on: {mode}", visitor.user.name);
    if form.page {
        return Ok(Redirect::to("/live#log").into_response());
    }
    Ok(format!("{mode}\n").into_response())
}
