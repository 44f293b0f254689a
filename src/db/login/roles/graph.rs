//! All roles, and who is a member of whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::grants::Grants;
use super::permission::{Permission, PermissionSet, Resource};
use crate::db::Error;
use crate::util::limits::ROLES_MAX;

/// One role. A user is a role that may log in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Role {
    pub is_superuser: bool,
    pub can_login: bool,
    /// The bcrypt hash of its password; without one nobody logs in.
    pub salted_hash: Option<String>,
    /// The roles that were granted to it.
    pub member_of: BTreeSet<String>,
    pub grants: Arc<Grants>,
}

/// What a role may do with all that it has by others.
#[derive(Debug, Clone)]
struct EffectiveRole {
    is_superuser: bool,
    grants: Vec<Arc<Grants>>,
}

/// The roles as they are at one moment. It is changed as a copy, and put in place of the one before as a whole.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    roles: BTreeMap<String, Role>,
    /// Made by `settle`, for the questions of requests.
    standings: HashMap<String, EffectiveRole>,
}

impl Roles {
    pub fn get(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Role)> {
        self.roles.iter()
    }

    /// A role and all that were granted to it, directly or by others.
    pub fn all_of<'a>(&'a self, name: &'a str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![name];
        while let Some(name) = waiting.pop() {
            let Some((name, role)) = self.roles.get_key_value(name) else { continue };
            if found.insert(name.as_str()) {
                waiting.extend(role.member_of.iter().map(String::as_str));
            }
        }
        found
    }

    /// Whether a role is a superuser, itself or by another.
    pub fn is_superuser(&self, name: &str) -> bool {
        self.all_of(name).iter().any(|one| self.roles.get(*one).is_some_and(|role| role.is_superuser))
    }

    /// Whether a role may do this. Superusers may do everything, roles that are gone nothing.
    pub fn allow(&self, name: &str, permission: Permission, resource: &Resource) -> bool {
        self.standings.get(name).is_some_and(|standing| {
            standing.is_superuser || standing.grants.iter().any(|grants| grants.allow(permission, resource))
        })
    }

    /// The same for a keyspace or table whose names a request has as they are.
    pub fn allow_data(
        &self,
        name: &str,
        permission: Permission,
        keyspace: &str,
        table: Option<&str>,
    ) -> bool {
        self.standings.get(name).is_some_and(|standing| {
            let mut grants = standing.grants.iter();
            standing.is_superuser || grants.any(|grants| grants.allow_data(permission, keyspace, table))
        })
    }

    /// Whether a role has the standing of a superuser, for requests.
    pub fn allow_all(&self, name: &str) -> bool {
        self.standings.get(name).is_some_and(|standing| standing.is_superuser)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.roles.contains_key(name)
    }

    /// Puts a role in, or in place of the one of this name. An error when there are too many.
    pub fn put(&mut self, name: &str, role: Role) -> Result<(), Error> {
        if self.roles.len() >= ROLES_MAX && !self.roles.contains_key(name) {
            return Err(Error::invalid(format!(
                "this server keeps up to {ROLES_MAX} roles: drop some first"
            )));
        }
        self.roles.insert(name.to_owned(), role);
        Ok(())
    }

    /// Changes a role that is there.
    pub fn edit(&mut self, name: &str, edit: impl FnOnce(&mut Role)) {
        if let Some(role) = self.roles.get_mut(name) {
            edit(role);
        }
    }

    /// Drops a role, takes it from its members, and takes away what was granted on it.
    pub fn remove(&mut self, name: &str) {
        self.roles.remove(name);
        for role in self.roles.values_mut() {
            role.member_of.remove(name);
        }
        self.forget(&Resource::Role(name.to_owned()));
    }

    /// Makes a role a member of another. One that has it already is refused, and so is a circle.
    pub fn join(&mut self, member: &str, of: &str) -> Result<(), Error> {
        let is_member = |member: &str, of: &str| Error::invalid(format!("{member} is a member of {of}"));
        if self.all_of(member).contains(of) {
            return Err(is_member(member, of));
        }
        if self.all_of(of).contains(member) {
            return Err(is_member(of, member));
        }
        self.edit(member, |role| {
            role.member_of.insert(of.to_owned());
        });
        Ok(())
    }

    /// Takes a role from another.
    pub fn leave(&mut self, member: &str, of: &str) -> Result<(), Error> {
        if !self.get(member).is_some_and(|role| role.member_of.contains(of)) {
            return Err(Error::invalid(format!("{member} is not a member of {of}")));
        }
        self.edit(member, |role| {
            role.member_of.remove(of);
        });
        Ok(())
    }

    pub fn grant(&mut self, to: &str, resource: &Resource, permissions: PermissionSet) {
        self.edit(to, |role| Arc::make_mut(&mut role.grants).add(resource, permissions));
    }

    pub fn revoke(&mut self, from: &str, resource: &Resource, permissions: PermissionSet) {
        self.edit(from, |role| Arc::make_mut(&mut role.grants).take(resource, permissions));
    }

    /// Takes away all that was granted on something that is dropped.
    pub fn forget(&mut self, dropped: &Resource) {
        for role in self.roles.values_mut() {
            Arc::make_mut(&mut role.grants).forget(dropped);
        }
    }

    /// Works out what each role may do with all that it has by others.
    pub fn settle(&mut self) {
        let standing = |name: &String| {
            let all = self.all_of(name);
            let roles = || all.iter().filter_map(|one| self.roles.get(*one));
            let grants = roles().map(|role| role.grants.clone());
            EffectiveRole {
                is_superuser: roles().any(|role| role.is_superuser),
                grants: grants.filter(|grants| **grants != Grants::default()).collect(),
            }
        };
        self.standings = self.roles.keys().map(|name| (name.clone(), standing(name))).collect();
    }
}
