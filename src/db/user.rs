//! Who has logged in, as 0.7 and later know it.

use super::Error;
use super::access::Access;
use super::rights::Rights;
use crate::util::Release;

/// A user, with what the access file said at the login.
#[derive(Debug, Clone)]
pub struct User {
    pub name: String,
    /// `None`: whoever has logged in may do everything.
    pub(super) rights: Option<Rights>,
}

impl User {
    /// Whether the user may do this; the error is an InvalidRequest in the release's words.
    pub fn check(&self, access: Access<'_>, release: Release) -> Result<(), Error> {
        match &self.rights {
            Some(rights) if !rights.allow(access) => Err(access.denied(&self.name, release)),
            _ => Ok(()),
        }
    }
}
