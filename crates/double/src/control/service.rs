//! Serves the control API over HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, ORIGIN};
use axum::http::{Method, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use tokio::time::timeout;

use super::error::{ControlError, ErrorKind};
use super::operations::Control;
use super::route::Route;
use super::routes::routes;
use crate::control::Result;
use crate::limits::{CONTROL_REQUEST_S, CONTROL_SILENCE_S};
use base::util::Password;
use net::limits::STATUS_REQUEST_BYTES_MAX;
use web::{AccessToken, HostNames, HttpConnection, HttpLimits, HttpService, HttpTimes, NEEDS_TOKEN};

/// The time limits of the control port.
pub const CONTROL_TIMES: HttpTimes = HttpTimes {
    head: Duration::from_secs(CONTROL_SILENCE_S),
    request: Duration::from_secs(CONTROL_REQUEST_S),
};

/// Returns the service of the control port, which clients reach under these names. If there is a token, requests must
/// have it.
pub fn control_service(
    control: &Arc<Control>,
    token: Option<Password>,
    hosts: HostNames,
    times: HttpTimes,
) -> HttpService {
    let routes = router(control, times.request);
    let routes = routes.layer(from_fn_with_state(AccessToken::new(token), check_sender));
    HttpService::new(routes, hosts, HttpLimits::of_many(STATUS_REQUEST_BYTES_MAX, times))
}

async fn check_sender(State(token): State<AccessToken>, request: Request, next: Next) -> Result<Response> {
    if !token.admits(request.headers()) {
        return Err(ControlError::new(ErrorKind::Unauthorized, NEEDS_TOKEN));
    }
    // A browser sends this header with each request of a web page that changes something.
    if request.headers().contains_key(ORIGIN) {
        let why = "a web page must not control this server: send the request without the header Origin";
        return Err(ControlError::new(ErrorKind::Forbidden, why));
    }
    if let Some(connection) = request.extensions().get::<HttpConnection>() {
        connection.admit();
    }
    Ok(next.run(request).await)
}

/// Returns the paths of the control API. A request and its work may take this time. Whether the client may send the
/// request is checked before.
pub fn router(control: &Arc<Control>, time: Duration) -> Router {
    Router::new()
        .nest("/sandboxes/{sandbox}", all_paths())
        .merge(all_paths())
        .layer(from_fn_with_state(time, limit_time))
        .with_state(control.clone())
}

async fn limit_time(State(time): State<Duration>, request: Request, next: Next) -> Result<Response> {
    timeout(time, next.run(request)).await.map_err(|_| {
        let why = format!("the request was not done after {} seconds: it was stopped", time.as_secs_f64());
        ControlError::new(ErrorKind::Busy, why)
    })
}

fn all_paths() -> Router<Arc<Control>> {
    let mut by_path: BTreeMap<&str, Vec<Route>> = BTreeMap::new();
    for route in routes() {
        by_path.entry(route.path).or_default().push(route);
    }
    let paths = by_path.into_iter().map(|(path, routes)| (path, all_methods(routes)));
    paths.fold(Router::new().fallback(unknown_path), |router, (path, methods)| router.route(path, methods))
}

/// Returns the routes of one path. axum would answer HEAD like GET.
fn all_methods(routes: Vec<Route>) -> MethodRouter<Arc<Control>> {
    let verbs: Vec<&str> = routes.iter().map(|route| route.verb.name).collect();
    let verbs = verbs.join(", ");
    let refuse = async move |method: Method, uri: Uri| {
        let why = format!("{} has no {method}: use {verbs}", uri.path());
        ([(ALLOW, verbs)], ControlError::new(ErrorKind::Method, why)).into_response()
    };
    let others = any(refuse.clone()).head(refuse);
    routes.into_iter().fold(others, |methods, route| methods.merge(route.handler))
}

async fn unknown_path(uri: Uri) -> ControlError {
    let why = format!("there is no path {:?}: GET /openapi.json lists all of them", uri.path());
    ControlError::new(ErrorKind::NotFound, why)
}
