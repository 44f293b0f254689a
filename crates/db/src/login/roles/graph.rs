//! All roles and their memberships.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::grants::Grants;
use super::permission::{Permission, PermissionSet, Resource};
use crate::error::invalid;
use crate::limits::ROLES_MAX;
use crate::{Error, Result};

/// One role. A user is a role that may log in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Role {
    /// Whether the role has all permissions.
    pub is_superuser: bool,
    /// Whether clients can log in as the role.
    pub can_login: bool,
    /// The bcrypt hash of its password; a role without a hash cannot log in.
    pub salted_hash: Option<String>,
    /// The roles that were granted to it.
    pub member_of: BTreeSet<String>,
    /// The permissions that were granted to it directly.
    pub grants: Arc<Grants>,
}

/// The effective rights of a role, including the rights of the roles granted to it.
#[derive(Debug, Clone, Default)]
struct EffectiveRole {
    is_superuser: bool,
    grants: Vec<Arc<Grants>>,
}

/// A snapshot of the roles. A change edits a copy, which then replaces the snapshot as a whole.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    roles: BTreeMap<String, Role>,
    /// The effective rights by role, computed by `settle` for the checks of requests.
    standings: HashMap<String, EffectiveRole>,
}

impl Roles {
    /// Returns the role with a name.
    pub fn get(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    /// Returns all roles by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Role)> {
        self.roles.iter()
    }

    /// Returns a role and all roles granted to it, directly or indirectly.
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

    /// Returns whether a role is a superuser, itself or through a role granted to it.
    pub fn is_superuser(&self, name: &str) -> bool {
        self.all_of(name).iter().any(|one| self.roles.get(*one).is_some_and(|role| role.is_superuser))
    }

    /// Returns whether a role has a permission. Superusers have all permissions, dropped roles none.
    pub fn allow(&self, name: &str, permission: Permission, resource: &Resource) -> bool {
        self.standings.get(name).is_some_and(|standing| {
            standing.is_superuser || standing.grants.iter().any(|grants| grants.allow(permission, resource))
        })
    }

    /// Does the same for a keyspace or table given by its names, without building a resource.
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

    /// Returns whether a role effectively is a superuser, for the checks of requests.
    pub fn allow_all(&self, name: &str) -> bool {
        self.standings.get(name).is_some_and(|standing| standing.is_superuser)
    }

    /// Returns whether a role exists.
    pub fn contains(&self, name: &str) -> bool {
        self.roles.contains_key(name)
    }

    /// Adds a role or replaces the one with this name. Fails if there are too many.
    pub fn put(&mut self, name: &str, role: Role) -> Result<()> {
        if self.roles.len() >= ROLES_MAX && !self.roles.contains_key(name) {
            return invalid(format!("this server stores at most {ROLES_MAX} roles: drop some first"));
        }
        self.roles.insert(name.to_owned(), role);
        Ok(())
    }

    /// Changes an existing role.
    pub fn edit(&mut self, name: &str, edit: impl FnOnce(&mut Role)) {
        if let Some(role) = self.roles.get_mut(name) {
            edit(role);
        }
    }

    /// Drops a role, revokes it from its members, and removes the grants on it.
    pub fn remove(&mut self, name: &str) {
        self.roles.remove(name);
        for role in self.roles.values_mut() {
            role.member_of.remove(name);
        }
        self.forget(&Resource::Role(name.to_owned()));
    }

    /// Makes a role a member of another. Fails if it is a member already, or if the membership would form a cycle.
    pub fn join(&mut self, member: &str, of: &str) -> Result<()> {
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

    /// Revokes a role from another.
    pub fn leave(&mut self, member: &str, of: &str) -> Result<()> {
        if !self.get(member).is_some_and(|role| role.member_of.contains(of)) {
            return invalid(format!("{member} is not a member of {of}"));
        }
        self.edit(member, |role| {
            role.member_of.remove(of);
        });
        Ok(())
    }

    /// Grants permissions on a resource to a role.
    pub fn grant(&mut self, to: &str, resource: &Resource, permissions: PermissionSet) {
        self.edit(to, |role| Arc::make_mut(&mut role.grants).add(resource, permissions));
    }

    /// Revokes permissions on a resource from a role.
    pub fn revoke(&mut self, from: &str, resource: &Resource, permissions: PermissionSet) {
        self.edit(from, |role| Arc::make_mut(&mut role.grants).take(resource, permissions));
    }

    /// Removes all grants on a dropped resource.
    pub fn forget(&mut self, dropped: &Resource) {
        for role in self.roles.values_mut() {
            Arc::make_mut(&mut role.grants).forget(dropped);
        }
    }

    /// Computes the effective rights of each role.
    pub fn settle(&mut self) {
        self.standings = self.roles.keys().map(|name| (name.clone(), self.standing(name))).collect();
        debug_assert_eq!(self.standings.len(), self.roles.len(), "each role has its effective rights");
    }

    fn standing(&self, name: &str) -> EffectiveRole {
        let mut standing = EffectiveRole::default();
        for role in self.all_of(name).into_iter().filter_map(|one| self.roles.get(one)) {
            standing.is_superuser |= role.is_superuser;
            if *role.grants != Grants::default() {
                standing.grants.push(role.grants.clone());
            }
        }
        standing
    }
}
