//! Sessions of users who have logged in with a browser.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::limits::{ADMIN_SESSION_S, ADMIN_SESSION_SILENCE_S, ADMIN_SESSIONS_MAX};
use db::User;
use web::HttpConnection;

/// Digits of a session's identifier.
const ID_DIGITS: usize = 32;

/// The identifier of a session: the value of its cookie, 122 random bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// Returns a new identifier, which nobody can guess.
    pub fn random() -> SessionId {
        SessionId(Uuid::new_v4().simple().to_string())
    }

    /// Returns the identifier in the cookie of a request.
    pub fn of_request(headers: &HeaderMap, connection: &HttpConnection) -> Option<SessionId> {
        let name = cookie_name(connection);
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(other, _)| *other == name)?;
        let is_id = value.len() == ID_DIGITS && value.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_id.then(|| SessionId(value.to_owned()))
    }

    /// Returns the value of the header Set-Cookie. Scripts cannot read the cookie, and requests that other pages cause do
    /// not have it.
    pub fn cookie(&self, connection: &HttpConnection) -> Option<HeaderValue> {
        let secure = if connection.is_encrypted { "; Secure" } else { "" };
        let name = cookie_name(connection);
        let cookie = format!("{name}={}; Path=/; HttpOnly; SameSite=Strict{secure}", self.0);
        HeaderValue::from_str(&cookie).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the name of the cookie. It has the port, because browsers do not distinguish the ports of a machine, and
/// several servers of one machine would replace each other's cookies.
fn cookie_name(connection: &HttpConnection) -> String {
    format!("thriftstore-{}", connection.local.port())
}

/// A user who has logged in.
#[derive(Debug, Clone)]
struct BrowserSession {
    user: User,
    began: Instant,
    last_used: Instant,
}

impl BrowserSession {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.began) >= Duration::from_secs(ADMIN_SESSION_S)
            || now.saturating_duration_since(self.last_used) >= Duration::from_secs(ADMIN_SESSION_SILENCE_S)
            || !self.user.exists()
    }
}

/// The sessions of a server, in memory: a restart ends them.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<SessionId, BrowserSession>>);

impl Sessions {
    /// Begins a session of a user. If there are too many, the one that was not used for the longest time ends.
    pub(crate) fn begin(&self, user: User, now: Instant) -> SessionId {
        let id = SessionId::random();
        let mut sessions = self.0.lock();
        if sessions.len() >= ADMIN_SESSIONS_MAX {
            sessions.retain(|_, session| !session.is_over(now));
        }
        if sessions.len() >= ADMIN_SESSIONS_MAX {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.last_used);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(id.clone(), BrowserSession { user, began: now, last_used: now });
        id
    }

    /// Returns the user of a session that has not ended.
    pub(crate) fn user(&self, id: &SessionId, now: Instant) -> Option<User> {
        let mut sessions = self.0.lock();
        let session = sessions.get_mut(id)?;
        if session.is_over(now) {
            sessions.remove(id);
            return None;
        }
        session.last_used = now;
        Some(session.user.clone())
    }

    /// Returns the user of a session that has not ended, and does not extend it.
    pub(crate) fn user_without_use(&self, id: &SessionId, now: Instant) -> Option<User> {
        let sessions = self.0.lock();
        sessions.get(id).filter(|session| !session.is_over(now)).map(|session| session.user.clone())
    }

    /// Returns whether a session goes on. Asking does not extend it.
    pub(crate) fn goes_on(&self, id: &SessionId, now: Instant) -> bool {
        self.user_without_use(id, now).is_some()
    }

    /// Ends a session.
    pub(crate) fn end(&self, id: &SessionId) {
        self.0.lock().remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(now: Instant, seconds: u64) -> Instant {
        now + Duration::from_secs(seconds)
    }

    #[test]
    fn a_session_ends_after_a_silence_and_after_some_hours() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let id = sessions.begin(User::operator(), start);
        let pause = ADMIN_SESSION_SILENCE_S - 1;
        let mut now = start;
        while now < after(start, ADMIN_SESSION_S - pause) {
            assert!(sessions.user(&id, now).is_some());
            now = after(now, pause);
        }
        assert!(sessions.user(&id, after(start, ADMIN_SESSION_S)).is_none());
        let silent = sessions.begin(User::operator(), start);
        assert!(sessions.user_without_use(&silent, after(start, pause)).is_some());
        assert!(sessions.user(&silent, after(start, ADMIN_SESSION_SILENCE_S)).is_none());
        assert!(sessions.user(&silent, start).is_none(), "an ended session does not begin again");
    }

    #[test]
    fn too_many_sessions_end_the_oldest() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.begin(User::operator(), now);
        let second = sessions.begin(User::operator(), now);
        assert!(sessions.user(&first, after(now, 1)).is_some());
        for _ in 2..=ADMIN_SESSIONS_MAX {
            sessions.begin(User::operator(), after(now, 1));
        }
        assert!(sessions.user(&second, now).is_none());
        assert!(sessions.0.lock().len() <= ADMIN_SESSIONS_MAX);
        sessions.end(&first);
        assert!(sessions.user(&first, now).is_none());
    }

    #[test]
    fn cookies_are_found_among_others() {
        let address = "127.0.0.1:9170".parse().unwrap();
        let connection = HttpConnection::new(address, address, true, tokio::sync::watch::channel(false).1);
        let id = SessionId::random();
        let cookie = id.cookie(&connection).unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
        let (pair, _) = cookie.split_once(';').unwrap();
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "other=1; thriftstore-9171=x".parse().unwrap());
        assert_eq!(SessionId::of_request(&headers, &connection), None);
        headers.append(header::COOKIE, format!("a=b;{pair} ; c=d").parse().unwrap());
        assert_eq!(SessionId::of_request(&headers, &connection), Some(id));
        headers.clear();
        headers.insert(header::COOKIE, "thriftstore-9170=short".parse().unwrap());
        assert_eq!(SessionId::of_request(&headers, &connection), None);
    }
}
