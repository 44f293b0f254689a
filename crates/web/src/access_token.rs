//! The token that HTTP requests to a port must have.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

use base::util::Password;

/// The reply's text to a request without the token.
pub const NEEDS_TOKEN: &str = "a request needs the header Authorization: Bearer TOKEN";

/// The token that requests must have, if one is required.
#[derive(Debug, Clone, Default)]
pub struct AccessToken(Option<Arc<Password>>);

impl AccessToken {
    /// Requires `Authorization: Bearer TOKEN`. `None` requires no token.
    pub fn new(token: Option<Password>) -> AccessToken {
        AccessToken(token.map(Arc::new))
    }

    /// Returns whether a request has the token, if one is required.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.0 else { return true };
        let given = headers.get(AUTHORIZATION).and_then(|value| bearer_token(value.as_bytes()));
        given.is_some_and(|given| is_same(given, token.reveal().as_bytes()))
    }

    /// Returns whether a text is the token. If none is required, no text is.
    pub fn is(&self, given: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|token| is_same(given, token.reveal().as_bytes()))
    }
}

/// Returns the bearer token in the value of an `Authorization` header.
fn bearer_token(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

/// Compares two texts in constant time for a given length, so that timing does not reveal how many bytes are right.
pub fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |seen, (one, other)| seen | (one ^ other));
    left.len() == right.len() && std::hint::black_box(differences) == 0
}
