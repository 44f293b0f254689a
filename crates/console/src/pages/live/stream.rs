//! Requests as server-sent events.
//!
//! ```text
//!   event: request                        a request that the filter admits
//!   data: {"at":"09:15:30.123","method":"get",...}
//!
//!   event: left_out                       each second, if it has changed
//!   data: 1234                            requests that were not looked at since the stream began
//! ```

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::filter::LiveFilter;
use super::shown_request::ShownRequest;
use crate::session::SessionId;
use crate::state::AdminState;
use crate::visitor::Visitor;
use db::User;
use db::activity::RequestSummary;
use db::request_log::LiveRequests;
use web::HttpConnection;

/// Requests that the filter admits, until the visitor leaves, loses the rights to see them, or the server ends.
struct LiveStream {
    live: LiveRequests,
    filter: LiveFilter,
    user: User,
    /// `None` if nobody has logged in: the server needs no login, or the request has a token.
    session: Option<SessionId>,
    state: Arc<AdminState>,
    ending: watch::Receiver<bool>,
    tick: Interval,
    /// Requests that were not sent, because this reader was too slow.
    missed: u64,
    /// The count of the followers when the stream began.
    left_out_before: u64,
    left_out_sent: u64,
}

/// Returns the stream as a reply.
pub(super) fn reply(state: Arc<AdminState>, filter: LiveFilter, visitor: Visitor) -> Response {
    let live = state.database.request_log().follow();
    let mut tick = interval(Duration::from_secs(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let Visitor { user, session, connection: HttpConnection { ending, .. }, .. } = visitor;
    let left_out_before = live.left_out();
    let stream = LiveStream {
        live,
        filter,
        user,
        session,
        state,
        ending,
        tick,
        missed: 0,
        left_out_before,
        left_out_sent: 0,
    };
    let events = unfold(stream, |mut stream| async move {
        let event = stream.next_event().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], Body::from_stream(events)).into_response()
}

impl LiveStream {
    /// Waits for the next event. Each second there is one, so the server finds out that the visitor has left.
    async fn next_event(&mut self) -> Option<Bytes> {
        loop {
            let next = tokio::select! {
                biased;
                _ = self.ending.changed() => return None,
                _ = self.tick.tick() => return self.second(),
                next = self.live.entries.recv() => next,
            };
            match next {
                Ok(entry) => {
                    let request = RequestSummary::of(&entry);
                    if self.filter.admits(&request) {
                        let json = serde_json::to_string(&ShownRequest::of(&request)).ok()?;
                        return Some(format!("event: request\ndata: {json}\n\n").into());
                    }
                }
                Err(RecvError::Lagged(missed)) => self.missed += missed,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Returns the event of a second; `None` if the user has lost the right or the session is over.
    fn second(&mut self) -> Option<Bytes> {
        let now = Instant::now();
        let goes_on = self.session.as_ref().is_none_or(|session| self.state.sessions.goes_on(session, now));
        if !goes_on || !self.user.may_everything() {
            return None;
        }
        let left_out = self.live.left_out().saturating_sub(self.left_out_before) + self.missed;
        if left_out == self.left_out_sent {
            // A comment, which browsers ignore.
            return Some(Bytes::from_static(b":\n\n"));
        }
        self.left_out_sent = left_out;
        Some(format!("event: left_out\ndata: {left_out}\n\n").into())
    }
}
