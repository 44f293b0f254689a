//! The permissions granted to one role directly, without the permissions of the roles granted to it.

use std::collections::BTreeMap;

use super::permission::{Permission, PermissionSet, Resource};

/// Permissions by resource, so that a request can look up its own without building a resource name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    of_keyspaces: PermissionSet,
    keyspaces: BTreeMap<String, KeyspaceGrants>,
    of_roles: PermissionSet,
    roles: BTreeMap<String, PermissionSet>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct KeyspaceGrants {
    of_it: PermissionSet,
    tables: BTreeMap<String, PermissionSet>,
}

impl Grants {
    /// Returns whether these grants allow a permission on a keyspace or on one of its tables, directly or through a
    /// parent.
    pub fn allow_data(&self, permission: Permission, keyspace: &str, table: Option<&str>) -> bool {
        if self.of_keyspaces.contains(permission) {
            return true;
        }
        let Some(keyspace) = self.keyspaces.get(keyspace) else { return false };
        let of_table = table.and_then(|table| keyspace.tables.get(table));
        keyspace.of_it.contains(permission) || of_table.is_some_and(|granted| granted.contains(permission))
    }

    /// Returns whether the permission was granted on a resource or on a parent of it.
    pub fn allow(&self, permission: Permission, resource: &Resource) -> bool {
        match resource {
            Resource::AllKeyspaces => self.of_keyspaces.contains(permission),
            Resource::Keyspace(keyspace) => self.allow_data(permission, keyspace, None),
            Resource::Table(keyspace, table) => self.allow_data(permission, keyspace, Some(table)),
            Resource::AllRoles => self.of_roles.contains(permission),
            Resource::Role(role) => {
                let granted = self.roles.get(role).copied().unwrap_or_default();
                self.of_roles.union(granted).contains(permission)
            }
        }
    }

    /// Adds permissions on a resource.
    pub fn add(&mut self, resource: &Resource, permissions: PermissionSet) {
        if !permissions.is_empty() {
            let held = self.held(resource);
            *held = held.union(permissions);
        }
    }

    /// Removes permissions on a resource.
    pub fn take(&mut self, resource: &Resource, permissions: PermissionSet) {
        let held = self.held(resource);
        *held = held.without(permissions);
        self.roles.retain(|_, granted| !granted.is_empty());
        for keyspace in self.keyspaces.values_mut() {
            keyspace.tables.retain(|_, granted| !granted.is_empty());
        }
        self.keyspaces.retain(|_, keyspace| *keyspace != KeyspaceGrants::default());
    }

    /// Removes all grants on a dropped resource and on everything in it.
    pub fn forget(&mut self, dropped: &Resource) {
        match dropped {
            Resource::Keyspace(keyspace) => {
                self.keyspaces.remove(keyspace);
            }
            other => self.take(other, Permission::ALL.iter().copied().collect()),
        }
    }

    /// Lists all grants, parents before their children.
    pub fn list(&self) -> Vec<(Resource, PermissionSet)> {
        let mut all = vec![(Resource::AllKeyspaces, self.of_keyspaces), (Resource::AllRoles, self.of_roles)];
        for (name, keyspace) in &self.keyspaces {
            all.push((Resource::Keyspace(name.clone()), keyspace.of_it));
            for (table, granted) in &keyspace.tables {
                all.push((Resource::Table(name.clone(), table.clone()), *granted));
            }
        }
        all.extend(self.roles.iter().map(|(role, granted)| (Resource::Role(role.clone()), *granted)));
        all.retain(|(_, granted)| !granted.is_empty());
        all.sort_by(|(left, _), (right, _)| left.cmp(right));
        all
    }

    fn held(&mut self, resource: &Resource) -> &mut PermissionSet {
        match resource {
            Resource::AllKeyspaces => &mut self.of_keyspaces,
            Resource::Keyspace(keyspace) => &mut self.keyspaces.entry(keyspace.clone()).or_default().of_it,
            Resource::Table(keyspace, table) => {
                let keyspace = self.keyspaces.entry(keyspace.clone()).or_default();
                keyspace.tables.entry(table.clone()).or_default()
            }
            Resource::AllRoles => &mut self.of_roles,
            Resource::Role(role) => self.roles.entry(role.clone()).or_default(),
        }
    }
}
