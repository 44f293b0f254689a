//! The logged-in user of a connection (0.7 and later).

use std::sync::Arc;

use super::access::Access;
use super::rights::Rights;
use super::roles::RoleKeeper;
use crate::Result;
use base::util::Release;

/// A user who has logged in.
#[derive(Debug, Clone)]
pub struct User {
    /// The name of the user.
    pub name: String,
    pub(super) standing: RightsSource,
}

/// The source of a user's rights.
#[derive(Debug, Clone)]
pub(super) enum RightsSource {
    /// None: every logged-in user may do everything.
    Everything,
    /// The access file, as it was at the login.
    File(Rights),
    /// The roles, as they are at each request.
    Roles { keeper: Arc<RoleKeeper>, are_enforced: bool },
}

impl User {
    /// Returns a user who may do everything, whatever authentication is set: the person who runs the server.
    pub fn operator() -> User {
        User { name: "operator".to_owned(), standing: RightsSource::Everything }
    }

    /// Returns whether the user was not dropped since the login.
    pub fn exists(&self) -> bool {
        match &self.standing {
            RightsSource::Everything | RightsSource::File(_) => true,
            RightsSource::Roles { keeper, .. } => keeper.now().contains(&self.name),
        }
    }

    /// Returns whether the user may do everything.
    pub fn may_everything(&self) -> bool {
        match &self.standing {
            RightsSource::Everything => true,
            RightsSource::File(_) => false,
            RightsSource::Roles { keeper, are_enforced: true } => keeper.now().allow_all(&self.name),
            RightsSource::Roles { keeper, are_enforced: false } => keeper.now().contains(&self.name),
        }
    }

    /// Checks whether the user may do this; the error is an InvalidRequest with the release's message.
    pub fn check(&self, access: Access<'_>, release: Release) -> Result<()> {
        let is_allowed = match &self.standing {
            RightsSource::Everything => true,
            RightsSource::File(rights) => rights.allow(access),
            RightsSource::Roles { keeper, are_enforced: true } => keeper.allow(&self.name, access),
            // A user dropped after the login has no rights any more.
            RightsSource::Roles { keeper, are_enforced: false } => keeper.now().contains(&self.name),
        };
        if is_allowed { Ok(()) } else { Err(access.denied(&self.name, release)) }
    }
}
