//! `/login` and `/logout`.

use std::time::Instant;

use askama::Template;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use serde::Deserialize;

use crate::extract::{Form, Query};
use crate::failure::{AdminError, Result};
use crate::page::{PageFrame, page_with};
use crate::session::SessionId;
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;
use base::compat::features::releases::NEWEST;
use db::{Error, User};
use web::HttpConnection;

/// Longest path to which a login returns, in bytes.
const NEXT_BYTES_MAX: usize = 2048;

#[derive(Template)]
#[template(path = "pages/login.html")]
struct LoginPage {
    frame: PageFrame,
    has_logins: bool,
    has_token: bool,
    /// The path to which the login returns.
    next: String,
    /// Why the last login failed.
    failure: String,
}

/// The parameters of the form's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LoginQuery {
    next: String,
}

/// The fields of the form.
#[derive(Debug, Deserialize)]
pub(crate) struct LoginForm {
    csrf: String,
    #[serde(default)]
    user: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    token: String,
    #[serde(default)]
    next: String,
}

/// Returns the path of the form that returns to a page.
pub(crate) fn path_for(page: &Uri) -> String {
    let page = page.path_and_query().map_or("/", |page| page.as_str());
    let kept = page.len() <= NEXT_BYTES_MAX && page != "/";
    match kept.then(|| askama::filters::urlencode_strict(page).map(|next| next.to_string())) {
        Some(Ok(next)) => format!("/login?next={next}"),
        _ => "/login".to_owned(),
    }
}

/// Returns a path of this server, whatever was asked for.
fn own_path(next: &str) -> &str {
    let is_own = next.starts_with('/')
        && next.len() <= NEXT_BYTES_MAX
        && !next.starts_with("//")
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own { next } else { "/" }
}

/// Answers `GET /login`.
pub(crate) async fn form(
    State(state): Admin,
    Extension(connection): Extension<HttpConnection>,
    Query(query): Query<LoginQuery>,
    headers: HeaderMap,
) -> Response {
    let cookie = SessionId::of_request(&headers, &connection);
    show(&state, &connection, cookie, &query.next, String::new())
}

/// Returns the form. A first visit gets a cookie, to which the form's token belongs.
fn show(
    state: &AdminState,
    connection: &HttpConnection,
    cookie: Option<SessionId>,
    next: &str,
    failure: String,
) -> Response {
    if state.access.is_open() {
        return Redirect::to("/").into_response();
    }
    let is_new = cookie.is_none();
    let cookie = cookie.unwrap_or_else(SessionId::random);
    let status = (!failure.is_empty()).then_some(StatusCode::UNAUTHORIZED);
    let shown = LoginPage {
        frame: PageFrame::before_login("Log in", state.csrf.token(&cookie)),
        has_logins: state.access.has_logins(),
        has_token: state.access.token().is_some(),
        next: own_path(next).to_owned(),
        failure,
    };
    let mut reply = page_with(&shown, status);
    if let Some(value) = is_new.then(|| cookie.cookie(connection)).flatten() {
        reply.headers_mut().append(header::SET_COOKIE, value);
    }
    reply
}

/// Answers `POST /login`: begins a session, whose identifier is new, so that nobody who knew the former cookie has it.
pub(crate) async fn log_in(
    State(state): Admin,
    Extension(connection): Extension<HttpConnection>,
    headers: HeaderMap,
    Form(form): Form<LoginForm>,
) -> Response {
    let cookie = SessionId::of_request(&headers, &connection);
    if !cookie.as_ref().is_some_and(|cookie| state.csrf.admits(cookie, &form.csrf)) {
        let why = "the form is too old, or the browser accepts no cookies: load the page again".to_owned();
        return show(&state, &connection, cookie, &form.next, why);
    }
    let user = match authenticate(&state, &connection, &form).await {
        Ok(user) => user,
        Err(why) => return show(&state, &connection, cookie, &form.next, why),
    };
    if let Some(cookie) = cookie {
        state.sessions.end(&cookie);
    }
    let session = state.sessions.begin(user, Instant::now());
    let mut reply = Redirect::to(own_path(&form.next)).into_response();
    if let Some(value) = session.cookie(&connection) {
        reply.headers_mut().append(header::SET_COOKIE, value);
    }
    reply
}

/// Checks the token, or name and password. Returns why they are refused.
async fn authenticate(
    state: &AdminState,
    connection: &HttpConnection,
    form: &LoginForm,
) -> Result<User, String> {
    if let Some(token) = state.access.token().filter(|_| !form.token.is_empty()) {
        let is_right = token.is(form.token.trim().as_bytes());
        return is_right.then(User::operator).ok_or_else(|| "The token is wrong.".to_owned());
    }
    if !state.access.has_logins() {
        return Err("Enter the token.".to_owned());
    }
    let credential = |name: &'static str, value: &str| {
        (Bytes::from_static(name.as_bytes()), Bytes::copy_from_slice(value.as_bytes()))
    };
    let credentials = [credential("username", &form.user), credential("password", &form.password)];
    let logins = state.database.logins();
    let login = logins.authenticate(&credentials, NEWEST);
    match logins.guarded(Some(connection.peer.ip()), &credentials, login).await {
        Ok(Some(user)) => Ok(user),
        Ok(None) => Err("This server has no users.".to_owned()),
        Err(Error::Authentication(why)) => Err(why),
        Err(error) => Err(error.to_string()),
    }
}

/// Answers `POST /logout`.
pub(crate) async fn log_out(State(state): Admin, visitor: Visitor) -> Result<Redirect> {
    let session = visitor.session.ok_or_else(|| AdminError::invalid("nobody has logged in here"))?;
    state.sessions.end(&session);
    Ok(Redirect::to("/login"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_returns_to_own_pages_only() {
        for own in ["/", "/rows?key=a%20b", "/status"] {
            assert_eq!(own_path(own), own);
        }
        for foreign in
            ["", "//evil.example", "/\\evil.example", "http://evil.example/", "rows", "/a\r\nb", "/ü"]
        {
            assert_eq!(own_path(foreign), "/", "{foreign}");
        }
        assert_eq!(path_for(&"/rows?key=a&b".parse().unwrap()), "/login?next=%2Frows%3Fkey%3Da%26b");
        assert_eq!(path_for(&"/".parse().unwrap()), "/login");
    }
}
