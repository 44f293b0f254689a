//! The stored form of roles: one metadata record each, with all its grants.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::grants::Grants;
use super::graph::Role;
use super::permission::{Permission, Resource};

/// The prefix of a role's metadata record; the role's name follows.
pub(super) const ROLE_RECORD: &str = "role/";

/// The version of the form that is written. A reader refuses unknown versions, because it must not guess what they
/// grant or no longer grant.
const VERSION: u32 = 1;

/// The error of a record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum StoredRoleError {
    /// A newer version of the server has written the record.
    #[error("role {role} is stored in format {version}, which only a newer version of this server can read")]
    Version { role: String, version: u32 },
    /// The record is damaged.
    #[error("role {role} cannot be read: {why}")]
    Malformed { role: String, why: String },
}

#[derive(Deserialize)]
struct VersionedRoles {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct StoredRole {
    version: u32,
    is_superuser: bool,
    can_login: bool,
    salted_hash: Option<String>,
    member_of: Vec<String>,
    grants: Vec<StoredGrant>,
}

#[derive(Serialize, Deserialize)]
struct StoredGrant {
    on: Resource,
    permissions: Vec<Permission>,
}

/// Returns the stored form of a role.
pub(super) fn role_to_json(role: &Role) -> String {
    let grants = role.grants.list().into_iter();
    let stored = StoredRole {
        version: VERSION,
        is_superuser: role.is_superuser,
        can_login: role.can_login,
        salted_hash: role.salted_hash.clone(),
        member_of: role.member_of.iter().cloned().collect(),
        grants: grants
            .map(|(on, permissions)| StoredGrant { on, permissions: permissions.iter().collect() })
            .collect(),
    };
    // Serializing this cannot fail.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// Reads the stored form of a role.
pub(super) fn role_from_json(name: &str, json: &[u8]) -> Result<Role, StoredRoleError> {
    let malformed = |error: serde_json::Error| StoredRoleError::Malformed {
        role: name.to_owned(),
        why: error.to_string(),
    };
    let VersionedRoles { version } = serde_json::from_slice(json).map_err(malformed)?;
    if version != VERSION {
        return Err(StoredRoleError::Version { role: name.to_owned(), version });
    }
    let stored: StoredRole = serde_json::from_slice(json).map_err(malformed)?;
    let mut grants = Grants::default();
    for grant in stored.grants {
        grants.add(&grant.on, grant.permissions.into_iter().collect());
    }
    Ok(Role {
        is_superuser: stored.is_superuser,
        can_login: stored.can_login,
        salted_hash: stored.salted_hash,
        member_of: stored.member_of.into_iter().collect(),
        grants: Arc::new(grants),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_round_trip() {
        let mut grants = Grants::default();
        for resource in [
            Resource::AllKeyspaces,
            Resource::Keyspace("k".to_owned()),
            Resource::Table("k".to_owned(), "t/x".to_owned()),
            Resource::AllRoles,
            Resource::Role("r".to_owned()),
        ] {
            grants.add(&resource, resource.applicable());
        }
        let role = Role {
            is_superuser: true,
            can_login: true,
            salted_hash: Some("$2b$04$x".to_owned()),
            member_of: ["r".to_owned()].into(),
            grants: Arc::new(grants),
        };
        let json = role_to_json(&role);
        assert_eq!(role_from_json("x", json.as_bytes()).unwrap(), role);
    }

    #[test]
    fn unreadable_roles_are_reported() {
        let newer = role_from_json("anna", br#"{"version":2,"powers":[]}"#).unwrap_err();
        assert_eq!(
            newer.to_string(),
            "role anna is stored in format 2, which only a newer version of this server can read"
        );
        for json in ["", "{", "{}", r#"{"version":1}"#] {
            let error = role_from_json("anna", json.as_bytes()).unwrap_err();
            assert!(matches!(error, StoredRoleError::Malformed { .. }), "{json}: {error}");
        }
    }
}
