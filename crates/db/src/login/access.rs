//! The resources that calls of 0.7 and later access, and the messages of refusals.

use super::roles::Permission;
use crate::Error;
use crate::validate::text_of;
use base::compat::{Behaviour, texts};
use base::util::Release;

/// The operation of a call and the resource it accesses. Names are as the client sent them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access<'a> {
    /// Reads data.
    Read {
        /// The keyspace.
        keyspace: &'a [u8],
        /// The column family.
        family: &'a [u8],
    },
    /// Writes or deletes data.
    Write {
        /// The keyspace.
        keyspace: &'a [u8],
        /// The column family.
        family: &'a [u8],
    },
    /// Adds a keyspace.
    AddKeyspace,
    /// Changes the definition of a keyspace.
    UpdateKeyspace {
        /// The keyspace.
        keyspace: &'a [u8],
    },
    /// Drops a keyspace.
    DropKeyspace {
        /// The keyspace.
        keyspace: &'a [u8],
    },
    /// Adds a column family.
    AddFamily {
        /// The keyspace.
        keyspace: &'a [u8],
    },
    /// Changes the definition of a column family.
    UpdateFamily {
        /// The keyspace.
        keyspace: &'a [u8],
        /// The column family.
        family: &'a [u8],
    },
    /// Drops a column family.
    DropFamily {
        /// The keyspace.
        keyspace: &'a [u8],
        /// The column family.
        family: &'a [u8],
    },
}

impl Access<'_> {
    /// Returns the refusal, with the message of the release's ClientState.
    pub(super) fn denied(self, user: &str, release: Release) -> Error {
        Error::invalid(match Behaviour::of(release).logins.permissions_name_resources {
            true => texts::no_permission(release, user, self.permission().name(), &self.resource()),
            false => texts::no_permission(release, user, self.old_permission(), &self.old_resource()),
        })
    }

    /// Returns the permission that 1.2 and later require.
    pub(super) fn permission(self) -> Permission {
        match self {
            Access::Read { .. } => Permission::Select,
            Access::Write { .. } => Permission::Modify,
            Access::AddKeyspace | Access::AddFamily { .. } => Permission::Create,
            Access::UpdateKeyspace { .. } | Access::UpdateFamily { .. } => Permission::Alter,
            Access::DropKeyspace { .. } | Access::DropFamily { .. } => Permission::Drop,
        }
    }

    /// Returns the keyspace of the access and its column family, if any; `None` for the list of keyspaces.
    pub fn place(&self) -> Option<(&[u8], Option<&[u8]>)> {
        match self {
            Access::AddKeyspace => None,
            Access::UpdateKeyspace { keyspace }
            | Access::DropKeyspace { keyspace }
            | Access::AddFamily { keyspace } => Some((keyspace, None)),
            Access::Read { keyspace, family }
            | Access::Write { keyspace, family }
            | Access::UpdateFamily { keyspace, family }
            | Access::DropFamily { keyspace, family } => Some((keyspace, Some(family))),
        }
    }

    /// Returns the resource on which 1.2 and later require the permission.
    fn resource(self) -> String {
        match self {
            Access::AddKeyspace => "<all keyspaces>".to_owned(),
            Access::UpdateKeyspace { keyspace }
            | Access::DropKeyspace { keyspace }
            | Access::AddFamily { keyspace } => format!("<keyspace {}>", text_of(keyspace)),
            Access::Read { keyspace, family }
            | Access::Write { keyspace, family }
            | Access::UpdateFamily { keyspace, family }
            | Access::DropFamily { keyspace, family } => {
                format!("<table {}.{}>", text_of(keyspace), text_of(family))
            }
        }
    }

    /// Returns the permission that 0.7 to 1.1 require.
    fn old_permission(self) -> &'static str {
        if matches!(self, Access::Read { .. }) { "READ" } else { "WRITE" }
    }

    /// Returns the resource on which 0.7 to 1.1 require the permission: a change of the schema is a write to the list
    /// that contains the changed definition.
    fn old_resource(self) -> String {
        let list = "/cassandra/keyspaces";
        match self {
            Access::AddKeyspace | Access::UpdateKeyspace { .. } | Access::DropKeyspace { .. } => {
                list.to_owned()
            }
            Access::AddFamily { keyspace }
            | Access::UpdateFamily { keyspace, .. }
            | Access::DropFamily { keyspace, .. } => format!("{list}/{}", text_of(keyspace)),
            Access::Read { keyspace, family } | Access::Write { keyspace, family } => {
                format!("{list}/{}/{}", text_of(keyspace), text_of(family))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_worded_as_the_release_did() {
        let (keyspace, family) = (&b"K"[..], &b"C"[..]);
        let cases = [
            (Access::Read { keyspace, family }, "READ", "/K/C", "SELECT", "<table K.C>"),
            (Access::Write { keyspace, family }, "WRITE", "/K/C", "MODIFY", "<table K.C>"),
            (Access::AddKeyspace, "WRITE", "", "CREATE", "<all keyspaces>"),
            (Access::UpdateKeyspace { keyspace }, "WRITE", "", "ALTER", "<keyspace K>"),
            (Access::DropKeyspace { keyspace }, "WRITE", "", "DROP", "<keyspace K>"),
            (Access::AddFamily { keyspace }, "WRITE", "/K", "CREATE", "<keyspace K>"),
            (Access::UpdateFamily { keyspace, family }, "WRITE", "/K", "ALTER", "<table K.C>"),
            (Access::DropFamily { keyspace, family }, "WRITE", "/K", "DROP", "<table K.C>"),
        ];
        for (access, old, path, new, resource) in cases {
            let old = format!(
                "#<User anna groups=[]> does not have permission {old} for /cassandra/keyspaces{path}"
            );
            let new = format!("User anna has no {new} permission on {resource} or any of its parents");
            for (release, expected) in
                [(Release::V0_7, &old), (Release::V1_1, &old), (Release::V1_2, &new), (Release::V2_1, &new)]
            {
                assert_eq!(access.denied("anna", release).to_string(), *expected, "{access:?}");
            }
        }
    }
}
