//! The token that shows that a changing request comes from a page of this server.
//!
//! A browser attaches cookies to requests of any page. It shows the content of a page only to pages of the same server.
//! So each page has a token that belongs to its cookie, and a request that changes something must repeat it. The token is
//! a keyed hash of the cookie, so the server stores nothing for it.

use axum::http::HeaderName;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::session::SessionId;
use base::util::hex;
use web::is_same;

/// The header with the token, for scripts.
pub(crate) const CSRF_HEADER: HeaderName = HeaderName::from_static("x-csrf-token");

/// The field with the token, in forms.
#[derive(Debug, Deserialize)]
pub(crate) struct CsrfField {
    pub csrf: String,
}

/// The key of all tokens, random at each start.
pub(crate) struct CsrfKey([Uuid; 2]);

impl Default for CsrfKey {
    fn default() -> CsrfKey {
        CsrfKey([Uuid::new_v4(), Uuid::new_v4()])
    }
}

impl CsrfKey {
    /// Returns the token of a cookie. Cookies have one length, so a keyed prefix is enough.
    pub(crate) fn token(&self, cookie: &SessionId) -> String {
        let mut hash = Sha256::new();
        self.0.iter().for_each(|part| hash.update(part.as_bytes()));
        hash.update(cookie.as_str());
        hex(&hash.finalize())
    }

    /// Returns whether a token belongs to a cookie.
    pub(crate) fn admits(&self, cookie: &SessionId, given: &str) -> bool {
        is_same(self.token(cookie).as_bytes(), given.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_belongs_to_one_cookie_and_one_server() {
        let (key, other_key) = (CsrfKey::default(), CsrfKey::default());
        let (cookie, other) = (SessionId::random(), SessionId::random());
        let token = key.token(&cookie);
        assert_eq!(token.len(), 64);
        assert!(key.admits(&cookie, &token));
        assert!(!key.admits(&other, &token) && !other_key.admits(&cookie, &token));
        assert!(!key.admits(&cookie, "") && !key.admits(&cookie, &token[1..]));
    }
}
