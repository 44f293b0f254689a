//! A port that people and probes only read: text for a GET, on a connection of its own.

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::access_token::{AccessToken, NEEDS_TOKEN};
use crate::host::HostNames;
use crate::service::{HttpLimits, HttpService};
use base::util::Password;
use net::limits::STATUS_REQUEST_BYTES_MAX;

/// A port whose requests change nothing.
#[derive(Debug, Clone)]
pub struct ReadOnlyPort {
    /// The token that requests must have; `None` requires none.
    pub token: Option<Password>,
    /// The names under which clients reach the port, besides addresses.
    pub hosts: HostNames,
    /// For a request and its reply: silent clients must not keep others out.
    pub time: Duration,
    /// The reply to a method that is neither GET nor HEAD.
    pub wrong_method: &'static str,
    /// The reply to a path without a route.
    pub unknown_path: &'static str,
}

impl ReadOnlyPort {
    /// Serves these routes. No reply is stored anywhere.
    pub fn serve(self, routes: Router) -> HttpService {
        let ReadOnlyPort { token, hosts, time, wrong_method, unknown_path } = self;
        let checks = Checks { token: AccessToken::new(token), wrong_method };
        let routes = routes.fallback((StatusCode::NOT_FOUND, unknown_path));
        let routes = routes.layer(from_fn_with_state(checks, check));
        HttpService::new(routes, hosts, HttpLimits::of_one(STATUS_REQUEST_BYTES_MAX, time))
    }
}

/// Decides whether a handler runs.
#[derive(Clone)]
struct Checks {
    token: AccessToken,
    wrong_method: &'static str,
}

async fn check(State(checks): State<Checks>, request: Request, next: Next) -> Response {
    let mut reply = if !checks.token.admits(request.headers()) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        (StatusCode::UNAUTHORIZED, challenge, format!("{NEEDS_TOKEN}\n")).into_response()
    } else if ![Method::GET, Method::HEAD].contains(request.method()) {
        (StatusCode::METHOD_NOT_ALLOWED, checks.wrong_method).into_response()
    } else {
        next.run(request).await
    };
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
