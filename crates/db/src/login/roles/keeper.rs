//! Keeps the roles in memory for every request, and in the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use super::graph::{Role, Roles};
use super::password::Hasher;
use super::permission::{Permission, Resource};
use super::stored::{ROLE_RECORD, role_from_json, role_to_json};
use crate::error::invalid;
use crate::schema::disagreement;
use crate::{Access, Credential, DbFuture, Error, Result};
use base::compat::texts;
use base::util::Release;
use store::{Store, StoreChange, StoreError};

/// The superuser of a new server, and its password: the same as in Cassandra.
const DEFAULT_SUPERUSER: &str = "cassandra";

/// The keyspace of the tables that list the roles.
const AUTH_KEYSPACE: &[u8] = b"system_auth";

/// The roles of a server.
#[derive(Debug, Default)]
pub struct RoleKeeper {
    /// Replaced as a whole.
    roles: RwLock<Arc<Roles>>,
    /// The names of the roles that could not be read.
    unread: RwLock<BTreeSet<String>>,
    /// Locked during each change of the roles.
    changing: tokio::sync::Mutex<()>,
    hasher: Hasher,
}

impl RoleKeeper {
    /// Creates a keeper without roles. Only tests use a hasher other than the default.
    pub fn new(hasher: Hasher) -> RoleKeeper {
        RoleKeeper { hasher, ..RoleKeeper::default() }
    }

    /// Returns the current roles.
    pub fn now(&self) -> Arc<Roles> {
        self.roles.read().clone()
    }

    /// Replaces all roles by the roles of a snapshot, whose metadata records the store has.
    pub(crate) fn replace(&self, roles: Arc<Roles>) {
        *self.roles.write() = roles;
    }

    /// Loads the roles from the store's metadata records.
    pub fn load(&self, records: &[(String, Bytes)]) -> Result<()> {
        let mut roles = Roles::default();
        for (name, json) in records {
            let Some(name) = name.strip_prefix(ROLE_RECORD) else { continue };
            let role = role_from_json(name, json).map_err(|error| Error::Internal(error.to_string()))?;
            roles.put(name, role)?;
        }
        roles.settle();
        *self.roles.write() = Arc::new(roles);
        Ok(())
    }

    /// Does the same if servers of several versions share the records: a role that cannot be read has no rights here,
    /// and is left to the servers that can read it.
    pub fn load_readable(&self, records: &[(String, Bytes)]) {
        let mut roles = Roles::default();
        let mut unread = BTreeSet::new();
        for (name, json) in records {
            let Some(name) = name.strip_prefix(ROLE_RECORD) else { continue };
            let read = role_from_json(name, json).map_err(|error| Error::Internal(error.to_string()));
            if let Err(error) = read.and_then(|role| roles.put(name, role)) {
                tracing::error!("role {name} has no permissions on this server: {error}");
                unread.insert(name.to_owned());
            }
        }
        roles.settle();
        *self.roles.write() = Arc::new(roles);
        *self.unread.write() = unread;
    }

    /// Creates the default superuser if there are no roles, and warns while it has the default password.
    pub fn set_up<'a>(&'a self, store: &'a dyn Store) -> DbFuture<'a, ()> {
        Box::pin(async move {
            if self.now().iter().next().is_none() && self.unread.read().is_empty() {
                let salted_hash = Some(self.hasher.hash(DEFAULT_SUPERUSER).await?);
                let role = Role { is_superuser: true, can_login: true, salted_hash, ..Role::default() };
                self.change(store, |roles| roles.put(DEFAULT_SUPERUSER, role)).await?;
                tracing::info!(
                    "created the superuser {DEFAULT_SUPERUSER} with the password {DEFAULT_SUPERUSER}"
                );
            }
            let roles = self.now();
            let Some(role) = roles.get(DEFAULT_SUPERUSER).filter(|role| role.can_login) else {
                return Ok(());
            };
            if self.hasher.is_of(role.salted_hash.as_deref(), DEFAULT_SUPERUSER.as_bytes()).await? {
                tracing::warn!(
                    "the user {DEFAULT_SUPERUSER} still has its default password: change it with ALTER USER \
                 {DEFAULT_SUPERUSER} WITH PASSWORD '...'"
                );
            }
            Ok(())
        })
    }

