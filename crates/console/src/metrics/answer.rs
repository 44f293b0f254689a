//! Answers `GET /metrics`.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::registry::Registry;

use super::collector::MetricsCollector;
use super::readings::Readings;
use crate::failure::{AdminError, Result};
use crate::state::Admin;
use crate::visitor::Visitor;

/// The content type of Prometheus' text form.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers the request. Metrics have no data, so every user may read them.
pub async fn answer(State(state): Admin, _: Visitor) -> Result<Response> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(MetricsCollector(Readings::take(&state))));
    let mut text = String::new();
    encode(&mut text, &registry)
        .map_err(|error| AdminError::internal(format!("the metrics could not be written: {error}")))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
