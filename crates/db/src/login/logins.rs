//! Logins and the roles of a database.

use std::sync::Arc;

use bytes::Bytes;

use super::authenticate::{Authenticator, Credential};
use super::roles::{Permission, Resource, RoleKeeper, Roles};
use super::user::{RightsSource, User};
use crate::schema::{Attempts, disagreement};
use crate::{Database, DbFuture, Error, Result};
use base::compat::features::releases::LOGIN_TO_KEYSPACE;
use base::compat::texts;
use base::util::Release;
use store::StoreChange;

/// Logins and the roles of a database.
#[derive(Clone, Copy)]
pub struct Logins<'a> {
    pub(super) database: &'a Arc<Database>,
}

impl Database {
    /// Returns the logins and roles.
    pub fn logins(self: &Arc<Self>) -> Logins<'_> {
        Logins { database: self }
    }

    /// Returns the database with another keeper of roles: for tests, which need a faster hasher.
    pub fn with_roles(self, keeper: RoleKeeper) -> Database {
        Database { roles: Arc::new(keeper), ..self }
    }
}

impl<'a> Logins<'a> {
    /// Returns whether data calls are refused before a login.
    pub fn are_required(&self) -> bool {
        self.database.parts.authenticator.requires_login()
    }

    /// Returns the roles if users are kept in the store.
    pub fn roles(&self) -> Option<&'a RoleKeeper> {
        matches!(self.database.parts.authenticator, Authenticator::Password { .. })
            .then_some(&*self.database.roles)
    }

    /// Returns whether the permissions of roles are enforced.
    pub fn enforces_permissions(&self) -> bool {
        matches!(
            self.database.parts.authenticator,
            Authenticator::Password { are_permissions_enforced: true }
        )
    }

    /// Checks a 0.6 login to a keyspace. Returns the user if its rights are checked at each call.
    pub fn login<'l>(
        &'l self,
        keyspace: &'l [u8],
        credentials: &'l [Credential],
    ) -> DbFuture<'l, Option<User>> {
        Box::pin(async move {
            match &self.database.parts.authenticator {
                Authenticator::AllowAll => Ok(None),
                Authenticator::Simple(simple) => simple.login(keyspace, credentials).map(|()| None),
                Authenticator::Password { .. } => {
                    let user = self.role_user(credentials, LOGIN_TO_KEYSPACE).await?;
                    if !user.opens(keyspace) {
                        return Err(Error::Authorization(texts::keyspace_not_authorized(
                            LOGIN_TO_KEYSPACE,
                            &user.name,
                            &String::from_utf8_lossy(keyspace),
                        )));
                    }
                    Ok(Some(user))
                }
            }
        })
    }

    /// Checks a login of 0.7 and later and returns the user, if there are users. A wrong password takes as much time as
    /// a right one.
    pub fn authenticate<'l>(
        &'l self,
        credentials: &'l [Credential],
        release: Release,
    ) -> DbFuture<'l, Option<User>> {
        Box::pin(async move {
            match &self.database.parts.authenticator {
                Authenticator::AllowAll => Ok(None),
                Authenticator::Simple(simple) => simple.user(credentials, release).map(Some),
                Authenticator::Password { .. } => self.role_user(credentials, release).await.map(Some),
            }
        })
    }

    async fn role_user(&self, credentials: &[Credential], release: Release) -> Result<User> {
        let before = self.database.roles.now();
        let mut outcome = self.database.roles.authenticate(credentials, release).await;
        if outcome.is_err() {
            // Another server may have created the user or changed the password. The newest roles are loaded for every
            // name, so that the time reveals nothing.
            self.database.stored_schema().refresh_if_possible().await;
            if !Arc::ptr_eq(&before, &self.database.roles.now()) {
                outcome = self.database.roles.authenticate(credentials, release).await;
            }
        }
        let name = outcome?;
        let are_enforced = self.enforces_permissions();
        Ok(User { name, standing: RightsSource::Roles { keeper: self.database.roles.clone(), are_enforced } })
    }

    /// Loads the stored roles, and creates the first one if users are kept in the store. Roles are loaded in any case,
    /// so that a drop while no login is required also removes the grants on what is dropped.
    pub(crate) async fn load_roles(&self, records: &[(String, Bytes)]) -> Result<()> {
        if self.database.stored_schema().is_shared() {
            self.database.roles.load_readable(records);
        } else {
            self.database.roles.load(records)?;
        }
        let Some(keeper) = self.roles() else { return Ok(()) };
        match keeper.set_up(&**self.database.store()).await {
            Err(Error::SchemaDisagreement(_)) => {
                // Another server that starts at the same time has created it first.
                keeper.load_readable(&self.database.store().records().await?);
                keeper.set_up(&**self.database.store()).await
            }
            outcome => outcome,
        }
    }

    /// Changes roles while no other change runs on this server, and repeats the change if another server's change
    /// came in between: the edit changes a copy of the current roles. If it fails, nothing has changed.
    pub async fn change_roles<T, E: From<Error>>(
        &self,
        edit: impl FnMut(&mut Roles) -> Result<T, E>,
    ) -> Result<T, E> {
        let _changing = self.database.changing.lock().await;
        self.change_roles_alone(edit).await
    }

    /// Does the same for a caller that holds `changing`.
    pub(crate) async fn change_roles_alone<T, E: From<Error>>(
        &self,
        mut edit: impl FnMut(&mut Roles) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut attempts = Attempts::begin();
        loop {
            self.database.stored_schema().load_newest().await?;
            let edited = self
                .database
                .roles
                .try_change(&**self.database.store(), StoreChange::default(), &mut edit)
                .await?;
            let outcome = edited.ok_or_else(disagreement);
            if !attempts.go_on_after(&outcome).await {
                return Ok(outcome?);
            }
        }
    }

    /// Removes all grants on a dropped resource, together with the other changes of the drop in the store.
    pub(crate) async fn forget_grants(&self, dropped: &Resource, drop: StoreChange) -> Result<()> {
        let changed = self.database.roles.try_change(&**self.database.store(), drop, |roles| {
            roles.forget(dropped);
            Ok::<(), Error>(())
        });
        changed.await?.ok_or_else(disagreement)
    }
}

impl User {
    /// Returns whether calls of 0.3 to 0.6 may read and write a keyspace: these releases had no other rights.
    pub fn opens(&self, keyspace: &[u8]) -> bool {
        match &self.standing {
            RightsSource::Everything | RightsSource::File(_) => true,
            RightsSource::Roles { keeper, are_enforced: false } => keeper.now().contains(&self.name),
            RightsSource::Roles { keeper, are_enforced: true } => {
                let keyspace = String::from_utf8_lossy(keyspace).into_owned();
                let resource = Resource::Keyspace(keyspace);
                let mut both = [Permission::Select, Permission::Modify].into_iter();
                both.all(|permission| keeper.permits(&self.name, permission, &resource))
            }
        }
    }
}
