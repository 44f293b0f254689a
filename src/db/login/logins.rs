//! Logins, and the roles of a database.

use std::sync::Arc;

use bytes::Bytes;

use super::authenticate::{Authenticator, Credential};
use super::roles::{Permission, Resource, RoleKeeper, Roles};
use super::user::{RightsSource, User};
use crate::compat::features::releases::LOGIN_TO_KEYSPACE;
use crate::compat::texts;
use crate::db::schema::{Attempts, disagreement};
use crate::db::{Database, Error};
use crate::util::Release;

/// Logins, and the roles of a database.
#[derive(Clone, Copy)]
pub struct Logins<'a> {
    pub(super) database: &'a Arc<Database>,
}

impl Database {
    /// Logins and roles.
    pub fn logins(self: &Arc<Self>) -> Logins<'_> {
        Logins { database: self }
    }

    /// The same with a hasher of its own: for tests, which have no time for a slow one.
    pub fn with_roles(self, keeper: RoleKeeper) -> Database {
        Database { roles: Arc::new(keeper), ..self }
    }
}

impl<'a> Logins<'a> {
    /// Whether data calls are refused before a login.
    pub fn are_required(&self) -> bool {
        self.database.parts.authenticator.requires_login()
    }

    /// The roles, where users are kept in the store.
    pub fn roles(&self) -> Option<&'a RoleKeeper> {
        matches!(self.database.parts.authenticator, Authenticator::Password { .. })
            .then_some(&*self.database.roles)
    }

    /// Whether permissions of roles are asked.
    pub fn enforces_permissions(&self) -> bool {
        matches!(
            self.database.parts.authenticator,
            Authenticator::Password { are_permissions_enforced: true }
        )
    }

    /// Checks a login to a keyspace, of 0.6. A user is the answer where what it may do is asked at each call.
    pub async fn login(&self, keyspace: &[u8], credentials: &[Credential]) -> Result<Option<User>, Error> {
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
    }

    /// Checks who logs in, of 0.7 and later; answers with the user, where there are users. A wrong password costs
    /// as much time as a right one.
    pub async fn authenticate(
        &self,
        credentials: &[Credential],
        release: Release,
    ) -> Result<Option<User>, Error> {
        match &self.database.parts.authenticator {
            Authenticator::AllowAll => Ok(None),
            Authenticator::Simple(simple) => simple.user(credentials, release).map(Some),
            Authenticator::Password { .. } => self.role_user(credentials, release).await.map(Some),
        }
    }

    async fn role_user(&self, credentials: &[Credential], release: Release) -> Result<User, Error> {
        let before = self.database.roles.now();
        let mut outcome = self.database.roles.authenticate(credentials, release).await;
        if outcome.is_err() {
            // Another server may have made the user or changed the password. It is looked at whoever asks, so that the
            // time it takes tells nothing.
            self.database.stored_schema().refresh_if_possible().await;
            if !Arc::ptr_eq(&before, &self.database.roles.now()) {
                outcome = self.database.roles.authenticate(credentials, release).await;
            }
        }
        let name = outcome?;
        let are_enforced = self.enforces_permissions();
        Ok(User { name, standing: RightsSource::Roles { keeper: self.database.roles.clone(), are_enforced } })
    }

    /// Takes up the roles that are kept, and makes the first one where users are kept in the store. They are taken
    /// up in any case: what is dropped while nobody logs in must not be granted to those who had it before.
    pub(in crate::db) async fn load_roles(&self, notes: &[(String, Bytes)]) -> Result<(), Error> {
        if self.database.stored_schema().is_shared() {
            self.database.roles.load_readable(notes);
        } else {
            self.database.roles.load(notes)?;
        }
        let Some(keeper) = self.roles() else { return Ok(()) };
        match keeper.set_up(&**self.database.store()).await {
            Err(Error::SchemaDisagreement(_)) => {
                // Another server that starts at the same time was first.
                keeper.load_readable(&self.database.store().notes().await?);
                keeper.set_up(&**self.database.store()).await
            }
            outcome => outcome,
        }
    }

    /// Changes roles alone on this server, and again where another server's change has come in between: the edit sees them as
    /// they are and changes a copy. With an error nothing has
    /// changed.
    pub async fn change_roles<T, E: From<Error>>(
        &self,
        mut edit: impl FnMut(&mut Roles) -> Result<T, E>,
    ) -> Result<T, E> {
        let _changing = self.database.changing.lock().await;
        let mut attempts = Attempts::begin();
        loop {
            self.database.stored_schema().load_newest().await?;
            let edited = self.database.roles.try_change(&**self.database.store(), &mut edit).await?;
            let outcome = edited.ok_or_else(disagreement);
            if !attempts.go_on_after(&outcome).await {
                return Ok(outcome?);
            }
        }
    }

    /// Grants its maker all that can be granted on something that was just made. Roles are all that have grants.
    pub async fn grant_to_maker(&self, maker: Option<&User>, made: &Resource) -> Result<(), Error> {
        let Some(maker) = maker.filter(|_| self.enforces_permissions()) else { return Ok(()) };
        let grant = |roles: &mut Roles| {
            roles.grant(&maker.name, made, made.applicable());
            Ok(())
        };
        self.change_roles(grant).await
    }

    /// Takes away all that was granted on something that is dropped.
    pub(in crate::db) async fn forget_grants(&self, dropped: &Resource) -> Result<(), Error> {
        let forget = |roles: &mut Roles| {
            roles.forget(dropped);
            Ok(())
        };
        self.database.roles.change(&**self.database.store(), forget).await
    }
}

impl User {
    /// Whether calls of 0.3 to 0.6 may read and write a keyspace: they knew no other rights than that.
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
