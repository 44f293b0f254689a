//! `/log-requests`: which requests are logged.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use serde::Deserialize;

use crate::admin::failure::AdminError;
use crate::admin::state::AdminState;
use crate::admin::visitor::Visitor;
use crate::db::request_log::RequestLogMode;

/// The form of `POST /log-requests`.
#[derive(Debug, Deserialize)]
pub struct RequestLogForm {
    /// As --log-requests has it.
    mode: String,
}

/// Answers `GET /log-requests` with the mode.
pub async fn mode(State(state): State<Arc<AdminState>>, _: Visitor) -> String {
    format!("{}\n", state.database.request_log().mode())
}

/// Answers `POST /log-requests`, which sets the mode. The log shows the data of all users, so its user must be allowed
/// everything.
pub async fn set_mode(
    State(state): State<Arc<AdminState>>,
    visitor: Visitor,
    Form(form): Form<RequestLogForm>,
) -> Result<String, AdminError> {
    if !visitor.user.may_everything() {
        return Err(AdminError::forbidden("only a superuser switches the log of requests"));
    }
    let mode: RequestLogMode = form.mode.parse().map_err(AdminError::invalid)?;
    state.database.request_log().set_mode(mode);
    tracing::info!("{} logs requests from now on: {mode}", visitor.user.name);
    Ok(format!("{mode}\n"))
}
