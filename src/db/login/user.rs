//! Who has logged in, as 0.7 and later know it.

use std::sync::Arc;

use super::access::Access;
use super::rights::Rights;
use super::roles::RoleKeeper;
use crate::db::Error;
use crate::util::Release;

/// Somebody who has logged in.
#[derive(Debug, Clone)]
pub struct User {
    pub name: String,
    pub(super) standing: RightsSource,
}

/// Where it stands what a user may do.
#[derive(Debug, Clone)]
pub(super) enum RightsSource {
    /// Nowhere: whoever has logged in may do everything.
    Everything,
    /// In the access file, as it was at the login.
    File(Rights),
    /// With the roles, as they are at each request.
    Roles { keeper: Arc<RoleKeeper>, are_enforced: bool },
}

impl User {
    /// Whether there is nothing that the user may not do.
    pub fn may_everything(&self) -> bool {
        match &self.standing {
            RightsSource::Everything => true,
            RightsSource::File(_) => false,
            RightsSource::Roles { keeper, are_enforced: true } => keeper.now().allow_all(&self.name),
            RightsSource::Roles { keeper, are_enforced: false } => keeper.now().contains(&self.name),
        }
    }

    /// Whether the user may do this; the error is an InvalidRequest in the release's words.
    pub fn check(&self, access: Access<'_>, release: Release) -> Result<(), Error> {
        let is_allowed = match &self.standing {
            RightsSource::Everything => true,
            RightsSource::File(rights) => rights.allow(access),
            RightsSource::Roles { keeper, are_enforced: true } => keeper.allow(&self.name, access),
            // One that was dropped after its login may do nothing more.
            RightsSource::Roles { keeper, are_enforced: false } => keeper.now().contains(&self.name),
        };
        if is_allowed { Ok(()) } else { Err(access.denied(&self.name, release)) }
    }
}
