//! `/ask.csv` and `/ask.json`: the result of a question as a file.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::form::AskForm;
use super::page::ask;
use super::result::ShownResult;
use crate::extract::Query;
use crate::failure::{AdminError, Result, invalid};
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;

/// Answers `GET /ask.csv`.
pub(crate) async fn csv(
    State(state): Admin,
    visitor: Visitor,
    Query(form): Query<AskForm>,
) -> Result<Response> {
    let result = result(&state, &visitor, &form).await?;
    Ok(file("text/csv; charset=utf-8", "result.csv", result.csv))
}

/// Answers `GET /ask.json`.
pub(crate) async fn json(
    State(state): Admin,
    visitor: Visitor,
    Query(form): Query<AskForm>,
) -> Result<Response> {
    let result = result(&state, &visitor, &form).await?;
    Ok(file("application/json", "result.json", result.json + "\n"))
}

async fn result(state: &AdminState, visitor: &Visitor, form: &AskForm) -> Result<ShownResult> {
    if !form.is_asked() {
        return invalid("give the question with the fields of /ask, such as cql=SELECT...");
    }
    let result = ask(state, visitor, form).await?.result;
    result.ok_or_else(|| AdminError::invalid("the statement has no rows that a file could hold"))
}

fn file(kind: &'static str, name: &str, content: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    (headers, content).into_response()
}
