//! The rights of a user from the access file (0.7 and later).

use std::collections::BTreeMap;

use super::access::Access;

/// The access to a column family. Write access includes read access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RightLevel {
    /// Reading.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
}

/// A user's rights, in a form for fast lookup at every call. Rights only add up: none revokes another.
#[derive(Debug, Clone, Default)]
pub(super) struct Rights {
    changes_keyspaces: bool,
    keyspaces: BTreeMap<Vec<u8>, KeyspaceRights>,
}

#[derive(Debug, Clone, Default)]
struct KeyspaceRights {
    /// The user may add, change and drop column families. This does not include access to their data.
    changes_families: bool,
    /// The access to every column family of the keyspace.
    of_all: Option<RightLevel>,
    families: BTreeMap<Vec<u8>, RightLevel>,
}

impl Rights {
    /// Grants the right to add, change and drop keyspaces.
    pub(super) fn grant_keyspaces(&mut self) {
        self.changes_keyspaces = true;
    }

    /// Grants the right to add, change and drop column families of a keyspace.
    pub(super) fn grant_definitions(&mut self, keyspace: &str) {
        self.of(keyspace).changes_families = true;
    }

    /// Grants the right to read and write all column families of a keyspace.
    pub(super) fn grant_data(&mut self, keyspace: &str) {
        self.of(keyspace).of_all = Some(RightLevel::ReadWrite);
    }

    /// Grants read access, or read and write access, to a column family.
    pub(super) fn grant_family(&mut self, keyspace: &str, family: &str, level: RightLevel) {
        let held = self.of(keyspace).families.entry(family.into()).or_insert(level);
        *held = level.max(*held);
    }

    fn of(&mut self, keyspace: &str) -> &mut KeyspaceRights {
        self.keyspaces.entry(keyspace.into()).or_default()
    }

    /// Returns whether the user may do this.
    pub(super) fn allow(&self, access: Access<'_>) -> bool {
        match access {
            Access::AddKeyspace | Access::UpdateKeyspace { .. } | Access::DropKeyspace { .. } => {
                self.changes_keyspaces
            }
            Access::AddFamily { keyspace }
            | Access::UpdateFamily { keyspace, .. }
            | Access::DropFamily { keyspace, .. } => {
                self.keyspaces.get(keyspace).is_some_and(|rights| rights.changes_families)
            }
            Access::Read { keyspace, family } => self.level(keyspace, family) >= Some(RightLevel::ReadOnly),
            Access::Write { keyspace, family } => self.level(keyspace, family) >= Some(RightLevel::ReadWrite),
        }
    }

    fn level(&self, keyspace: &[u8], family: &[u8]) -> Option<RightLevel> {
        let rights = self.keyspaces.get(keyspace)?;
        rights.families.get(family).copied().max(rights.of_all)
    }
}
