//! Access to the admin server.

use base::util::Password;
use web::AccessToken;

/// Decides who may use the admin server: requests with the token, users who log in, or everybody if there is neither.
#[derive(Debug, Clone, Default)]
pub struct AdminAccess {
    token: Option<AccessToken>,
    needs_login: bool,
}

impl AdminAccess {
    /// Admits requests with the token, and users if the server requires logins.
    pub fn new(token: Option<Password>, needs_login: bool) -> AdminAccess {
        AdminAccess { token: token.map(|token| AccessToken::new(Some(token))), needs_login }
    }

    /// Returns the token, if one is set.
    pub fn token(&self) -> Option<&AccessToken> {
        self.token.as_ref()
    }

    /// Returns whether users may log in by name and password.
    pub fn has_logins(&self) -> bool {
        self.needs_login
    }

    /// Returns whether everybody who reaches the port may do everything.
    pub fn is_open(&self) -> bool {
        self.token.is_none() && !self.needs_login
    }
}
