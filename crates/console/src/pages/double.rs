//! `/double`: snapshots, resets, faults and the clock of a server for tests, and its last requests.

mod asked;
mod form;
mod sentence;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use self::asked::{AskedGroup, asked};
use self::form::{DoubleForm, ERRORS, OPERATIONS, REPLIES, done, run};
use self::sentence::sentence;
use super::home::count;
use crate::choices::Choices;
use crate::extract::{Form, Query};
use crate::failure::{AdminError, Result, forbidden, wants_page};
use crate::page::{PageFrame, page, page_with};
use crate::present::escaped;
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;
use double::control::{ClockReply, Control, ControlError, FaultReply, SnapshotReply};

#[derive(Template)]
#[template(path = "pages/double.html")]
struct DoublePage {
    frame: PageFrame,
    /// The last action, or the reason why it failed.
    done: &'static str,
    failure: String,
    snapshots: Vec<ShownSnapshot>,
    faults: Vec<ShownFault>,
    clock: ClockReply,
    is_refusing: bool,
    asked: Vec<AskedGroup>,
    asked_left_out: usize,
    form: DoubleForm,
    choices: Choices,
    operations: &'static [(&'static str, &'static str)],
    errors: &'static [(&'static str, &'static str)],
    replies: &'static [(&'static str, &'static str)],
}

struct ShownSnapshot {
    name: String,
    families: usize,
    bytes: String,
}

struct ShownFault {
    name: String,
    /// The rule as a sentence.
    sentence: String,
    /// The rule as the control API has it.
    rule: String,
    met: String,
    hits: String,
}

impl From<SnapshotReply> for ShownSnapshot {
    fn from(snapshot: SnapshotReply) -> ShownSnapshot {
        let bytes = count(snapshot.bytes as u64);
        ShownSnapshot { name: snapshot.name, families: snapshot.column_families, bytes }
    }
}

impl From<FaultReply> for ShownFault {
    fn from(fault: FaultReply) -> ShownFault {
        let rule = serde_json::to_string(&fault.rule).unwrap_or_default();
        ShownFault {
            sentence: escaped(sentence(&fault.rule).as_bytes()),
            name: fault.name,
            rule: escaped(rule.as_bytes()),
            met: count(fault.met),
            hits: count(fault.hits),
        }
    }
}

/// The query of the page after a change.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DoubleQuery {
    done: String,
}

/// The page of a server that is not for tests.
#[derive(Template)]
#[template(path = "pages/double_off.html")]
struct DoubleOffPage {
    frame: PageFrame,
    why: &'static str,
}

const NO_CONTROL: &str =
    "only a server for tests has this page: start it with --ephemeral --control HOST:PORT";

/// Returns the control of the server, if it has one and the visitor may use it.
fn control_of<'a>(state: &'a AdminState, visitor: &Visitor) -> Result<&'a Arc<Control>> {
    let Some(control) = &state.control else { return Err(AdminError::not_found(NO_CONTROL)) };
    if !visitor.user.may_everything() {
        return forbidden(
            "this page replaces all data: it needs a superuser, or the token of --admin-token-file",
        );
    }
    Ok(control)
}

/// Answers `GET /double`.
pub(crate) async fn answer(
    State(state): Admin,
    visitor: Visitor,
    headers: HeaderMap,
    Query(query): Query<DoubleQuery>,
) -> Result<Response> {
    if state.control.is_none() && wants_page(&headers) {
        let frame = PageFrame::new(&visitor, "/double", "Test double");
        return Ok(page_with(&DoubleOffPage { frame, why: NO_CONTROL }, Some(StatusCode::NOT_FOUND)));
    }
    let control = control_of(&state, &visitor)?;
    let shown = DoublePage { done: done(&query.done), ..read(control, &visitor).await? };
    Ok(page(&shown))
}

/// Answers `POST /double`: makes a change. If it fails, the page is shown again with the form as it was.
pub(crate) async fn change(
    State(state): Admin,
    visitor: Visitor,
    Form(form): Form<DoubleForm>,
) -> Result<Response> {
    let control = control_of(&state, &visitor)?;
    match run(control, &form).await {
        Ok(()) if done(&form.action).is_empty() => Ok(Redirect::to("/double").into_response()),
        Ok(()) => Ok(Redirect::to(&format!("/double?done={}", form.action)).into_response()),
        Err(ControlError { kind, why }) => {
            let choices = Choices::of(&visitor.schema, &form.keyspace, &form.column_family);
            let shown = DoublePage { failure: why, form, choices, ..read(control, &visitor).await? };
            Ok(page_with(&shown, Some(kind.status())))
        }
    }
}

async fn read(control: &Control, visitor: &Visitor) -> Result<DoublePage> {
    let failed = |error: ControlError| AdminError::new(error.kind.status(), error.why);
    let faults = control.faults().map_err(failed)?;
    let (asked, asked_left_out) = asked(&faults.journal);
    Ok(DoublePage {
        frame: PageFrame::new(visitor, "/double", "Test double"),
        done: "",
        failure: String::new(),
        snapshots: control.snapshots().await.into_iter().map(ShownSnapshot::from).collect(),
        faults: faults.list().into_iter().map(|rule| FaultReply::from(rule).into()).collect(),
        clock: control.clock().map_err(failed)?.into(),
        is_refusing: faults.connections.are_refused(),
        asked,
        asked_left_out,
        form: DoubleForm::default(),
        choices: Choices::of(&visitor.schema, "", ""),
        operations: &OPERATIONS,
        errors: &ERRORS,
        replies: &REPLIES,
    })
}
