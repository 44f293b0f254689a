//! `/live`: charts of the last minutes, requests as they come, the slowest of the last hour, who is connected, and the
//! errors.

mod clients;
mod filter;
mod shown_request;
mod stream;

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, timeout_at};

use self::clients::{ClientGroup, KindGroup, grouped};
use self::filter::{LiveFilter, LiveQuery};
use self::shown_request::ShownRequest;
use super::home::count;
use crate::choices::Choices;
use crate::extract::Query;
use crate::failure::{Result, forbidden};
use crate::limits::{LIVE_LIST_MAX, LIVE_WATCH_S};
use crate::metrics::{Chart, HISTORY_MINUTES, details};
use crate::page::{PageFrame, page};
use crate::present::escaped;
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;
use base::marshal::timestamp_text;
use db::activity::RequestSummary;
use db::faults::SoughtRequests;
use db::limits::LIVE_REQUESTS_PER_S;
use db::request_log::RequestLogSwitch;

/// Requests of the journal that the page shows before others come.
const JOURNAL_SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "pages/live.html")]
struct LivePage {
    frame: PageFrame,
    charts: Vec<Chart>,
    minutes: u64,
    choices: Choices,
    query: LiveQuery,
    /// The path of the stream with the same filter.
    stream: String,
    requests: Vec<ShownRequest>,
    /// Whether the page shows the requests of the last seconds.
    is_watched: bool,
    watch_s: u64,
    per_s: u64,
    slow: Vec<ShownRequest>,
    kinds: Vec<KindGroup>,
    clients: Vec<ClientGroup>,
    clients_left_out: usize,
    errors: Vec<ShownError>,
    errors_forgotten: u64,
    log: ShownLog,
    /// Why the log of requests was not switched.
    failure: String,
}

/// The log of requests.
struct ShownLog {
    mode: String,
    /// The file to which lines are written, if it is not the log of the server.
    file: Option<String>,
    is_redacted: bool,
}

impl ShownLog {
    fn of(log: &RequestLogSwitch) -> ShownLog {
        let file = log.file().map(|file| escaped(file.as_os_str().as_encoded_bytes()));
        ShownLog { mode: log.mode().to_string(), file, is_redacted: log.is_redacted() }
    }
}

struct ShownError {
    text: String,
    count: String,
    last: String,
    method: String,
}

/// Refuses users who may not see everything: requests and errors have the keys and names of all column families.
fn check(visitor: &Visitor) -> Result<()> {
    if visitor.user.may_everything() {
        return Ok(());
    }
    forbidden(
        "requests show keys of all column families: this page needs a superuser, or the token of --admin-token-file",
    )
}

/// Answers `GET /live`.
pub(crate) async fn answer(
    State(state): Admin,
    visitor: Visitor,
    Query(query): Query<LiveQuery>,
) -> Result<Response> {
    Ok(page(&live_page(&state, &visitor, query).await?))
}

/// Returns the page after the log of requests could not be switched.
pub(crate) async fn after_failure(
    state: &AdminState,
    visitor: &Visitor,
    failure: String,
) -> Result<Response> {
    let shown = LivePage { failure, ..live_page(state, visitor, LiveQuery::default()).await? };
    Ok((StatusCode::BAD_REQUEST, page(&shown)).into_response())
}

async fn live_page(state: &AdminState, visitor: &Visitor, query: LiveQuery) -> Result<LivePage> {
    check(visitor)?;
    let filter = query.filter()?;
    let requests =
        if query.watch.is_empty() { from_journal(state, &filter) } else { watched(state, &filter).await };
    let activity = state.database.activity();
    let (kinds, clients, clients_left_out) = grouped(&state.server.clients());
    let (errors, errors_forgotten) = activity.errors.list();
    Ok(LivePage {
        frame: PageFrame::new(visitor, "/live", "Live"),
        charts: details(&state.history.list()),
        minutes: HISTORY_MINUTES,
        choices: Choices::of(&visitor.schema, &query.keyspace, &query.family),
        stream: format!("/live/requests?{}", query.encoded()),
        is_watched: !query.watch.is_empty(),
        query,
        requests: requests.iter().rev().map(ShownRequest::of).collect(),
        watch_s: LIVE_WATCH_S,
        per_s: LIVE_REQUESTS_PER_S,
        slow: activity.slow.list().iter().map(ShownRequest::with_date).collect(),
        kinds,
        clients,
        clients_left_out,
        errors: errors
            .into_iter()
            .map(|error| ShownError {
                text: escaped(error.text.as_bytes()),
                count: count(error.count),
                last: timestamp_text(error.last_ms),
                method: error.method.to_owned(),
            })
            .collect(),
        errors_forgotten,
        log: ShownLog::of(state.database.request_log()),
        failure: String::new(),
    })
}

/// Answers `GET /live/requests`: the same requests as a stream of events.
pub(crate) async fn requests(
    State(state): Admin,
    visitor: Visitor,
    Query(query): Query<LiveQuery>,
) -> Result<Response> {
    check(&visitor)?;
    Ok(stream::reply(state, query.filter()?, visitor))
}

/// Returns the last requests of the journal, oldest first, if the server has one.
fn from_journal(state: &AdminState, filter: &LiveFilter) -> Vec<RequestSummary> {
    let Some(faults) = state.database.faults() else { return Vec::new() };
    let found = faults.journal.find(&SoughtRequests::default(), JOURNAL_SHOWN);
    let found = found.into_iter().map(RequestSummary::without_passwords);
    let found = found.map(|request| RequestSummary { at_ms: 0, ..request });
    found.filter(|request| filter.admits(request)).collect()
}

/// Follows requests for some seconds, for browsers without scripts. Returns them oldest first.
async fn watched(state: &AdminState, filter: &LiveFilter) -> Vec<RequestSummary> {
    let mut live = state.database.request_log().follow();
    let (mut found, end) = (Vec::new(), Instant::now() + Duration::from_secs(LIVE_WATCH_S));
    while found.len() < LIVE_LIST_MAX {
        let Ok(next) = timeout_at(end, live.entries.recv()).await else { break };
        let Ok(entry) = next else { continue };
        found.extend(Some(RequestSummary::of(&entry)).filter(|request| filter.admits(request)));
    }
    found
}
