//! `/`: what is served, and how it is doing.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use crate::admin::page::{Frame, page};
use crate::admin::state::AdminState;
use crate::admin::visitor::Visitor;

#[derive(Template)]
#[template(path = "pages/home.html")]
struct HomePage {
    frame: Frame,
    status: Vec<(&'static str, String)>,
    has_control: bool,
}

/// Answers `GET /`.
pub async fn answer(State(state): State<Arc<AdminState>>, visitor: Visitor) -> Response {
    page(&HomePage {
        frame: Frame::new(&visitor, "/", "Home"),
        status: state.status.lines(),
        has_control: state.control.is_some() && visitor.user.may_everything(),
    })
}
