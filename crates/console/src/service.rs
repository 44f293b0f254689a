//! The service of the admin server's port.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::control;
use super::failure::AdminError;
use super::routes::routes;
use super::state::AdminState;
use crate::limits::{ADMIN_REQUEST_S, ADMIN_SILENCE_S};
use double::limits::CONTROL_REQUEST_S;
use net::limits::ADMIN_HEAD_BYTES_MAX;
use web::{HostNames, HttpLimits, HttpService, HttpTimes};

/// The time that a request may take that is not admitted, when another client needs the place of its connection.
const SCARCE: Duration = Duration::from_millis(500);

/// The time limits of the admin server. Requests of the control API have their own.
pub const ADMIN_TIMES: HttpTimes =
    HttpTimes { head: Duration::from_secs(ADMIN_SILENCE_S), request: Duration::from_secs(ADMIN_REQUEST_S) };

/// Returns the service of the admin server's port, which browsers reach under these names. If the server has that port,
/// this begins to sample the counters of requests, so it must be called in a runtime.
pub fn admin_service(state: &Arc<AdminState>, hosts: HostNames, times: HttpTimes) -> HttpService {
    if state.served.admin.is_some() {
        state.begin_history();
    }
    let routes = routes(state).layer(from_fn_with_state(times.request, limit_time));
    let limits = HttpLimits { rest_unadmitted: SCARCE, ..HttpLimits::of_many(ADMIN_HEAD_BYTES_MAX, times) };
    HttpService::new(routes, hosts, limits)
}

/// Ends a request that takes too long.
async fn limit_time(State(time): State<Duration>, request: Request, next: Next) -> Response {
    // The control API ends its requests itself.
    let is_control = request.uri().path().starts_with(control::PATH);
    let time = if is_control { Duration::from_secs(CONTROL_REQUEST_S + 1) } else { time };
    timeout(time, next.run(request)).await.unwrap_or_else(|_| {
        let why = format!("the request was not done after {} seconds: it was stopped", time.as_secs_f64());
        AdminError::new(StatusCode::SERVICE_UNAVAILABLE, why).into_response()
    })
}
