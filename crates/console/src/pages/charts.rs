//! `/charts`: the charts of the last minutes. The script of a page replaces its charts by these.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::extract::Query;
use crate::metrics::{Chart, details, overview};
use crate::page::page;
use crate::state::Admin;
use crate::visitor::Visitor;

/// The path, which pages fetch again and again as long as they are open.
pub(crate) const PATH: &str = "/charts";

#[derive(Template)]
#[template(path = "pages/charts.html")]
struct Charts {
    charts: Vec<Chart>,
}

/// The fields of the path.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChartsQuery {
    /// `details`: by method and kind of error. Otherwise the charts of the first page.
    of: String,
}

/// Answers `GET /charts`.
pub(crate) async fn answer(State(state): Admin, _: Visitor, Query(query): Query<ChartsQuery>) -> Response {
    let samples = state.history.list();
    let charts = if query.of == "details" { details(&samples) } else { overview(&samples) };
    page(&Charts { charts })
}
