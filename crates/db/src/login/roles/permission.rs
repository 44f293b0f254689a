//! Permissions and the resources that they apply to.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A permission that a role can be granted, in the order in which Cassandra lists them.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[strum(serialize_all = "UPPERCASE")]
#[serde(rename_all = "UPPERCASE")]
pub enum Permission {
    /// Creating keyspaces, tables or roles.
    Create,
    /// Changing keyspaces, tables or roles.
    Alter,
    /// Dropping keyspaces, tables or roles.
    Drop,
    /// Reading data.
    Select,
    /// Writing, deleting and truncating data.
    Modify,
    /// Granting and revoking permissions.
    Authorize,
    /// Listing roles.
    Describe,
}

impl Permission {
    /// All permissions, in the order in which Cassandra lists them.
    pub const ALL: &[Permission] = Permission::VARIANTS;

    /// Returns the permission's name in statements.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the permission with a name in capitals.
    pub fn named(name: &str) -> Option<Permission> {
        name.parse().ok()
    }
}

/// A set of permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PermissionSet(u8);

impl PermissionSet {
    /// The empty set.
    pub const NONE: PermissionSet = PermissionSet(0);

    /// Returns whether a permission is in the set.
    pub fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u8) != 0
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the permissions that are in either set.
    pub fn union(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 | other.0)
    }

    /// Returns the permissions that are in both sets.
    pub fn intersection(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & other.0)
    }

    /// Returns the permissions of this set that are not in another.
    pub fn without(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & !other.0)
    }

    /// Returns the permissions in the order in which Cassandra lists them.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> PermissionSet {
        permissions.into_iter().fold(PermissionSet::NONE, |set, one| PermissionSet(set.0 | 1 << one as u8))
    }
}

/// The resource of a permission. A permission on a parent applies to everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// All keyspaces.
    AllKeyspaces,
    /// The keyspace with this name.
    Keyspace(String),
    /// The table with this keyspace and name.
    Table(String, String),
    /// All roles.
    AllRoles,
    /// The role with this name.
    Role(String),
}

impl Resource {
    /// Returns the parent of the resource; `None` for the two roots.
    pub fn parent(&self) -> Option<Resource> {
        match self {
            Resource::AllKeyspaces | Resource::AllRoles => None,
            Resource::Keyspace(_) => Some(Resource::AllKeyspaces),
            Resource::Table(keyspace, _) => Some(Resource::Keyspace(keyspace.clone())),
            Resource::Role(_) => Some(Resource::AllRoles),
        }
    }

    /// Returns the permissions that apply to the resource.
    pub fn applicable(&self) -> PermissionSet {
        let of_data = [
            Permission::Alter,
            Permission::Drop,
            Permission::Select,
            Permission::Modify,
            Permission::Authorize,
        ];
        let of_role = [Permission::Alter, Permission::Drop, Permission::Authorize];
        match self {
            Resource::AllKeyspaces | Resource::Keyspace(_) => {
                of_data.into_iter().chain([Permission::Create]).collect()
            }
            Resource::Table(..) => of_data.into_iter().collect(),
            Resource::AllRoles => {
                of_role.into_iter().chain([Permission::Create, Permission::Describe]).collect()
            }
            Resource::Role(_) => of_role.into_iter().collect(),
        }
    }

    /// Returns the name of the resource in `system_auth`, such as `data/ks/t`.
    pub fn path(&self) -> String {
        match self {
            Resource::AllKeyspaces => "data".to_owned(),
            Resource::Keyspace(keyspace) => format!("data/{keyspace}"),
            Resource::Table(keyspace, table) => format!("data/{keyspace}/{table}"),
            Resource::AllRoles => "roles".to_owned(),
            Resource::Role(role) => format!("roles/{role}"),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::AllKeyspaces => write!(f, "<all keyspaces>"),
            Resource::Keyspace(keyspace) => write!(f, "<keyspace {keyspace}>"),
            Resource::Table(keyspace, table) => write!(f, "<table {keyspace}.{table}>"),
            Resource::AllRoles => write!(f, "<all roles>"),
            Resource::Role(role) => write!(f, "<role {role}>"),
        }
    }
}
