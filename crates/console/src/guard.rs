//! Checks each request before a handler runs: who sends it, and whether another page forged it.

use std::sync::Arc;
use std::time::Instant;

use axum::Form;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::csrf::{CSRF_HEADER, CsrfField};
use super::page::PageFrame;
use super::pages::{charts, login};
use super::seen_schema::SeenSchema;
use super::session::SessionId;
use super::state::AdminState;
use super::visitor::Visitor;
use crate::failure::{AdminError, Result, in_page, wants_page};
use crate::limits::ADMIN_FORM_BYTES_MAX;
use crate::state::Admin;
use db::User;
use web::{HttpConnection, NEEDS_TOKEN};

const FORM: &str = "application/x-www-form-urlencoded";

/// Refuses changes that a page of another server sends.
pub(crate) async fn check_origin(request: Request, next: Next) -> Response {
    if !is_safe(request.method()) && !is_same_origin(request.headers()) {
        return AdminError::forbidden("a page of another server must not change anything here")
            .into_response();
    }
    next.run(request).await
}

/// Lets a request in if its sender may use the server, and adds the [`Visitor`] to it.
pub(crate) async fn admit(State(state): Admin, mut request: Request, next: Next) -> Response {
    let Some(connection) = request.extensions().get::<HttpConnection>().cloned() else {
        return AdminError::internal("the request has no connection").into_response();
    };
    let mut sender = match identify(&state, &request, &connection) {
        Ok(sender) => sender,
        Err(refusal) => return refuse(&state, &request, refusal),
    };
    if !is_safe(request.method()) && sender.needs_csrf {
        request = match check_csrf(&state, request, &sender).await {
            Ok(request) => request,
            Err(error) => return error.into_response(),
        };
    }
    connection.admit();
    // A first visit gets a cookie, to which the tokens of its pages belong.
    let cookie = sender.cookie.get_or_insert_with(SessionId::random).clone();
    let new_cookie = sender.is_new.then(|| cookie.cookie(&connection)).flatten();
    let session = sender.has_logged_in.then(|| cookie.clone());
    let may_change = state.console.settings.may_change;
    let (csrf, has_control) = (state.csrf.token(&cookie), state.control.is_some());
    let schema = Arc::new(SeenSchema::new(state.database.clone(), sender.user.clone()));
    let visitor = Visitor {
        user: sender.user,
        csrf,
        session,
        may_change,
        has_control,
        is_gateway: state.database.remote_cql().is_some(),
        schema,
        connection,
    };
    let is_page = wants_page(request.headers());
    request.extensions_mut().insert(visitor.clone());
    let mut reply = next.run(request).await;
    if is_page {
        reply = in_page(reply, || PageFrame::new(&visitor, "", ""));
    }
    if let Some(cookie) = new_cookie {
        reply.headers_mut().append(header::SET_COOKIE, cookie);
    }
    reply
}

/// The sender of a request.
struct Sender {
    user: User,
    cookie: Option<SessionId>,
    /// Whether the reply sets the cookie.
    is_new: bool,
    has_logged_in: bool,
    /// Whether a browser may have sent the request by itself.
    needs_csrf: bool,
}

/// Why a request is not let in.
enum Denial {
    WrongToken,
    NoLogin,
}

fn identify(state: &AdminState, request: &Request, connection: &HttpConnection) -> Result<Sender, Denial> {
    let headers = request.headers();
    if headers.contains_key(header::AUTHORIZATION) {
        return match state.access.token() {
            Some(token) if token.admits(headers) => Ok(Sender {
                user: User::operator(),
                cookie: None,
                is_new: false,
                has_logged_in: false,
                needs_csrf: false,
            }),
            _ => Err(Denial::WrongToken),
        };
    }
    let cookie = SessionId::of_request(headers, connection);
    let user = cookie.as_ref().and_then(|cookie| {
        let now = Instant::now();
        // A page that is left open goes on with its charts.
        if request.uri().path() == charts::PATH {
            state.sessions.user_without_use(cookie, now)
        } else {
            state.sessions.user(cookie, now)
        }
    });
    let (user, has_logged_in) = match user {
        Some(user) => (user, true),
        None if state.access.is_open() => (User::operator(), false),
        None => return Err(Denial::NoLogin),
    };
    let is_new = cookie.is_none();
    Ok(Sender { user, cookie, is_new, has_logged_in, needs_csrf: true })
}

/// Sends a browser to the login page, and everything else a refusal.
fn refuse(state: &AdminState, request: &Request, refusal: Denial) -> Response {
    let is_page = is_safe(request.method()) && wants_page(request.headers());
    if is_page && matches!(refusal, Denial::NoLogin) {
        return Redirect::to(&login::path_for(request.uri())).into_response();
    }
    let why = match refusal {
        Denial::WrongToken if state.access.token().is_none() => {
            "this server has no token: send the request without the header Authorization"
        }
        Denial::WrongToken => "the token is wrong: the file of --admin-token-file has the right one",
        Denial::NoLogin if state.access.token().is_some() => NEEDS_TOKEN,
        Denial::NoLogin => "log in first: GET /login has the form",
    };
    let mut reply = AdminError::new(StatusCode::UNAUTHORIZED, why).into_response();
    reply.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    reply
}

/// Checks the token of a change, in its header or in its form. Returns the request with its whole form.
async fn check_csrf(state: &AdminState, request: Request, sender: &Sender) -> Result<Request> {
    let Some(cookie) = &sender.cookie else { return Err(forged()) };
    let given = request.headers().get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if given.is_some_and(|given| state.csrf.admits(cookie, given)) {
        return Ok(request);
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    if kind.is_none_or(|kind| kind.trim() != FORM) {
        return Err(forged());
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, ADMIN_FORM_BYTES_MAX).await.map_err(|_| {
        let why = format!("the form could not be read, or has more than {ADMIN_FORM_BYTES_MAX} bytes");
        AdminError::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    })?;
    let copy = Request::from_parts(parts.clone(), Body::from(body.clone()));
    let field = Form::<CsrfField>::from_request(copy, &()).await.map_err(|_| forged())?;
    if !state.csrf.admits(cookie, &field.csrf) {
        return Err(forged());
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

fn forged() -> AdminError {
    AdminError::forbidden(
        "the request lacks the CSRF token of its page: load the page again; scripts send it in the header X-CSRF-Token",
    )
}

/// Returns whether requests with a method change nothing.
fn is_safe(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

/// Returns whether a request comes from a page of this server, or from no page at all.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return false;
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let origin = origin.as_bytes();
    let origin = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    origin.is_some_and(|origin| host.is_some_and(|host| origin.eq_ignore_ascii_case(host)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn changes_of_other_pages_are_recognized() {
        let host = ("host", "127.0.0.1:9170");
        for own in [
            &[host][..],
            &[host, ("origin", "http://127.0.0.1:9170")],
            &[host, ("origin", "https://127.0.0.1:9170"), ("sec-fetch-site", "same-origin")],
        ] {
            assert!(is_same_origin(&headers(own)), "{own:?}");
        }
        for foreign in [
            &[host, ("origin", "null")][..],
            &[host, ("origin", "http://127.0.0.1:9171")],
            &[host, ("origin", "http://127.0.0.1")],
            &[host, ("origin", "http://evil.example")],
            &[host, ("sec-fetch-site", "same-site")],
            &[host, ("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:9170")],
            &[("origin", "http://127.0.0.1:9170")],
        ] {
            assert!(!is_same_origin(&headers(foreign)), "{foreign:?}");
        }
    }
}
