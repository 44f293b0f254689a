//! Permissions, and what they are for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a role may be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Permission {
    Create,
    Alter,
    Drop,
    Select,
    Modify,
    Authorize,
    Describe,
}

impl Permission {
    /// In the order in which Cassandra lists them.
    pub const ALL: [Permission; 7] = [
        Permission::Create,
        Permission::Alter,
        Permission::Drop,
        Permission::Select,
        Permission::Modify,
        Permission::Authorize,
        Permission::Describe,
    ];

    /// As it is written in statements.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Create => "CREATE",
            Permission::Alter => "ALTER",
            Permission::Drop => "DROP",
            Permission::Select => "SELECT",
            Permission::Modify => "MODIFY",
            Permission::Authorize => "AUTHORIZE",
            Permission::Describe => "DESCRIBE",
        }
    }

    /// The permission of a name in capitals.
    pub fn named(name: &str) -> Option<Permission> {
        Permission::ALL.into_iter().find(|permission| permission.name() == name)
    }
}

/// Some of the permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PermissionSet(u8);

impl PermissionSet {
    pub const NONE: PermissionSet = PermissionSet(0);

    pub fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u8) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn union(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 | other.0)
    }

    pub fn intersection(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & other.0)
    }

    pub fn without(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & !other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> PermissionSet {
        permissions.into_iter().fold(PermissionSet::NONE, |set, one| PermissionSet(set.0 | 1 << one as u8))
    }
}

/// What permissions are for. Those to a parent hold for all that is below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    AllKeyspaces,
    Keyspace(String),
    Table(String, String),
    AllRoles,
    Role(String),
}

impl Resource {
    /// What the resource belongs to; `None` for the two that hold all others.
    pub fn parent(&self) -> Option<Resource> {
        match self {
            Resource::AllKeyspaces | Resource::AllRoles => None,
            Resource::Keyspace(_) => Some(Resource::AllKeyspaces),
            Resource::Table(keyspace, _) => Some(Resource::Keyspace(keyspace.clone())),
            Resource::Role(_) => Some(Resource::AllRoles),
        }
    }

    /// The permissions that mean something for it.
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

    /// The name that `system_auth` keeps it under, as `data/ks/t`.
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