    /// Checks name and password and returns the name. Unknown roles and roles without a password take the same time.
    pub fn authenticate<'a>(
        &'a self,
        credentials: &'a [Credential],
        release: Release,
    ) -> DbFuture<'a, String> {
        Box::pin(async move {
            let name = required(credentials, "username", release)?;
            let password = required(credentials, "password", release)?;
            let name = String::from_utf8_lossy(name).into_owned();
            let role = self.now().get(&name).cloned();
            let hash = role.as_ref().and_then(|role| role.salted_hash.as_deref());
            let is_right = self.hasher.is_of(hash, password).await?;
            match role {
                Some(role) if is_right && role.can_login => Ok(name),
                Some(_) if is_right => {
                    Err(Error::Authentication(format!("{name} is not permitted to log in")))
                }
                _ => Err(Error::Authentication("Username and/or password are incorrect".to_owned())),
            }
        })
    }

    /// Returns the hash of a new password.
    pub fn hash<'a>(&'a self, password: &'a str) -> DbFuture<'a, String> {
        Box::pin(async move { self.hasher.hash(password).await })
    }

    /// Changes roles: the edit changes a copy of the current roles, which is recorded and then replaces them. If it
    /// fails, nothing has changed.
    pub async fn change<T, E: From<Error>>(
        &self,
        store: &dyn Store,
        edit: impl FnOnce(&mut Roles) -> Result<T, E>,
    ) -> Result<T, E> {
        let changed = self.try_change(store, StoreChange::default(), edit).await?;
        changed.ok_or_else(|| disagreement().into())
    }

    /// Does the same together with another change of the store. Returns `None` if another server's change came in
    /// between.
    pub(crate) async fn try_change<T, E: From<Error>>(
        &self,
        store: &dyn Store,
        mut change: StoreChange,
        edit: impl FnOnce(&mut Roles) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let _changing = self.changing.lock().await;
        let before = self.now();
        let mut after = Roles::clone(&before);
        let answer = edit(&mut after)?;
        change.records.extend(changes(&before, &after));
        Ok(self.store_roles(store, change, after).await?.then_some(answer))
    }

    /// Makes a change of the store with the records of changed roles, which replace the current ones then. Returns
    /// whether that was done: another server's change may have come in between.
    fn store_roles<'a>(
        &'a self,
        store: &'a dyn Store,
        change: StoreChange,
        mut roles: Roles,
    ) -> DbFuture<'a, bool> {
        Box::pin(async move {
            if change.is_empty() {
                return Ok(true);
            }
            self.check_readable(&change.records)?;
            match store.change_schema(change).await {
                Ok(()) => {}
                Err(StoreError::SchemaDisagreement(_)) => return Ok(false),
                // A definition contradicts the stored data.
                Err(error @ (StoreError::Mismatch(_) | StoreError::Corrupt(_))) => {
                    return invalid(error.to_string());
                }
                Err(error) => return Err(Error::from(error)),
            }
            roles.settle();
            *self.roles.write() = Arc::new(roles);
            Ok(true)
        })
    }

    /// Checks that the roles whose records will change were readable.
    fn check_readable(&self, records: &[(String, Option<Bytes>)]) -> Result<()> {
        let unread = self.unread.read();
        let mut names = records.iter().filter_map(|(name, _)| name.strip_prefix(ROLE_RECORD));
        match names.find(|name| unread.contains(*name)) {
            Some(name) => invalid(format!(
                "the role {name} was written by a newer server, and this one cannot read it: change it there"
            )),
            None => Ok(()),
        }
    }

    /// Returns whether a role may make an access.
    pub(crate) fn allow(&self, name: &str, access: Access<'_>) -> bool {
        let roles = self.roles.read();
        let permission = access.permission();
        let Some((keyspace, family)) = access.place() else {
            return roles.allow(name, permission, &Resource::AllKeyspaces);
        };
        if keyspace == AUTH_KEYSPACE {
            return roles.allow_all(name);
        }
        // A name that is not UTF-8 cannot have grants of its own.
        let Ok(keyspace) = std::str::from_utf8(keyspace) else {
            return roles.allow(name, permission, &Resource::AllKeyspaces);
        };
        let family = family.and_then(|family| std::str::from_utf8(family).ok());
        roles.allow_data(name, permission, keyspace, family)
    }

    /// Returns whether a role has a permission on a resource.
    pub fn permits(&self, name: &str, permission: Permission, resource: &Resource) -> bool {
        self.roles.read().allow(name, permission, resource)
    }
}

/// Returns the records of the roles that differ.
fn changes(before: &Roles, after: &Roles) -> Vec<(String, Option<Bytes>)> {
    let record = |name: &String| format!("{ROLE_RECORD}{name}");
    let changed = after.iter().filter(|(name, role)| before.get(name) != Some(*role));
    let gone = before.iter().filter(|(name, _)| !after.contains(name));
    let changed = changed.map(|(name, role)| (record(name), Some(Bytes::from(role_to_json(role)))));
    changed.chain(gone.map(|(name, _)| (record(name), None))).collect()
}

fn required<'a>(credentials: &'a [Credential], name: &str, release: Release) -> Result<&'a Bytes> {
    let found = credentials.iter().find(|(key, _)| *key == *name.as_bytes());
    found
        .map(|(_, value)| value)
        .ok_or_else(|| Error::Authentication(texts::missing_credential(release, name)))
}
