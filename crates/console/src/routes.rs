//! The table of routes.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, middleware};

use super::failure::AdminError;
use super::pages::{
    ask, change, charts, cluster, double, home, keyspaces, live, login, model, request_log, rows, status,
    verification,
};
use super::state::AdminState;
use super::{control, guard, headers, metrics, static_files};
use crate::limits::ADMIN_FORM_BYTES_MAX;

/// Returns all routes.
pub(crate) fn routes(state: &Arc<AdminState>) -> Router {
    let visitors = for_visitors()
        .merge(control::routes(state))
        .layer(middleware::from_fn_with_state(state.clone(), guard::admit));
    for_everybody()
        .merge(visitors)
        .layer(DefaultBodyLimit::max(ADMIN_FORM_BYTES_MAX))
        .layer(middleware::from_fn(guard::check_origin))
        .layer(middleware::from_fn(headers::add))
        .with_state(state.clone())
}

/// Returns the routes that need no login. They reveal nothing about the data.
fn for_everybody() -> Router<Arc<AdminState>> {
    Router::new()
        .route("/health", get(status::health))
        .route("/login", get(login::form).post(login::log_in))
        .route("/static/{name}", get(static_files::answer))
}

/// Returns the routes behind the guard: their handlers have a visitor.
fn for_visitors() -> Router<Arc<AdminState>> {
    Router::new()
        .route("/", get(home::answer))
        .route("/keyspaces", get(keyspaces::list))
        .route("/keyspaces/{keyspace}", get(keyspaces::one))
        .route("/rows", get(rows::answer).post(rows::answer))
        .route("/rows.json", get(rows::json).post(rows::json))
        .route("/cell", get(rows::cell).post(rows::cell))
        .route("/ask", get(ask::answer).post(ask::answer_form))
        .route("/ask.csv", get(ask::csv))
        .route("/ask.json", get(ask::json))
        .route("/change", get(change::form).post(change::apply))
        .route(charts::PATH, get(charts::answer))
        .route("/cluster", get(cluster::answer))
        .route("/live", get(live::answer))
        .route("/live/requests", get(live::requests))
        .route("/double", get(double::answer).post(double::change))
        .route("/logout", post(login::log_out))
        .route("/log-requests", get(request_log::mode).post(request_log::set_mode))
        .route("/metrics", get(metrics::answer))
        .route("/model", get(model::example).post(model::show))
        .route("/model/file", post(model::file))
        .route("/status", get(status::answer))
        .route("/verify", get(verification::show).post(verification::start))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
}

async fn unknown(request: Request) -> AdminError {
    AdminError::not_found(format!("there is no path {:?}: GET / leads to all pages", request.uri().path()))
}

async fn wrong_method(request: Request) -> AdminError {
    let why = format!("{} does not support the method {}", request.uri().path(), request.method());
    AdminError::new(StatusCode::METHOD_NOT_ALLOWED, why)
}
